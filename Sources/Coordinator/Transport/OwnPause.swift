/// How long the loop itself did not look for messages since it last read them: long rounds, late wake-ups (a stopped
/// process, a sleeping or overloaded host), and the time in which it did not want any.
///
/// What peers said meanwhile waits in the socket: the age of their last message is not their silence.
struct OwnPause {
    private var missed: Int64 = 0

    /// Notes one round's wait. All times are of the boot clock.
    ///
    /// - Parameters:
    ///   - earlier: when the round before began.
    ///   - began: when the wait began.
    ///   - planned: when it was to end at the latest.
    ///   - now: when it ended.
    ///   - isListening: whether a message would have ended it.
    mutating func waited(since earlier: Int64, from began: Int64, until planned: Int64?, now: Int64, isListening: Bool) {
        guard isListening else { return missed += max(0, now - earlier) }
        missed += max(0, began - earlier) + max(0, now - max(planned ?? now, began))
    }

    /// The messages are read now.
    /// - Returns: the milliseconds that were missed until now.
    mutating func end() -> Int64 {
        defer { missed = 0 }
        return missed
    }
}

extension CoordinatorLoop {
    var isAfterPause: Bool { pauseBefore >= CoordinatorLimits.ownPauseMilliseconds }

    /// What executors told meanwhile may be on its way.
    func noteStandstill() {
        guard isAfterPause else { return }
        logger.notice("nothing was read from peers for \(pauseBefore) ms")
        inputs.insert(.stoodStill, at: 0)
    }
}
