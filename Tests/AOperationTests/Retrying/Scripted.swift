import Foundation

@testable import AOperation

/// What all attempts of one operation do, and how often they did it.
final class Script: Sendable {
    /// One run of a body.
    struct Run {
        let operation: AOperation & ScriptedOperation
        /// Counted from 1, over all attempts.
        let number: Int
        let received: AOperationError?

        func succeed() { operation.succeed() }
        func fail(_ text: String? = nil) { operation.fail(AOperationError(Failed(text: text ?? "\(operation.publisherName) \(number)"))) }
    }

    let name: String
    private let body: @Sendable (Run) -> Void
    private let state = Guarded(State())

    private struct State {
        var runs = 0
        var made = 0
    }

    init(_ name: String, _ body: @escaping @Sendable (Run) -> Void) {
        self.name = name
        self.body = body
    }

    /// Fails `times` times with "name n", then succeeds with its name; fails with what it received, if that was a
    /// failure, and does not count that.
    static func failing(_ name: String, _ times: Int) -> Script {
        let failures = Guarded(0)
        return Script(name) { run in
            if let error = run.received { return run.operation.fail(error) }
            let count = failures.withLock { count in
                count += 1
                return count
            }
            if count <= times { run.fail("\(name) \(count)") } else { run.succeed() }
        }
    }

    /// How often a body has begun.
    var runs: Int { state.withLock { $0.runs } }
    /// How many operations were made for another attempt.
    var made: Int { state.withLock { $0.made } }

    func run(_ operation: AOperation & ScriptedOperation, received: AOperationError?) {
        let number = state.withLock { state in
            state.runs += 1
            return state.runs
        }
        body(Run(operation: operation, number: number, received: received))
    }

    func makesOne() { state.withLock { $0.made += 1 } }
}

protocol ScriptedOperation: Sendable {
    func succeed()
    func fail(_ error: AOperationError)
}

/// Does what its script says; its value is the script's name.
final class Scripted<Input>: ResultableOperation<String>, ReceiverOperation, RetryableOperation, ScriptedOperation, @unchecked Sendable {
    var receivedValue: Result<Input, AOperationError>?
    let script: Script

    init(_ script: Script) {
        self.script = script
        super.init()
        name = script.name
    }

    override func execute() { script.run(self, received: receivedValue?.error) }

    func succeed() { finish(with: .success(script.name)) }

    func fail(_ error: AOperationError) { finish(with: .failure(error)) }

    func new() -> Scripted<Input> {
        script.makesOne()
        return Scripted(script)
    }
}

typealias Attempted = Scripted<String>

/// An operation that can be tried again but lets nobody else do it: runs a script, is no ``RetryableOperation``.
final class Once: ResultableOperation<String>, ReceiverOperation, ScriptedOperation, @unchecked Sendable {
    var receivedValue: Result<String, AOperationError>?
    let script: Script

    init(_ script: Script) {
        self.script = script
        super.init()
        name = script.name
    }

    override func execute() { script.run(self, received: receivedValue?.error) }

    func succeed() { finish(with: .success(script.name)) }

    func fail(_ error: AOperationError) { finish(with: .failure(error)) }
}

/// Counts what the listeners of one operation hear.
final class Hearing: AOperationDelegate, Sendable {
    let lines = Log<String>()

    /// What `word` was heard, in order.
    func heard(_ word: String) -> [String] { lines.entries.filter { $0.hasPrefix(word) } }

    func operationDidStart(_ operation: AOperation) { lines.append("delegate start") }

    func operationDidFinish(_ operation: AOperation, with errors: [AOperationError]) {
        lines.append("delegate finish \(Self.text(errors))")
    }

    static func text(_ errors: [AOperationError]) -> String { errors.map(\.localizedDescription).joined(separator: ",") }

    func listen<Output>(to operation: ResultableOperation<Output>) {
        operation.delegate = self
        operation
            .observers(
                BlockObserver(
                    startHandler: { [lines] _ in lines.append("observer start") },
                    cancelHandler: { [lines] _ in lines.append("observer cancel") },
                    finishHandler: { [lines] _, errors in lines.append("observer finish \(Self.text(errors))") })
            )
            .didStart { [lines] in lines.append("didStart") }
            .didFinish { [lines] result in
                lines.append("didFinish \(result.error.map { Self.text([$0]) } ?? "success")")
            }
    }
}

extension ResultableOperation {
    /// The text of the first error; nil on success.
    var firstFailure: String? { publishedErrors.first?.localizedDescription }
}

extension RetryPolicy {
    static func times(_ attempts: Int) -> RetryPolicy { RetryPolicy(attempts: attempts) }
}
