/// For how long the wall clock is not believed when it says that something is to be forgotten: that cannot be taken back, and a clock that
/// was set wrong is set right, by somebody who has noticed or by the time service.
///
/// It is doubted when it goes ahead of boot time, and from a start long after the one before: what was between the two is not known. Starts soon
/// after that one neither end the doubt nor make it longer: a coordinator that is started again and again goes on forgetting.
public struct ClockDoubt: Sendable {
    /// So much it may go ahead at once: what a time service corrects.
    static let leapMilliseconds: Int64 = 60_000
    /// So long it is doubted, at most: not longer than what is to be forgotten is kept anyway.
    static let doubtMilliseconds: Int64 = 3_600_000

    /// Boot time.
    private var began = Int64.min

    public init() {}

    /// Whether nothing is known of the clock between the starts of two coordinators: seconds since 1970.
    static func isLate(_ epoch: UInt32, after last: UInt32) -> Bool {
        Int64(epoch) - Int64(last) > doubtMilliseconds / 1_000
    }

    /// - Parameter epoch: of the last start that was late: this one, or one before that may be doubted still.
    public mutating func start(at now: Instant, since epoch: UInt32) {
        // A start that is in the future was one with a clock that has been set right since.
        let since = now.wall - Int64(epoch) * 1_000
        if (0...Self.doubtMilliseconds).contains(since) { began = now.boot - since }
    }

    /// A clock that went ahead of boot time between the two is doubted from now on.
    public mutating func advance(from before: Instant, to now: Instant) {
        if (now.wall - before.wall) - (now.boot - before.boot) > Self.leapMilliseconds { began = now.boot }
    }

    /// Until when it is doubted, for what is kept for so long; boot time.
    public func end(for retention: Int64) -> Int64 {
        began == .min ? .min : began + min(retention, Self.doubtMilliseconds)
    }
}
