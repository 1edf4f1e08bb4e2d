import AOperation
import Executing

/// What operations have produced that execute in this process: real ones, which wait until the coordinator has made them part
/// of the graph. Mirrors from the moment in which they are sent.
struct ProductShelf {
    struct Key: Hashable {
        /// Of the operation that has produced it.
        let attempt: UInt64
        /// Nil: what goes with the success of the attempt.
        let id: String?
    }

    struct Product {
        let member: OperationGraph.Member
        /// Known once it is part of the graph.
        let path: SubmissionPlace
    }

    private struct Made {
        /// The path of who has made it.
        let maker: String
        /// By node of the addition.
        var products: [Int: Product]
    }

    private var made: [Key: Made] = [:]

    mutating func put(_ products: [Int: Product], _ key: Key, by maker: String) { made[key] = Made(maker: maker, products: products) }

    mutating func move(_ key: Key, to other: Key) {
        if key != other, let list = made.removeValue(forKey: key) { made[other] = list }
    }

    /// Takes what has become part of the graph.
    mutating func take(_ key: Key, node: Int) -> Product? {
        let product = made[key]?.products.removeValue(forKey: node)
        if made[key]?.products.isEmpty == true { made[key] = nil }
        return product
    }

    /// Takes what has not, and will not.
    mutating func takeAll(_ key: Key) -> [AOperation] { made.removeValue(forKey: key)?.products.inOrder ?? [] }

    /// The same, of those who have ended.
    mutating func takeAll(madeBy makers: [String]) -> [AOperation] {
        made.isEmpty ? [] : made.filter { makers.contains($0.value.maker) }.keys.flatMap { takeAll($0) }
    }

    mutating func takeAll() -> [AOperation] {
        defer { made = [:] }
        return made.values.flatMap(\.products.inOrder)
    }
}

extension [Int: ProductShelf.Product] {
    var inOrder: [AOperation] { sorted { $0.key < $1.key }.compactMap(\.value.member.operation) }
}
