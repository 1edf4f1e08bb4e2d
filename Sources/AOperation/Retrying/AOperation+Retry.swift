/// How many retries there were before: 0 when the first attempt has failed.
public typealias NumberOfRetries = Int

/// Answers whether to try again.
public typealias Retry = @Sendable (Bool) -> Void

/// Decides after a failed attempt: calls `decide` once with the wait before another attempt, or nil for none.
typealias RetryDecider =
    @Sendable (_ retries: Int, _ error: AOperationError, _ decide: @escaping @Sendable (Duration?) -> Void) -> Void

extension AOperation {
    /// Tries the operation again when it fails, as `policy` says. It must be a ``RetryableOperation``.
    ///
    /// At the end of a delivery chain this also tries those again that failed above it: see ``RetryPolicy``.
    @discardableResult
    public final func retry(_ policy: RetryPolicy) -> Self {
        withAttachments { $0.retryPolicy = policy }
        setRetryDecider { retries, error, decide in
            decide(policy.wait(after: retries + 1, error: error, random: .random(in: 0...1)))
        }
        return self
    }

    /// Calls `retryHandler` after every failed attempt, with the number of retries so far, the error, and a closure
    /// to be called once, now or later: with true for another attempt, with false to let the operation fail.
    ///
    /// Every attempt is a new operation made by ``RetryableOperation/new()``; listeners are told of the final outcome
    /// only. The last closure, or policy, that was set counts. A cancelled operation is not tried again.
    @discardableResult
    public final func retryOnFailure(
        _ retryHandler: @escaping @Sendable (_ numberOfRetries: NumberOfRetries, _ error: AOperationError, _ retry: @escaping Retry) -> Void
    ) -> Self {
        core.withLock { $0.attachments?.retryPolicy = nil }
        setRetryDecider { retries, error, decide in
            retryHandler(retries, error) { again in decide(again ? .zero : nil) }
        }
        return self
    }

    private func setRetryDecider(_ decider: @escaping RetryDecider) {
        guard !isMirror else { return tooLate("a retry policy") }
        let replaced = core.withLock { core -> RetryDecider? in
            switch core.state {
            case .initialized, .waiting, .ready, .preparing:
                defer { core.retryDecider = decider }
                return core.retryDecider
            case .executing, .deliberating, .retrying, .provisional, .holding, .telling, .finished, .ended:
                return nil
            }
        }
        withExtendedLifetime(replaced) {}  // released outside of the lock
    }
}
