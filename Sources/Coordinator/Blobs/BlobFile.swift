import Foundation

/// What is seen of a file in the store of large values beside its content.
enum BlobFile {
    /// Nothing names what was stored for a receiver, an input too large for its message: who has it in its line asks for it later. Such a file is
    /// executable, which says so also to the next process. Where a file system has no modes, its time alone keeps it.
    private static let handedOverMode: mode_t = 0o700
    private static let handedOverBit: mode_t = 0o100

    static func markHandedOver(_ path: String) { _ = chmod(path, handedOverMode) }

    static func isHandedOver(_ status: stat) -> Bool { status.st_mode & handedOverBit != 0 }

    /// The copy says the same as the file.
    static func copyMark(of file: String, to copy: String) {
        var status = stat()
        if stat(file, &status) == 0, isHandedOver(status) { markHandedOver(copy) }
    }

    /// Not stored or asked about since.
    static func isUnused(_ status: stat, since date: Date) -> Bool { TimeInterval(status.st_mtim.tv_sec) < date.timeIntervalSince1970 }

    /// Also the name of the file that stands for a value that was given up says which one it was.
    static func value(named name: String) -> String {
        name.hasSuffix(LostValues.suffix) ? String(name.dropLast(LostValues.suffix.count)) : name
    }
}

/// Who copies large values has the folder locked, and nobody removes one meanwhile. The operating system's lock: it ends with its process.
struct BlobFolderLock {
    /// nil: there is no folder, or its file system knows no such locks.
    private let descriptor: Int32?

    /// Waits for who removes: a moment.
    init(toCopyFrom root: String) {
        let descriptor = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        self.descriptor = descriptor < 0 ? nil : descriptor
        guard descriptor >= 0 else { return }
        while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
    }

    /// nil: somebody copies, or it cannot be seen whether somebody does.
    init?(toRemoveFrom root: String) {
        let descriptor = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    func end() { if let descriptor { close(descriptor) } }
}
