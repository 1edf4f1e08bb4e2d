import Foundation

/// Free space that is kept for what was admitted already.
struct DiskReserve {
    enum Finding: Equatable {
        case unchanged
        /// With what is missing; nil: there is room again.
        case changed(String?)
    }

    let bytes: Int64
    let directory: String
    private var lookAgainAt = Int64.min
    /// What is missing; nil: there was room at the last look.
    private(set) var shortage: String?

    init(bytes: Int64, directory: String) {
        self.bytes = bytes
        self.directory = directory
    }

    /// Space is not asked for more often.
    private static let intervalMilliseconds: Int64 = 1_000

    /// - Parameter boot: milliseconds of boot time.
    mutating func look(at boot: Int64) -> Finding {
        guard bytes > 0, boot >= lookAgainAt else { return .unchanged }
        lookAgainAt = boot + Self.intervalMilliseconds
        guard let free = Self.freeBytes(in: directory), free < UInt64(bytes) else {
            defer { shortage = nil }
            return shortage == nil ? .unchanged : .changed(nil)
        }
        guard shortage == nil else { return .unchanged }
        shortage =
            "\(free) bytes are free where the coordinator keeps its data (\(directory)), less than its reserve of \(bytes) (--disk-reserve);"
            + " make room there, or try again later"
        return .changed(shortage)
    }

    /// For processes without privileges. nil: the file system does not say; the journal will.
    static func freeBytes(in directory: String) -> UInt64? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}
