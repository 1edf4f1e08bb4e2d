import Wire

/// What the caller of a graph file decides.
public struct GraphFileOptions: Sendable {
    /// `--set name=value`: replaces the value of a variable that the file declares in `vars`.
    public var set: [String: String]
    /// Replaces the graph's name.
    public var name: String?
    /// Replaces the deadline of the whole graph.
    public var deadline: GraphDeadline?
    /// Replaces the priority of the whole graph; from -100 to 100.
    public var priority: Int?
    /// Replaces the weight of the graph; from 1 to 100.
    public var weight: Int?

    public init(
        set: [String: String] = [:], name: String? = nil, deadline: GraphDeadline? = nil, priority: Int? = nil, weight: Int? = nil
    ) {
        self.set = set
        self.name = name
        self.deadline = deadline
        self.priority = priority
        self.weight = weight
    }
}

/// Reads graph files: YAML or JSON, one schema (docs/graph-files.md).
///
/// ```swift
/// do {
///     let loaded = try GraphFileLoader.load(path: "word-count.yaml", options: .init(set: ["dir": "/usr/share/doc"]))
///     submit(loaded.graph)
/// } catch {
///     for error in error.errors { print(error) }      // word-count.yaml:3:5: count: unknown key `retires`, …
/// }
/// ```
public enum GraphFileLoader {
    /// Reads and checks the file at `path`, or standard input for `-`.
    ///
    /// Throws all errors at once, a missing or unreadable file included. Whether an operation's type is registered,
    /// and what only its worker knows about its parameters, is checked by the coordinator.
    /// Linear in the size of the file.
    public static func load(path: String, options: GraphFileOptions = .init()) throws(GraphFileErrors) -> LoadedGraph {
        let file = path == "-" ? "<stdin>" : path
        let bytes: [UInt8]
        do {
            bytes = try FileContents.read(path: path)
        } catch {
            throw GraphFileErrors([GraphFileError(file: file, position: nil, message: error.message)])
        }
        return try load(bytes: bytes, file: file, options: options)
    }

    /// Reads and checks a graph file's text. `file` is what errors call it and what the graph is named after.
    public static func load(text: String, file: String, options: GraphFileOptions = .init()) throws(GraphFileErrors) -> LoadedGraph {
        try load(bytes: Array(text.utf8), file: file, options: options)
    }

    /// Reads and checks a graph file's bytes, which must be UTF-8.
    public static func load(bytes: [UInt8], file: String, options: GraphFileOptions = .init()) throws(GraphFileErrors) -> LoadedGraph {
        let document: SourceDocument
        do {
            document = try SourceDocument(SourceText(bytes))
        } catch {
            throw GraphFileErrors([GraphFileError(file: file, position: error.position, message: error.message)])
        }
        var reader = GraphReader(document, file: file, options: options)
        reader.read()
        reader.resolveReferences()
        reader.findCycles()
        return try reader.finish()
    }
}
