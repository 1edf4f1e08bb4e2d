/// The unique id of a node: of those that name it one is active at a time, in the whole cluster.
public struct Uniqueness: Hashable, Sendable {
    public var id: String
    /// `${name}` in the id stands for elements of forEachs around the node; `$$` is `$`.
    public var isTemplated: Bool
    /// A duplicate ends like the first one instead of being ignored.
    public var joins: Bool
    /// What a success delivers, as far as that is known: who joins delivers the same. Empty: it is not.
    public var output: String

    public init(id: String, isTemplated: Bool = false, joins: Bool = false, output: String = "") {
        self.id = id
        self.isTemplated = isTemplated
        self.joins = joins
        self.output = output
    }
}

extension Node {
    var unique: Uniqueness? { hasOptions ? options.unique : nil }
}

extension Graph {
    /// What makes the unique id of a node inadmissible.
    func problems(withUniquenessOf node: Node) -> [String] {
        guard let unique = node.unique else { return [] }
        var problems: [String] = []
        if case .forEach = node.kind { problems.append("a forEach has no unique id itself; give it to its body, or to a group around it") }
        let size = unique.id.utf8.count
        if size == 0 { problems.append("has an empty unique id; give it a name") }
        if size > Self.uniqueBytesMax { problems.append("has a unique id of \(size) bytes, more than the limit of \(Self.uniqueBytesMax)") }
        return problems
    }

    /// Of a unique id, elements of a forEach included.
    static let uniqueBytesMax = 256
}
