/// When the service manager is told that a worker is ready: when the coordinator has taken it, or nobody is there who could.
///
/// A worker that is kept out (its key, its label, its release) is not ready, so that its start fails where somebody sees it. One whose
/// coordinator is not there is ready, as no start may wait for another host.
///
/// A value that is stepped. Times are of the boot clock.
struct ServiceReadiness: Sendable {
    /// So long nobody has to answer. Who has no key, or one of another coordinator, sees no more of its first attempts than that they are
    /// cut off, and knows after them that it is not let in.
    static let absentMilliseconds: Int64 = 3000

    private enum State: Equatable {
        /// It is not known yet, or the supervisor is attached and no executor of it.
        case waiting
        /// No coordinator has answered since then.
        case absent(since: Int64)
        /// The supervisor or an executor was not let in.
        case keptOut
        /// Final: a service manager cannot be told otherwise.
        case ready
    }

    private var state = State.waiting

    /// The supervisor is attached. That says nothing of executors, which have labels.
    mutating func attached() {
        switch state {
        case .waiting, .absent, .keptOut: state = .waiting
        case .ready: break
        }
    }

    /// An attempt of the supervisor has ended, or its connection.
    mutating func detached(at now: Int64) {
        switch state {
        case .waiting: state = .absent(since: now)
        case .absent, .keptOut, .ready: break
        }
    }

    /// The supervisor, or an executor, is not let in.
    mutating func denied() {
        switch state {
        case .waiting, .absent, .keptOut: state = .keptOut
        case .ready: break
        }
    }

    /// An executor is attached: the worker gets work.
    ///
    /// - Returns: whether it is ready now, and was not before.
    mutating func accepted() -> Bool {
        defer { state = .ready }
        return state != .ready
    }

    /// Time has passed.
    ///
    /// - Returns: whether it is ready now, and was not before.
    mutating func tick(at now: Int64) -> Bool {
        guard case .absent(let since) = state, now >= since + Self.absentMilliseconds else { return false }
        state = .ready
        return true
    }
}
