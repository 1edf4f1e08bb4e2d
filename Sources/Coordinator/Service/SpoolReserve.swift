/// Free space that a spool leaves: the journal needs it for what was admitted.
struct SpoolReserve: Sendable {
    let bytes: Int64
    /// nil: the file system does not say.
    let freeBytes: @Sendable () -> UInt64?

    /// The spool may take the whole disk.
    static let none = SpoolReserve(bytes: 0) { nil }

    /// Half of what is kept for the journal, as large values do it.
    static func half(of diskReserveBytes: Int64, in directory: String) -> SpoolReserve {
        SpoolReserve(bytes: max(diskReserveBytes, 0) / 2) { DiskReserve.freeBytes(in: directory) }
    }

    /// Bytes that may be added to the file. Each is written twice, into SQLite's log first.
    var growthBytes: Int64 {
        guard bytes > 0, let free = freeBytes() else { return .max }
        return max(0, Int64(clamping: free) - bytes) / 2
    }
}
