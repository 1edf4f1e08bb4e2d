/// How far the clock of a peer's host is ahead of the coordinator's, as its heartbeats tell.
///
/// A heartbeat that comes late makes the peer's clock look behind for once: of the last two the smaller offset counts. Those that come together, as
/// all do that were sent during a pause of the coordinator, tell nothing. Clocks that differ by no more than `toldMilliseconds` are not told of.
struct ClockOffset {
    enum Change: Equatable {
        /// By so many milliseconds; negative: behind.
        case differs(Int64)
        case agrees
    }

    /// Milliseconds; negative: it is behind; nil: two heartbeats have not told it yet.
    private(set) var milliseconds: Int64?
    private var last: Int64?
    /// When the last one left, by its clock, and came, both in milliseconds.
    private var earlier: (clock: Int64, came: Int64)?
    private var isTold = false

    /// More is told.
    static let toldMilliseconds: Int64 = 5_000
    /// So much sooner after the one before may a heartbeat come than it left after it.
    private static let unevenMilliseconds = 500.0

    /// A heartbeat that left at `clock` came.
    ///
    /// - Parameters:
    ///   - clock: milliseconds since 1970; 0: it does not say when.
    ///   - now: milliseconds since 1970, by the coordinator's clock.
    ///   - boot: the same in milliseconds of its boot time, which nobody sets.
    /// - Returns: What is to be told now, once for each time it changes.
    mutating func heard(_ clock: Int64, now: Int64, boot: Int64) -> Change? {
        guard clock > 0 else { return nil }
        defer { earlier = (clock, boot) }
        if let earlier, Double(clock) - Double(earlier.clock) > 2 * Double(boot - earlier.came) + Self.unevenMilliseconds {
            last = nil
            return nil
        }
        let offset = clock - now  // both are positive
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
