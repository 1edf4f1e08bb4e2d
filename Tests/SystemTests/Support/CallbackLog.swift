import AOperation
import Foundation
import Synchronization

/// What the listeners of operations are told, by the operations' names.
final class CallbackLog: AOperationObserver, Sendable {
    private let lines = Mutex<[(name: String, line: String)]>([])

    func note(_ name: String, _ line: String) { lines.withLock { $0.append((name, line)) } }

    func operationDidStart(_ operation: AOperation) { note(operation.name ?? "", "started") }

    func operationDidCancel(_ operation: AOperation) { note(operation.name ?? "", "cancelled") }

    func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) {
        note(operation.name ?? "", "finished \(errors.map(Self.text))")
    }

    /// Listens to `operation`, under this name.
    func listen<Output>(to operation: ResultableOperation<Output>, as name: String) {
        operation.name = name
        operation.addObserver(self)
        operation.didStart { self.note(name, "didStart") }
        operation.didFinish { result in
            switch result {
            case .success(let value): self.note(name, "didFinish \(value)")
            case .failure(let error): self.note(name, "didFinish \(Self.text(error))")
            }
        }
    }

    var byName: [String: [String]] {
        lines.withLock { Dictionary(grouping: $0, by: \.name).mapValues { $0.map(\.line) } }
    }

    /// The names in the order in which their observers were told of the end.
    var ends: [String] { lines.withLock { $0.filter { $0.line.hasPrefix("finished") }.map(\.name) } }

    /// What an error says, wherever it was born.
    static func text(_ error: AOperationError) -> String {
        "\(error.localizedDescription) (\(error.state), \(error.publisher ?? "nobody"))"
    }
}
