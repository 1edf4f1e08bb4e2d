import Foundation

/// Who decides about an operation that is to end before its time.
enum Arbiter {
    /// This process.
    case here
    /// Whoever has its body.
    case elsewhere
    /// Nobody: that is known, or has been reported.
    case nobody
}

/// What asking for a cancellation leads to.
enum CancelRequest {
    /// Nothing: the outcome is decided, or it was asked for before.
    case nothing
    /// It is the outcome.
    case decided
    /// It is asked for elsewhere. A body that was to be executed here, and has not begun, is not: somebody is told that.
    case elsewhere(RemoteBody, unbegun: (@Sendable (HostedEnding) -> Void)?)
}

/// Cancelling an operation that runs elsewhere is a request: how it ends is what is reported.
extension AOperation {
    /// Whether it was cancelled here, and the outcome is still open as it is decided elsewhere.
    final var isCancelAsked: Bool { core.withLock { $0.isCancelAsked } }

    /// What `cancel()` does.
    final func requestCancellation() {
        let cancelled = Ending.cancelled(.isCancelled(self))
        switch core.withLock({ $0.requestCancel(cancelled) }) {
        case .nothing: break
        case .decided: tellCancellation()
        case .elsewhere(let remote, let unbegun):
            unbegun?(.cancelled)
            remote.whenCancelled(self)
        }
    }

    /// It was cancelled elsewhere. The program's own `cancel()` is called, unless it was.
    final func takeRemoteCancellation() {
        let wasAsked = core.withLock { $0.attachments?.remote?.cancellation != nil }
        if wasAsked { requestCancellation() } else { cancel() }
    }

    /// The outcome was decided here while it was nowhere else.
    final func endWithoutRemoteBody() {
        let isHere = core.withLock { core in if case .here? = core.attachments?.remote?.phase { true } else { false } }
        if isHere { takeRemoteEnd(.cancelled, hasStarted: false) }
    }
}

extension OperationCore {
    /// Who decides about its end.
    var arbiter: Arbiter { attachments?.remote?.arbiter ?? .here }

    /// Whether it was cancelled here, and the outcome is still open as it is decided elsewhere.
    var isCancelAsked: Bool { attachments?.remote?.cancellation != nil && state.ending == nil }

    /// Whether it is known that it ends as cancelled, here or elsewhere.
    var isCancelKnown: Bool {
        if case .ended(.cancelled)? = attachments?.remote?.phase { true } else { isCancelRequested }
    }

    mutating func askToCancel(_ cancelled: Ending) -> CancelRequest {
        guard let remote = attachments?.remote, remote.cancellation == nil else { return .nothing }
        remote.cancellation = cancelled
        guard case .due(let listener) = remote.hosting else { return .elsewhere(remote, unbegun: nil) }
        remote.hosting = .used(.none)
        return .elsewhere(remote, unbegun: listener)
    }
}

extension RemoteBody {
    var arbiter: Arbiter {
        switch phase {
        case .here: .here
        case .away: .elsewhere
        case .ended: .nobody
        case .over: isCancelledThere ? .here : .nobody
        }
    }
}
