/// How much has been written since the last snapshot, and whether it is time for another one.
///
/// With as many bytes as the last one had, and at least so many as were configured, making snapshots costs no more than a
/// constant for each byte of the journal, however large the state is; but for those, one an hour, by which what was forgotten leaves the disk.
struct SnapshotBacklog {
    private let threshold: Int64
    private let pauseMilliseconds: Int64
    /// Whether the disk has room for one of about so many bytes.
    private let fits: @Sendable (Int64) -> Bool
    private var bytes: Int64
    private var snapshotBytes: Int64
    /// Of `bytes`, those that the one will hold that is being made; nil: none is.
    private var making: Int64?
    /// Whether something was forgotten that is still in the last one.
    private var hasForgotten = false
    /// Boot time at which the last one was begun, or the coordinator.
    private var begunAt: Int64?

    /// - Parameters:
    ///   - bytes: that have come since `snapshot`.
    ///   - pauseMilliseconds: between two that are made only because something was forgotten.
    ///   - fits: whether the disk has room for one of about so many bytes.
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
        begunAt = now
    }

    /// Nobody waits for one: where the disk has no room for it, it is made when there is.
    func isDue(at now: Int64) -> Bool { isWanted(at: now) && fits(sizeEstimate) }

    /// One would be due.
    func lacksRoom(at now: Int64) -> Bool { isWanted(at: now) && !fits(sizeEstimate) }

    /// Of the next one.
    private var sizeEstimate: Int64 { snapshotBytes + bytes }

    /// Without the second reason what was forgotten would stay on the disk for as long as little happens.
    private func isWanted(at now: Int64) -> Bool {
        guard making == nil else { return false }
        let hasRested = begunAt.map { now - $0 >= pauseMilliseconds } ?? true
        return bytes >= max(threshold, snapshotBytes) || (hasForgotten && hasRested)
    }

    mutating func noteForgotten() { hasForgotten = true }

    mutating func add(_ bytes: Int64) { self.bytes += bytes }

    mutating func begin(at now: Int64) {
        making = bytes
        hasForgotten = false
        begunAt = now
    }

    mutating func end(_ snapshot: Snapshot) {
        bytes -= making ?? 0
        making = nil
        snapshotBytes = snapshot.bytes
    }
}
