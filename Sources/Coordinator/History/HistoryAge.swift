import Scheduling
import Wire

/// What has been in the history for too long. What is removed does not come back: a wall clock that is doubted removes nothing.
struct HistoryAge {
    /// nil: it stays for ever.
    private let keepMilliseconds: Int64?
    private var doubt: ClockDoubt
    private var seenAt: Instant

    /// - Parameter doubt: what is known of the clock at `now`.
    init(keepMilliseconds: Int64?, doubt: ClockDoubt = ClockDoubt(), at now: Instant = HistoryAge.now) {
        self.keepMilliseconds = keepMilliseconds
        self.doubt = doubt
        seenAt = now
    }

    static var now: Instant { Instant(boot: BootClock.milliseconds(), wall: WallClock.milliseconds()) }

    /// The time before which it ended, milliseconds since 1970; `Int64.min`: nothing is too old.
    mutating func limit(at now: Instant) -> Int64 {
        doubt.advance(from: seenAt, to: now)
        seenAt = now
        guard let keepMilliseconds, now.boot >= doubt.end(for: keepMilliseconds) else { return .min }
        return now.wall - keepMilliseconds
    }
}
