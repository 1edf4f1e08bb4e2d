import AOperation
import Foundation

struct Failed: LocalizedError {
    let text: String
    var errorDescription: String? { text }
}

/// What happened, in order.
final class Log<Entry: Sendable>: Sendable {
    private let state = Guarded<[Entry]>([])
    var entries: [Entry] { state.withLock { $0 } }
    func append(_ entry: Entry) { state.withLock { $0.append(entry) } }
}

/// Fails so many times, each time in a fresh operation, then succeeds with the number of operations made.
final class Flaky: ResultableOperation<Int>, RetryableOperation, @unchecked Sendable {
    private let failures: Int
    private let attempt: Int
    init(failures: Int, attempt: Int = 1, made: Log<Int> = Log()) {
        self.failures = failures
        self.attempt = attempt
        self.made = made
    }
    let made: Log<Int>

    func new() -> Self {
        made.append(1)
        guard let fresh = Flaky(failures: failures, attempt: made.entries.count + 1, made: made) as? Self else {
            preconditionFailure("Flaky is final")
        }
        return fresh
    }

    override func execute() {
        if attempt <= failures { return finish(with: .failure(AOperationError(Failed(text: "attempt \(attempt)")))) }
        finish(with: .success(attempt))
    }
}

/// Doubles what it receives, once it is let; forwards failures.
final class Double: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
    var receivedValue: Result<Int, AOperationError>?

    func new() -> Self {
        guard let fresh = Double() as? Self else { preconditionFailure("Double is final") }
        return fresh
    }

    override func execute() {
        finish(with: (receivedValue ?? .failure(.receivedValueIsNil(in: self))).map { $0 * 2 })
    }
}

/// Says what it received, failures too.
final class Say: ResultableOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
    var receivedValue: Result<Int, AOperationError>?

    func new() -> Self {
        guard let fresh = Say() as? Self else { preconditionFailure("Say is final") }
        return fresh
    }

    override func execute() {
        switch receivedValue {
        case .success(let number)?: finish(with: .success("\(number)"))
        case .failure(let error)?: finish(with: .success("failed: \(error.localizedDescription)"))
        case nil: finish(with: .failure(.receivedValueIsNil(in: self)))
        }
    }
}

/// Runs until it is opened.
final class Gate: VoidOperation, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<Int, AOperationError>?
    private let state = Guarded(State())

    private struct State {
        var hasStarted = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    override func execute() {
        let waiters = state.withLock { state in
            state.hasStarted = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    override func cancel() {
        super.cancel()
        finish()
    }

    func open() { finish() }

    func started() async {
        await withCheckedContinuation { continuation in
            let hasStarted = state.withLock { state in
                if !state.hasStarted { state.waiters.append(continuation) }
                return state.hasStarted
            }
            if hasStarted { continuation.resume() }
        }
    }
}
