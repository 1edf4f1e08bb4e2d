import ArgumentParser
import Cluster
import GraphFile

/// Which graph file, and with which variables.
struct GraphOptions: ParsableArguments, Sendable {
    @Argument(help: "A graph file, YAML or JSON; - for standard input.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var file: String

    @Option(
        name: .customLong("set"), help: ArgumentHelp("Replace a variable of the file's `vars`; may be repeated.", valueName: "name=value"))
    var set: [Assignment] = []

    /// Reads and checks the file.
    ///
    /// - Throws: `ToolError` with every fault of the file, exit code 6.
    func load(
        name: String? = nil, deadline: GraphDeadline? = nil, priority: Int? = nil, weight: Int? = nil, types: OperationTypes
    ) async throws -> LoadedGraph {
        try await GraphSource(file: file, set: set).load(name: name, deadline: deadline, priority: priority, weight: weight, types: types)
    }
}

/// A graph file, and what replaces its variables.
struct GraphSource: Sendable {
    /// `-`: standard input.
    var file: String
    var set: [Assignment]

    /// Reads and checks the file. Of a faulty one `types` says which operations nobody has, so that every error is shown
    /// at once; those of a sound one are checked when it is handed in.
    ///
    /// - Throws: `ToolError` with every fault of the file, exit code 6.
    func load(
        name: String? = nil, deadline: GraphDeadline? = nil, priority: Int? = nil, weight: Int? = nil, types: OperationTypes
    ) async throws -> LoadedGraph {
        let values = Dictionary(set.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let options = GraphFileOptions(set: values, name: name, deadline: deadline, priority: priority, weight: weight)
        let file = file
        // Reading may block, on standard input for as long as somebody types.
        let result: Result<LoadedGraph, GraphFileErrors> = try await OwnThread.run {
            do throws(GraphFileErrors) {
                return .success(try GraphFileLoader.load(path: file, options: options))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let loaded): return loaded
        case .failure(let error):
            throw ToolError.refused((error.errors + (await types.faults(beside: error))).map(FileFault.init))
        }
    }
}

/// `name=value`
struct Assignment: ExpressibleByArgument, Sendable, Hashable {
    var name: String
    var value: String

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else { return nil }
        name = String(argument[..<equals])
        value = String(argument[argument.index(after: equals)...])
    }
}

extension FileFault {
    init(_ error: GraphFileError) {
        self.init(file: error.file, line: error.line, column: error.column, path: error.path, message: error.message)
    }
}

extension ToolError {
    /// A graph file with faults; nothing was submitted.
    static func refused(_ all: [FileFault]) -> ToolError {
        let faults = all.inFileOrder
        let file = faults.first?.file ?? "the graph"
        let count = faults.count == 1 ? "1 error" : "\(faults.count) errors"
        return ToolError(.refused, "refused", "\(file) has \(count); nothing was submitted", faults: faults)
    }

    /// Faults that the coordinator found, at their places in the file.
    static func refused(_ error: ClusterError, in graph: LoadedGraph) -> ToolError {
        guard error.code == .refused, !error.errors.isEmpty else { return ToolError(error) }
        return refused(error.errors.map { FileFault($0, in: graph) })
    }
}

extension FileFault {
    init(_ error: ClusterError.GraphError, in graph: LoadedGraph) {
        self.init(graph.error(atNode: error.node, path: error.path, message: error.message))
    }
}
