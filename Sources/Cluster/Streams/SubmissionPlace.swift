import Synchronization

/// Where a submission, or an operation in it, is found that may not have been made yet. Unlike its session it may be kept by
/// its operations.
final class SubmissionPlace: Sendable {
    private struct State {
        var known: Result<String, ClusterError>?
        var waiters: [Int: CheckedContinuation<String, any Error>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    /// Only the first call counts.
    func settle(_ result: Result<String, ClusterError>) {
        let waiters = state.withLock { state in
            guard state.known == nil else { return [CheckedContinuation<String, any Error>]() }
            state.known = result
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result.mapError { $0 as any Error }) }
    }

    /// Nil: it is not known.
    var known: String? { state.withLock { if case .success(let id)? = $0.known { id } else { nil } } }

    /// The submission's id, or the operation's path; waits until it is on the coordinator's disk.
    ///
    /// - Throws: why it could not be submitted; `CancellationError`.
    func id() async throws -> String {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known = state.withLock { state in
                    if state.known == nil { state.waiters[number] = continuation }
                    return state.known
                }
                if let known { return continuation.resume(with: known.mapError { $0 as any Error }) }
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
