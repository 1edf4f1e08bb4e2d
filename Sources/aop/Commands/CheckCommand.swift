import ArgumentParser
import Cluster
import Coordinator
import GraphFile
import Shapes
import Wire

struct CheckCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a graph file: every error at once, with its place.",
        discussion: """
            Without a coordinator what can be checked is checked (references, circles, locks, places), and what cannot is named.

            Examples:
              aop check nightly.yaml
              aop check nightly.yaml --plan
            """)

    @OptionGroup var graph: GraphOptions
    @Flag(help: "Print the operations and which workers could run each.")
    var plan = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    private var coordinatorTimeout: DurationArgument? { connection.checkTimeout }

    func execute(_ console: Console) async throws -> ExitStatus {
        let loaded: LoadedGraph
        do {
            loaded = try await graph.load(types: .coordinator(connection, timeout: coordinatorTimeout, waitForWorkers: false))
        } catch let error as ToolError where console.isJSON && !error.faults.isEmpty {
            try await console.writeValue(GraphReport.json(faults: error.faults))
            throw error
        }
        let report = GraphReport(loaded, console, withPlan: plan)
        do {
            let client = try await connection.connect(timeout: coordinatorTimeout)
            do {
                let status = try await report.coordinatorCheck(client, false)
                await client.close()
                return status
            } catch {
                await client.close()
                throw error
            }
        } catch let error as ClusterError where error.code == .unreachable {
            return try await report.checkWithoutCoordinator()
        }
    }
}

/// What `check` and `submit --check` say about a graph that was read without faults.
struct GraphReport {
    let loaded: LoadedGraph
    let console: Console
    var withPlan: Bool

    init(_ loaded: LoadedGraph, _ console: Console, withPlan: Bool = false) {
        self.loaded = loaded
        self.console = console
        self.withPlan = withPlan
    }

    /// Has the coordinator check it, too.
    func coordinatorCheck(_ connection: ClusterConnection, _ waitForWorkers: Bool) async throws -> ExitStatus {
        let check = try await connection.check(loaded.graph, waitForWorkers: waitForWorkers)
        let workers = withPlan ? try await connection.workers() : nil
        let faults = check.errors.map { FileFault($0, in: loaded) }
        try await finish(faults: faults, unchecked: check.unchecked, workers: workers)
        return faults.isEmpty ? .success : .refused
    }

    /// Checks what needs nobody who knows the workers, and names the rest.
    func checkWithoutCoordinator() async throws -> ExitStatus {
        let faults = GraphAdmission.faults(of: loaded.graph).map { fault in
            FileFault(loaded.error(atNode: fault.node, path: fault.path, message: fault.message))
        }
        let unchecked = [
            "whether workers know the operation types and the conditions, and accept their parameters",
            "whether what is delivered is what its receivers take", "whether a worker has what the nodes require",
        ]
        try await finish(faults: faults, unchecked: unchecked.map { "\($0): no coordinator was reached" }, workers: nil)
        return faults.isEmpty ? .success : .refused
    }

    func finish(faults: [FileFault], unchecked: [String], workers: [WireWorkerView]?) async throws {
        let nodes = loaded.nodes
        let faults = faults.inFileOrder
        if console.isJSON {
            var members: [(String, JSONValue)] = [
                ("name", .string(loaded.name)), ("nodes", .integer(Int64(nodes.count - 1))),
                ("errors", .array(faults.prefix(FileFault.toldMax).map(\.json))), ("errorCount", .integer(Int64(faults.count))),
                ("unchecked", .array(unchecked.map(JSONValue.string))),
            ]
            if withPlan { members.append(("plan", .array(nodes.dropFirst().map { planJSON($0, workers) }))) }
            return try await console.writeValue(.shape(members))
        }
        if withPlan, faults.isEmpty { try await console.write(planText(nodes, workers)) }
        for line in faults.told { console.note("\(line)\n") }
        for text in unchecked where console.mode == .text { console.note("not checked: \(text)\n") }
        if console.mode == .text, !faults.isEmpty { console.note("aop: \(ToolError.refused(faults).message)\n") }
        guard console.mode == .text, faults.isEmpty else { return await console.err.flush() }
        try await console.write("\(loaded.file): ok, \(nodes.count - 1) node\(nodes.count == 2 ? "" : "s")\n")
    }

    /// Of a file that could not be read as a graph.
    static func json(faults: [FileFault]) -> JSONValue {
        .shape([
            ("name", .null), ("nodes", .integer(0)), ("errors", .array(faults.prefix(FileFault.toldMax).map(\.json))),
            ("errorCount", .integer(Int64(faults.count))), ("unchecked", .array([])),
        ])
    }

    private func planText(_ nodes: [GraphFileNode], _ workers: [WireWorkerView]?) -> String {
        var table = Table(["PATH", "KIND", "OPERATION", "NEEDS", "WORKERS"])
        for node in nodes.dropFirst() {
            let places = placement(of: node, workers)
            table.add([
                node.path, node.kind.rawValue, node.type.isEmpty ? "-" : node.type, needsText(node),
                places.map { $0.isEmpty ? "none now: it would wait" : $0.joined(separator: " ") } ?? "-",
            ])
        }
        return table.text
    }

    private func planJSON(_ node: GraphFileNode, _ workers: [WireWorkerView]?) -> JSONValue {
        .object([
            ("path", .string(node.path)), ("kind", .string(node.kind.rawValue)), ("type", .optional(node.type)),
            ("line", .integer(Int64(node.position.line))), ("needs", needsJSON(node)),
            ("workers", placement(of: node, workers).map { .array($0.map(JSONValue.string)) } ?? .null),
        ])
    }

    /// Workers that take work and have the operation's type and what it requires; nil for groups, and while no coordinator was asked.
    private func placement(of node: GraphFileNode, _ workers: [WireWorkerView]?) -> [String]? {
        guard let workers, node.kind == .operation else { return nil }
        let (labels, resources) = requirements(of: node.index)
        return workers.filter { worker in
            !worker.hasDrain && worker.operations.contains(node.type) && labels.allSatisfy(worker.labels.contains)
                && resources.allSatisfy { name, amount in amount <= worker.resources.first { $0.name == name }?.amount ?? 0 }
        }.map(\.id)
    }

    /// What of labels and resources its worker has to have.
    private func needsText(_ node: GraphFileNode) -> String {
        guard node.kind == .operation else { return "-" }
        let (labels, resources) = requirements(of: node.index)
        let needs = labels.uniqued + resources.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return needs.isEmpty ? "-" : needs.joined(separator: " ")
    }

    private func needsJSON(_ node: GraphFileNode) -> JSONValue {
        guard node.kind == .operation else { return .null }
        let (labels, resources) = requirements(of: node.index)
        let amounts = resources.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        return .object([
            ("labels", .array(labels.uniqued.map(JSONValue.string))),
            ("resources", .object(amounts.map { ($0.key, .integer(Int64(clamping: $0.value))) })),
        ])
    }

    /// Its own and those of the groups around it.
    private func requirements(of index: Int) -> (labels: [String], resources: [String: UInt64]) {
        var labels: [String] = []
        var resources: [String: UInt64] = [:]
        var current = index
        while true {
            let node = loaded.graph.nodes[current]
            labels += node.requires.labels
            for resource in node.requires.resources where resources[resource.name] == nil { resources[resource.name] = resource.amount }
            if current == 0 { return (labels, resources) }
            current = Int(node.parent)
        }
    }
}

extension [String] {
    /// Each once, as they stand.
    fileprivate var uniqued: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
