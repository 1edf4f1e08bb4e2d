import Foundation
import Wire

/// The folder that holds everything a coordinator must not lose, locked for as long as this object lives.
///
/// ```
/// DIR/                        0700 when we make it
///   coordinator.lock          flock; the process id of its holder
///   journal.sqlite  -wal -shm every decision, in order: the state of the cluster
///   journal.acknowledged      how far it went when somebody was told of it
///   blobs/ab/cdef…            large values, named by the SHA-256 of their content
///   blobs/incoming/           values on their way in; emptied at each start
///   output.sqlite   -wal -shm what commands print, bounded
///   elements.sqlite -wal -shm what operations sent while they ran, bounded
///   elements.acknowledged     how far that went when its senders were told of it
///   history.sqlite  -wal -shm what became of submissions, for people's own questions; bounded
///   NAME.damaged-TIME         one of the last two that was damaged; of each the newest
/// ```
/// Files are made with mode 0600 whatever the umask; of values that were handed to a receiver it is 0700 (`BlobFile`).
/// The journal names blobs, so that the two belong together: `JournalBackup`
/// copies them, also while a coordinator runs; `cp` does only while none does.
public final class DataDirectory: Sendable {
    public let path: String
    /// Opened with ``init(reading:)``: nothing in it, or beside a file of it, is written.
    let isOnlyRead: Bool
    private let lock: Lock

    private enum Lock {
        /// A lock on what this descriptor has open.
        case held(Int32)
        /// The directory was opened to read it, and no coordinator has ever run on it: there is no file to lock.
        case missing
    }

    var journalPath: String { path + "/journal.sqlite" }
    /// SQLite's, of what is not in the journal's file yet.
    var journalLogPath: String { journalPath + "-wal" }
    var outputPath: String { path + "/output.sqlite" }
    var elementsPath: String { path + "/elements.sqlite" }
    var historyPath: String { path + "/history.sqlite" }
    var blobsPath: String { path + "/blobs" }

    /// What is there only where there was a journal: the history of submissions, or large values, which are removed when no journal names them.
    var remainsOfAJournal: String? {
        if DurableFiles.isThere(historyPath) { return historyPath }
        // What is in `incoming` belongs to nothing yet.
        let values = FileManager.default.enumerator(atPath: blobsPath)?.lazy.compactMap { $0 as? String }
            .first { !$0.hasPrefix("incoming") && $0.contains("/") }
        return values == nil ? nil : blobsPath
    }
    private static func lockPath(in path: String) -> String { path + "/coordinator.lock" }

