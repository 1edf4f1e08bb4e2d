import Foundation

/// A directory of this run alone (0700): the socket, the cookie and, unless the user keeps them, journal and values.
///
/// Who uses it has a lock on a file in it, which ends with the process, however that ends: so the next run knows which ones nobody uses.
struct PrivateDirectory: Sendable {
    /// A socket's path has at most 107 bytes; the rest is ours.
    private static let basePathBytesMax = 70
    private static let prefix = "aop-run-"
    private static let suffixBytes = 6

    let path: String
    /// nil: the file system has no locks, and nobody removes the directory but this run.
    private let hold: Hold?

    /// Creates it in `directory`, else in `$TMPDIR`, or in /tmp where that is not set or its path is too long for a socket.
    init(in directory: String? = nil) throws {
        (path, hold) = try Self.make(in: directory ?? Self.base)
    }

    private static func make(in base: String) throws -> (path: String, hold: Hold?) {
        while true {
            var template = Array("\(base)/\(prefix)\(String(repeating: "X", count: suffixBytes))".utf8CString)
            // mkdtemp makes the directory with mode 0700.
            guard mkdtemp(&template) != nil else {
                throw ToolError(
                    .toolError, "temporaryDirectory",
                    "no temporary directory can be made in \(base): \(String(cString: strerror(errno))); set TMPDIR to a directory you can write to"
                )
            }
            let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            let hold = Hold(of: path, makingIt: true)
            // Another run may have taken it for one that nobody uses, before this one had its lock: it is gone then.
            if let hold, !hold.isThere { continue }
            if hold == nil, access(path, F_OK) != 0 { continue }
            return (path, hold)
        }
    }

    /// Where directories of runs are, unless another place is named.
    static var base: String {
        let wanted = Environment["TMPDIR"]
        return wanted.hasPrefix("/") && wanted.utf8.count <= basePathBytesMax ? wanted : "/tmp"
    }

    var endpoint: String { "ipc://\(path)/socket" }

    /// Removes it with all it holds. One that is gone already is fine.
    static func remove(_ path: String) throws {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile {
            return
        }
    }

    // MARK: Locks

    /// A lock that says that somebody uses a directory, as long as this is there. Several processes may have one: a run and its coordinator.
    final class Hold: Sendable {
        private let path: String
        private let descriptor: Int32

        /// - Parameters:
        ///   - directory: has been made by a run.
        ///   - makingIt: the file that is locked is made where it is missing.
        /// - Returns: nil: it cannot be locked, or is gone.
        init?(of directory: String, makingIt: Bool = false) {
            path = PrivateDirectory.lockPath(in: directory)
            descriptor = open(path, (makingIt ? O_CREAT | O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return nil }
            // Whoever is about to remove the directory has it to the end of that.
            while flock(descriptor, LOCK_SH) != 0 {
                // The descriptor is closed with this object, which is whole by now.
                guard errno == EINTR else { return nil }
            }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        /// Whether the file that is locked still has its name.
        var isThere: Bool {
            var (ours, there) = (stat(), stat())
            return fstat(descriptor, &ours) == 0 && lstat(path, &there) == 0 && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev
        }
    }

    private static func lockPath(in directory: String) -> String { "\(directory)/\(lockName)" }
    private static let lockName = "lock"

    // MARK: What others have left

    /// One without a lock file, in which nothing is, is about to get one; after so many seconds its run is gone.
    private static let emptySecondsMax = 60

    /// Removes what runs of this user have left that were killed. What somebody uses stays, and what is not of a run of this user: a link, or
    /// a directory of an earlier release, which has no lock.
    ///
    /// - Returns: what could not be removed, and why, in words.
    static func removeAbandoned(in directory: String = base, at now: Int = time(nil)) -> [String] {
        // Who may not list them finds none.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasPrefix(prefix) && $0.utf8.count == prefix.utf8.count + suffixBytes }.compactMap { name in
            removeIfAbandoned("\(directory)/\(name)", at: now)
        }
    }

    /// - Returns: why it is abandoned and still there; nil: it is not.
    private static func removeIfAbandoned(_ path: String, at now: Int) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { return nil }
        let descriptor = open(lockPath(in: path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            // It fails where something is in it.
            if errno == ENOENT, now - status.st_mtim.tv_sec > emptySecondsMax { rmdir(path) }
            return nil
        }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        do {
            // The lock goes last: by it the next run finds what this one has not come to.
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != lockName { try remove("\(path)/\(name)") }
            try remove(path)
            return nil
        } catch {
            return "\(path), which an earlier run has left, cannot be removed: \(error); remove it when nothing of that runs any more"
        }
    }
}
