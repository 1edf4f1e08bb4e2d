import Cluster
import Coordinator
import Foundation
import Wire

/// Who knows which operation types there are.
enum OperationTypes {
    /// The workers of `aop run`: the built-in ones.
    case builtIn
    /// A coordinator, if it can be reached.
    case coordinator(ConnectionOptions, timeout: DurationArgument?, waitForWorkers: Bool)

    /// What is wrong with those of `types` that nobody has; empty also when nobody can be asked.
    func unknown(among types: Set<String>) async -> [String: String] {
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
        do {
            let connection = try await options.connect(timeout: timeout)
            let result: Result<GraphCheck, any Error>
            do { result = .success(try await connection.check(Self.graph(of: types))) } catch { result = .failure(error) }
            await connection.close()
            let errors = try result.get().errors.filter { (1...types.count).contains($0.node) }
            return Dictionary(errors.map { (types[$0.node - 1], $0.message) }, uniquingKeysWith: { first, _ in first })
        } catch {
            return [:]
        }
    }

    private static func graph(of types: [String]) -> WireGraph {
        .with {
            $0.name = "types"
            $0.parameters = [Data("{}".utf8)]
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
