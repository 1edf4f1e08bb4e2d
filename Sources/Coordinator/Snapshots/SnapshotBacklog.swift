/// How much has been written since the last snapshot, and whether it is time for another one.
///
/// With as many bytes as the last one had, and at least so many as were configured, making snapshots costs no more than a
/// constant for each byte of the journal, however large the state is; but for those, one an hour, by which what was forgotten leaves the disk.
///
/// How large one will be is known when it is made: of what was written since the last one much may be forgotten. So each is tried once, and one
/// for which there was no room when there is that much, or now and then.
struct SnapshotBacklog {
    private let threshold: Int64
    private let pauseMilliseconds: Int64
    /// Whether the disk has room for one of so many bytes.
    private let fits: @Sendable (Int64) -> Bool
    private var bytes: Int64
    private var snapshotBytes: Int64
    private var making: Making?
    /// The last one was not made, as the disk had no room for it.
    private var refusal: Refusal?
    /// Whether something was forgotten that is still in the last one.
    private var hasForgotten = false
    /// Boot time before which none is made only because something was forgotten.
    private var restsUntil: Int64?

    private struct Making {
        /// Those that it will hold.
        let bytes: Int64
        let hadForgotten: Bool
    }

    private struct Refusal {
        /// Of the snapshot.
        let bytes: Int64
        /// Boot time from which on the state may have become smaller.
        let holdsUntil: Int64
    }

    /// - Parameters:
    ///   - bytes: that have come since `snapshot`.
    ///   - pauseMilliseconds: between two that are made only because something was forgotten.
    ///   - fits: whether the disk has room for one of so many bytes.
    init(
        _ threshold: Int64, since snapshot: Snapshot?, bytes: Int64,
        pauseMilliseconds: Int64 = CoordinatorLimits.snapshotPauseMilliseconds, fits: @escaping @Sendable (Int64) -> Bool = { _ in true }
    ) {
        self.fits = fits
        self.threshold = threshold
        self.pauseMilliseconds = pauseMilliseconds
        self.bytes = bytes
        snapshotBytes = snapshot?.bytes ?? 0
    }

    /// Of a coordinator that begins at `now`.
    ///
    /// - Parameter hasForgotten: something was forgotten since the newest one.
    init(
        _ policy: JournalWriter.SnapshotPolicy, of database: JournalDatabase, hasForgotten: Bool, at now: Int64
    ) throws(JournalError) {
        let newest = try database.newestSnapshot()
        self.init(
            policy.bytes, since: newest, bytes: try database.bodyBytes(after: newest?.end.sequence ?? .none),
            pauseMilliseconds: policy.pauseMilliseconds, fits: policy.fits(besides: database.path))
        self.hasForgotten = hasForgotten
        restsUntil = now + min(pauseMilliseconds, CoordinatorLimits.snapshotPauseAfterStartMilliseconds)
    }

    /// Nobody waits for one: where the disk has no room for it, it is made when there is.
    func isDue(at now: Int64) -> Bool { isWanted(at: now) && mayFit(at: now) }

    /// One would be due, or was.
    func lacksRoom(at now: Int64) -> Bool { refusal != nil || (isWanted(at: now) && !mayFit(at: now)) }

    private func mayFit(at now: Int64) -> Bool {
        guard let refusal else { return fits(0) }
        return fits(now < refusal.holdsUntil ? refusal.bytes : 0)
    }

    /// Without the second reason what was forgotten would stay on the disk for as long as little happens.
    private func isWanted(at now: Int64) -> Bool {
        guard making == nil else { return false }
        let hasRested = restsUntil.map { now >= $0 } ?? true
        return bytes >= max(threshold, snapshotBytes) || (hasForgotten && hasRested)
    }

    mutating func noteForgotten() { hasForgotten = true }

    mutating func add(_ bytes: Int64) { self.bytes += bytes }

    mutating func begin(at now: Int64) {
        making = Making(bytes: bytes, hadForgotten: hasForgotten)
        hasForgotten = false
        restsUntil = now + pauseMilliseconds
    }

    mutating func end(_ snapshot: Snapshot) {
        bytes -= making?.bytes ?? 0
        making = nil
        refusal = nil
        snapshotBytes = snapshot.bytes
    }

    /// The one that was begun is not made: the disk has no room for its `bytes`.
    mutating func refuse(_ bytes: Int64, at now: Int64) {
        if making?.hadForgotten == true {
            hasForgotten = true
            restsUntil = nil
        }
        making = nil
        refusal = Refusal(bytes: bytes, holdsUntil: now + CoordinatorLimits.snapshotRoomPauseMilliseconds)
    }
}
