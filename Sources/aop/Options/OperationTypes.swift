import Cluster
import Coordinator
import Foundation
import GraphFile
import Wire

/// Who knows which operation types there are.
enum OperationTypes {
    /// The workers of `aop run`: the built-in ones.
    case builtIn
    /// A coordinator, if it can be reached.
    case coordinator(ConnectionOptions, timeout: DurationArgument?, waitForWorkers: Bool)

    /// What else the coordinator finds wrong with a file that has errors: of types only, unless what is left of it can be asked about.
    func faults(beside error: GraphFileErrors) async -> [GraphFileError] {
        if case .coordinator(let options, let timeout, let waitForWorkers) = self, let rest = error.remainder,
            let check = await check(rest.graph, options, timeout, waitForWorkers: waitForWorkers)
        {
            return check.errors.map { rest.error(atNode: $0.node, message: $0.message) }
        }
        let unknown = await unknown(among: Set(error.operations.map(\.type)))
        let ownFaults = error.remainder.map { rest in
            GraphAdmission.faults(of: rest.graph).map { rest.error(atNode: $0.node, message: $0.message) }
        }
        return (ownFaults ?? []) + error.operations.compactMap { operation in unknown[operation.type].map(operation.error) }
    }

    /// What is wrong with those of `types` that nobody has; empty also when nobody can be asked.
    private func unknown(among types: Set<String>) async -> [String: String] {
        guard !types.isEmpty else { return [:] }
        switch self {
        case .builtIn:
            let known = CoordinatorConfiguration.builtInOperationsDefault
            return Dictionary(
                uniqueKeysWithValues: types.subtracting(known).map { type in
                    (type, "unknown operation `\(type)`: the workers of `aop run` have \(known.joined(separator: ", "))")
                })
        case .coordinator(let options, let timeout, let waitForWorkers):
            guard !waitForWorkers else { return [:] }
            return await ask(options, timeout, types.sorted())
        }
    }

    /// Lets the coordinator check a group of one operation of each type. A coordinator that cannot be asked is no fault of
    /// the file: the command says so itself if it goes on to need it.
    private func ask(_ options: ConnectionOptions, _ timeout: DurationArgument?, _ types: [String]) async -> [String: String] {
        let check = await check(Self.graph(of: types), options, timeout, waitForWorkers: false)
        let errors = check?.errors.filter { (1...types.count).contains($0.node) } ?? []
        return Dictionary(errors.map { (types[$0.node - 1], $0.message) }, uniquingKeysWith: { first, _ in first })
    }

    private func check(
        _ graph: WireGraph, _ options: ConnectionOptions, _ timeout: DurationArgument?, waitForWorkers: Bool
    ) async -> GraphCheck? {
        guard let connection = try? await options.connect(timeout: timeout) else { return nil }
        let check = try? await connection.check(graph, waitForWorkers: waitForWorkers)
        await connection.close()
        return check
    }

    /// Whether the types are known, and nothing of their parameters.
    private static func graph(of types: [String]) -> WireGraph {
        .with {
            $0.name = "types"
            $0.parameters = [Data(LoadedGraph.unreadableParameters.utf8)]
            $0.nodes = [.with { $0.group = WireGroupNode() }]
            $0.nodes += types.enumerated().map { index, type in
                .with {
                    $0.id = "type\(index)"
                    $0.operation = .with { $0.type = type }
                }
            }
        }
    }
}
