import Synchronization

/// Something that becomes known once, and those who wait for it.
///
/// Who waits in a task that is cancelled waits no longer; nothing else changes by that.
final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var known: Result<Value, any Error>?
        var waiters: [Int: CheckedContinuation<Value, any Error>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    /// Only the first call counts.
    func settle(_ result: Result<Value, any Error>) {
        let waiters = state.withLock { state in
            guard state.known == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.known = result
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    /// Nil: it is not known.
    var known: Result<Value, any Error>? { state.withLock { $0.known } }

    /// How many wait.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Waits until it is known. What is known already is given to a cancelled task as well.
    ///
    /// - Throws: what it was settled with; `CancellationError`.
    func value() async throws -> Value {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let known = state.withLock { state in
                    if state.known == nil { state.waiters[number] = continuation }
                    return state.known
                }
                if let known { return continuation.resume(with: known) }
                // The handler may have been called before there was anybody to let go.
                if Task.isCancelled { letGo(number) }
            }
        } onCancel: {
            letGo(number)
        }
    }

    private func letGo(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(throwing: CancellationError())
    }
}
