import Wire

/// Reads a graph from its document: nodes in graph order, every error on the way noted.
///
/// Works through groups with a stack of its own, so that the depth of a file is never the depth of the call stack.
struct GraphReader {
    /// A group whose members are being read.
    struct OpenGroup {
        let group: Int
        let members: [Int]
        let scope: VariableScope
        /// Of the members.
        let depth: Int
        var next = 0
        /// The member read last.
        var previous: Int?
        /// They are not members of `group` but dependent operations of its conditions: which ones, and as what they are known.
        var conditions: [(position: Int, id: String)]?
    }

    let document: SourceDocument
    let file: String
    let options: GraphFileOptions
    var drafts: [NodeDraft] = []
    var parameters = ParameterTable()
    var suggestions = Suggestions()
    /// By group: its members by id; of duplicates the first.
    var members: [Int: [String: Int]] = [:]
    var open: [OpenGroup] = []
    private(set) var findings: [Finding] = []
    /// How many of the findings are not about cycles: they come first.
    var findingsBeforeCycles = 0
    /// All nodes of the file were read.
    private(set) var isWhole = true
    /// Every `op:` read so far.
    var named: [NamedOperation] = []
    private var name: String?

    struct Finding {
        let position: GraphFilePosition
        let node: Int
        let message: String
    }

    struct NamedOperation {
        let type: String
        let position: GraphFilePosition
        let node: Int
    }

    init(_ document: SourceDocument, file: String, options: GraphFileOptions) {
        self.document = document
        self.file = file
        self.options = options
    }

    /// Notes an error about a node. The node may still be without its id: its path is made at the end.
    mutating func report(_ message: String, at position: GraphFilePosition, node: Int) {
        findings.append(Finding(position: position, node: node, message: message))
    }

    /// Notes an error about the value at an index of the document.
    mutating func report(_ message: String, value: Int, node: Int) {
        report(message, at: document[value].position, node: node)
    }

    /// `, did you mean `x`?` or nothing.
    mutating func hint(for name: String, among candidates: (GraphReader) -> [String]) -> String {
        suggestions.areOver ? "" : suggestions.hint(for: name, among: candidates(self))
    }

    /// Reads the whole document into `drafts`.
    mutating func read() {
        readRoot()
        while var group = open.popLast() {
            guard group.next < group.members.count else {
                close(group.group)
                continue
            }
            guard drafts.count < FileLimits.graphNodes else {
                let member = group.members[group.next]
                report("the graph has more than \(FileLimits.graphNodes) nodes up to here, with its root", value: member, node: group.group)
                isWhole = false
                return
            }
            // The member's own members, if it has any, come first.
            let below = open.count
            let member = group.members[group.next]
            if let index = readNode(member, number: group.next, in: group) {
                if group.conditions == nil, let previous = group.previous { drafts[previous].nextSibling = index }
                group.previous = index
            }
            group.next += 1
            open.insert(group, at: below)
        }
    }

    private mutating func close(_ group: Int) {
        drafts[group].end = drafts.count
        let parent = drafts[group].parent
        if drafts[parent].isForEach { drafts[parent].end = drafts.count }
    }

    private mutating func readRoot() {
        let root = document.root
        drafts.append(NodeDraft(index: 0, parent: 0, position: document[root].position))
        guard case .mapping(let entries) = document[root].content else {
            report("the top level must be a map with `group:` or `ordered:`, found \(document.description(root))", value: root, node: 0)
            return
        }
        let fields = readFields(entries, node: 0, isTopLevel: true)
        name = fields[.name].flatMap { readName($0, node: 0) }
        let scope = VariableScope(variables: readVariables(fields, node: 0))
        let form = readForm(fields, node: 0, at: document[root].position, isTopLevel: true)
        refuseMisplaced(fields, form: form, hasForEach: false, node: 0)
        readLimits(fields, form: form, into: 0, reportingAs: 0)
        readExclusive(fields, into: 0, scope: scope, reportingAs: 0)
        readRequires(fields, into: 0, scope: scope, reportingAs: 0)
        readConditions(fields, into: 0, scope: scope, depth: 0, reportingAs: 0)
        readUnique(fields, form: form, into: 0, scope: scope, reportingAs: 0)
        if let deadline = options.deadline { drafts[0].options.deadline = deadline }
        if let priority = options.priority { drafts[0].options.priority = priority }
        readWeight(fields)
        if let weight = options.weight { drafts[0].options.weight = weight }
        readGroupKeys(fields, form: form, into: 0, reportingAs: 0)
        readMembers(fields, form: form, of: 0, scope: scope, depth: 0, reportingAs: 0)
    }

    private mutating func readName(_ field: Field, node: Int) -> String? {
        guard let text = readText(field, node: node) else { return nil }
        guard text.utf8.count <= FileLimits.identifierBytes, !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            report("`name` must be one line of at most \(FileLimits.identifierBytes) bytes", value: field.value, node: node)
            return nil
        }
        return text
    }

    /// The graph, or all that is wrong.
    func finish() throws(GraphFileErrors) -> LoadedGraph {
        guard findings.isEmpty else {
            let sorted = findings.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            throw GraphFileErrors(
                sorted.map { _, finding in
                    GraphFileError(file: file, position: finding.position, path: path(of: finding.node), message: finding.message)
                },
                operations: named.map { operation in
                    GraphFileOperation(type: operation.type, file: file, position: operation.position, path: path(of: operation.node))
                },
                remainder: remainder)
        }
        return loadedGraph
    }

    var loadedGraph: LoadedGraph {
        LoadedGraph(graph: wireGraph(named: options.name ?? name ?? fileName), file: file, positions: drafts.map(\.position))
    }

    /// The file's name without folders and the ending of a graph file.
    private var fileName: String {
        if file == "<stdin>" { return "stdin" }
        let last = file.split(separator: "/").last.map(String.init) ?? file
        for ending in [".yaml", ".yml", ".json"] where last.hasSuffix(ending) && last.count > ending.count {
            return String(last.dropLast(ending.count))
        }
        return last
    }

    /// A node's path; `*` stands for each element of a forEach around it.
    func path(of node: Int) -> String {
        var components: [String] = []
        var index = node
        while index != 0 {
            let parent = drafts[index].parent
            components.append(drafts[parent].isForEach ? "*" : drafts[index].id)
            index = parent
        }
        return components.reversed().joined(separator: "/")
    }
}