    /// Opens the directory, making it where it is missing, and locks it.
    ///
    /// The lock is the operating system's: it ends with the process, however that ends.
    /// - Throws: `DataDirectoryError`.
    public init(path: String) throws(DataDirectoryError) {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        try Self.make(path)
        try Self.check(path)
        let descriptor = open(Self.lockPath(in: path), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .notWritable(path: path, reason: Self.reason(errno)) }
        guard Self.lock(descriptor, LOCK_EX) else {
            let code = errno
            let holder = Self.holder(descriptor)
            close(descriptor)
            if code == EWOULDBLOCK { throw .inUse(path: path, holder: holder) }
            throw .notWritable(path: path, reason: Self.reason(code))
        }
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.count, 0) == text.count else {
            let code = errno
            close(descriptor)
            throw .notWritable(path: path, reason: Self.reason(code))
        }
        self.path = path
        isOnlyRead = false
        lock = .held(descriptor)
    }

    /// Opens the directory to read it: nothing is made or written, so it may be on a medium that cannot be written.
    ///
    /// No coordinator begins on it meanwhile, and others may read it, too. Where no coordinator has ever run, as in a backup, there is no
    /// file to lock, and none is made: ``checkIsUnused()`` says afterwards whether one has begun.
    /// - Throws: `DataDirectoryError`: `.notReadable`, `.writableByOthers`, or `.inUse`: a coordinator runs on it.
    init(reading path: String) throws(DataDirectoryError) {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        do throws(DataDirectoryError) { try Self.check(path) } catch {
            guard case .notWritable(_, let reason) = error else { throw error }
            throw .notReadable(path: path, reason: reason)
        }
        // What is no file is not waited for.
        let descriptor = open(Self.lockPath(in: path), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 {
            guard errno == ENOENT else { throw .notReadable(path: path, reason: Self.reason(errno)) }
            lock = .missing
        } else {
            guard Self.lock(descriptor, LOCK_SH) else {
                let code = errno
                let holder = Self.holder(descriptor)
                close(descriptor)
                if code == EWOULDBLOCK { throw .inUse(path: path, holder: holder) }
                throw .notReadable(path: path, reason: Self.reason(code))
            }
            lock = .held(descriptor)
        }
        self.path = path
        isOnlyRead = true
    }

    /// A process that another thread of this one is about to start has all descriptors until it executes its program: so a lock that
    /// this process let go may be held for a moment.
    ///
    /// - Returns: false: `errno` says why.
    private static func lock(_ descriptor: Int32, _ kind: Int32) -> Bool {
        for _ in 0..<lockAttempts {
            if flock(descriptor, kind | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK, written(in: descriptor) == getpid() else { return false }
            poll(nil, 0, lockPauseMilliseconds)
        }
        return flock(descriptor, kind | LOCK_NB) == 0
    }

    private static let lockAttempts = 10
    private static let lockPauseMilliseconds: Int32 = 20

    deinit { if case .held(let descriptor) = lock { close(descriptor) } }

    /// - Throws: `DataDirectoryError`: `.removed` when the directory is not there any more, or another one is, `.unlocked` when it is the same
    ///   one without its lock, `.notReadable` when that cannot be seen.
    func checkIsThere() throws(DataDirectoryError) {
        guard case .held(let descriptor) = lock else { throw .unlocked(path: path) }
        var (ours, there) = (stat(), stat())
        guard fstat(descriptor, &ours) == 0 else { throw .notReadable(path: path, reason: Self.reason(errno)) }
        guard stat(Self.lockPath(in: path), &there) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .notReadable(path: path, reason: Self.reason(errno)) }
            throw access(journalPath, F_OK) == 0 ? .unlocked(path: path) : .removed(path: path)
        }
        guard ours.st_ino == there.st_ino, ours.st_dev == there.st_dev else { throw .removed(path: path) }
    }

    /// For what was read without a lock, when it has been read.
    ///
    /// - Throws: `DataDirectoryError.inUse`: a coordinator has begun on it meanwhile.
    func checkIsUnused() throws(DataDirectoryError) {
        guard case .missing = lock else { return }
        let descriptor = open(Self.lockPath(in: path), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw .notReadable(path: path, reason: Self.reason(errno)) }
        defer { close(descriptor) }
        throw .inUse(path: path, holder: Self.holder(descriptor))
    }

    /// Makes the file with mode 0600 where it is missing, and sees to it that its name survives a crash.
    func prepareFile(_ path: String) throws(DataDirectoryError) { try Self.prepareFile(path) }

    /// - Throws: `DataDirectoryError.notWritable`.
    static func prepareFile(_ path: String) throws(DataDirectoryError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .notWritable(path: path, reason: reason(errno)) }
        close(descriptor)
        try sync(directory: URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// Makes the names in a directory durable.
    static func sync(directory: String) throws(DataDirectoryError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .notWritable(path: directory, reason: reason(errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .notWritable(path: directory, reason: reason(errno)) }
    }

    static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func make(_ path: String) throws(DataDirectoryError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, path != "/" else { throw .notWritable(path: path, reason: reason(errno)) }
        try make(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .notWritable(path: path, reason: reason(errno))
        }
    }

    private static func check(_ path: String) throws(DataDirectoryError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .notWritable(path: path, reason: reason(errno)) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .notWritable(path: path, reason: "it is not a directory") }
        guard status.st_mode & 0o022 == 0 else {
            throw .writableByOthers(path: path, mode: UInt32(status.st_mode & 0o7777))
        }
        // Whoever opens a pipe waits for another one who does.
        for name in ["journal.acknowledged", "elements.acknowledged", "elements.sqlite-wal"] {
            let file = "\(path)/\(name)"
            guard stat(file, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { continue }
            throw .notAFile(path: file)
        }
    }

    /// Who has locked the file to work in the directory; nil: who only reads does not write itself down, and one that is gone has not held it.
    private static func holder(_ descriptor: Int32) -> Int32? {
        guard let process = written(in: descriptor), kill(process, 0) == 0 || errno == EPERM else { return nil }
        return process
    }

    /// The last process that has worked in the directory.
    private static func written(in descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes.prefix(while: { $0 >= 0x30 && $0 <= 0x39 }), as: UTF8.self))
    }
}

/// The data directory cannot be used.
public enum DataDirectoryError: Error, Equatable, CustomStringConvertible {
    case notWritable(path: String, reason: String)
    case notReadable(path: String, reason: String)
    case writableByOthers(path: String, mode: UInt32)
    /// A pipe, a socket or a device has the name of one of its files.
    case notAFile(path: String)
    /// A coordinator works in it, or somebody reads it. `holder` is the coordinator's process id, where it could be read.
    case inUse(path: String, holder: Int32?)
    /// A backup was being put in its place, and that was interrupted.
    case restoring(path: String)
    /// It is not there any more, or another one is in its place.
    case removed(path: String)
    /// Its journal is there, and its lock is not.
    case unlocked(path: String)

    public var description: String {
        switch self {
        case .notWritable(let path, let reason):
            "cannot use the data directory \(path): \(reason); name another with --data, or change its owner"
        case .notReadable(let path, let reason):
            "cannot read the data directory \(path): \(reason); name another one, or run this as the user to whom it belongs"
        case .writableByOthers(let path, let mode):
            "the data directory \(path) has mode \(String(mode, radix: 8)): other users could change the journal; "
                + "name a directory of your own with --data, or: chmod go-w \(path.shellWord)"
        case .notAFile(let path):
            "\(path) is no file, but a pipe, a socket or a device; nothing was changed: move it away, and put back the file that was there"
        case .inUse(let path, .some(let holder)):
            "the data directory \(path) is in use by another coordinator (process \(holder)); stop that one, or name another directory with --data"
        case .inUse(let path, .none):
            "the data directory \(path) is in use by another process, a coordinator or aop journal; wait for its end, stop it, or name another "
                + "directory with --data"
        case .restoring(let path):
            "a backup was being put in the place of the data directory \(path), which was interrupted; nothing is lost: "
                + "repeat the same aop journal restore --data \(path.shellWord)"
        case .removed(let path):
            "the data directory \(path) was removed, or replaced, under the coordinator that runs on it: what it would acknowledge from now on "
                + "could not be found by the next one, so it ends; put the directory back, or a backup of it: aop journal restore"
        case .unlocked(let path):
            "coordinator.lock was removed from the data directory \(path) under the coordinator that runs on it: another one could begin beside "
                + "it, so it ends; nothing is lost, start it again"
        }
    }
}
