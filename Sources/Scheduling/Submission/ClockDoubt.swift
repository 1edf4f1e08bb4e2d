/// For how long the wall clock is not believed when it says that something is to be forgotten: that cannot be taken back, and a clock that
/// was set wrong is set right, by somebody who has noticed or by the time service.
///
/// It is doubted when it goes ahead of boot time, and at a start long after the one before: what was between the two is not known. A coordinator
/// that is started again and again goes on forgetting.
struct ClockDoubt {
    /// So much it may go ahead at once: what a time service corrects.
    static let leapMilliseconds: Int64 = 60_000
    /// So long it is doubted, at most: not longer than what is to be forgotten is kept anyway.
    static let doubtMilliseconds: Int64 = 3_600_000

    /// Boot time.
    private var began = Int64.min

    /// - Parameter epoch: of the coordinator before: seconds since 1970, at its start.
    mutating func start(at now: Instant, after epoch: UInt32) {
        if now.wall - Int64(epoch) * 1_000 > Self.doubtMilliseconds { began = now.boot }
    }

    mutating func advance(from before: Instant, to now: Instant) {
        if (now.wall - before.wall) - (now.boot - before.boot) > Self.leapMilliseconds { began = now.boot }
    }

    /// Until when it is doubted, for what is kept for so long; boot time.
    func end(for retention: Int64) -> Int64 {
        began == .min ? .min : began + min(retention, Self.doubtMilliseconds)
    }
}
