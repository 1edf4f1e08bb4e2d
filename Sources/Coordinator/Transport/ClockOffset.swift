/// How far the clock of a peer's host is ahead of the coordinator's, as its heartbeats tell.
///
/// A heartbeat that comes late, as one does after a pause of either side, makes the peer's clock look behind for once: of the last two
/// heartbeats the smaller offset counts. Clocks that differ by no more than `toldMilliseconds` are not told of.
struct ClockOffset {
    enum Change: Equatable {
        /// By so many milliseconds; negative: behind.
        case differs(Int64)
        case agrees
    }

    /// Milliseconds; negative: it is behind; nil: two heartbeats have not told it yet.
    private(set) var milliseconds: Int64?
    private var last: Int64?
    private var isTold = false

    /// More is told.
    static let toldMilliseconds: Int64 = 5_000

    /// A heartbeat that left at `clock` came at `now`, both in milliseconds since 1970. 0: it does not say when.
    ///
    /// - Returns: What is to be told now, once for each time it changes.
    mutating func heard(_ clock: Int64, now: Int64) -> Change? {
        guard clock > 0 else { return nil }
        let (difference, isOverflown) = clock.subtractingReportingOverflow(now)
        let offset = isOverflown ? Int64.max : difference
        defer { last = offset }
        guard let last else { return nil }
        let smaller = offset.magnitude < last.magnitude ? offset : last
        milliseconds = smaller
        let differs = smaller.magnitude > UInt64(Self.toldMilliseconds)
        guard differs != isTold else { return nil }
        isTold = differs
        return differs ? .differs(smaller) : .agrees
    }
}
