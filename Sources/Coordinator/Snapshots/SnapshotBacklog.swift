/// How much has been written since the last snapshot, and whether it is time for another one.
///
/// With as many bytes as the last one had, and at least so many as were configured, making snapshots costs no more than a
/// constant for each byte of the journal, however large the state is.
struct SnapshotBacklog {
    private let threshold: Int64
    private var bytes: Int64
    private var snapshotBytes: Int64
    /// Of `bytes`, those that the one will hold that is being made; nil: none is.
    private var making: Int64?

    /// - Parameter bytes: that have come since `snapshot`.
    init(_ threshold: Int64, since snapshot: Snapshot?, bytes: Int64) {
        self.threshold = threshold
        self.bytes = bytes
        snapshotBytes = snapshot?.bytes ?? 0
    }

    init(_ threshold: Int64, of database: JournalDatabase) throws(JournalError) {
        let newest = try database.newestSnapshot()
        self.init(threshold, since: newest, bytes: try database.bodyBytes(after: newest?.end.sequence ?? .none))
    }

    var isDue: Bool { making == nil && bytes >= max(threshold, snapshotBytes) }

    mutating func add(_ bytes: Int64) { self.bytes += bytes }

    mutating func begin() { making = bytes }

    mutating func end(_ snapshot: Snapshot) {
        bytes -= making ?? 0
        making = nil
        snapshotBytes = snapshot.bytes
    }
}
