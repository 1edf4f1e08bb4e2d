import Foundation
import Scheduling
import Wire

/// Large values that the state names and the store has not, and those of them that were given up: a file `ab/cdef….lost` stands for each.
struct LostValues {
    static let suffix = ".lost"

    /// Of the store.
    let root: String

    /// - Returns: those of which there is no file of their size, by where they are named: `SUBMISSION/PATH`, one place for each.
    func find(in scheduler: Scheduler) -> [BlobKey: String] {
        var lost: [BlobKey: String] = [:]
        scheduler.forEachStoredValue { bytes, size, place in
            guard let digest = BlobDigest(bytes) else { return }
            let key = BlobKey(digest: digest, size: size)
            guard lost[key] == nil, !isThere(key) else { return }
            lost[key] = place
        }
        return lost
    }

    func isGivenUp(_ key: BlobKey) -> Bool { DurableFiles.isThere(path(of: key.digest) + Self.suffix) }

    /// Those that are there again would be missed again.
    ///
    /// - Throws: `JournalError.database` when the file that stands for one cannot be removed.
    func forgetReturned(of scheduler: Scheduler) throws(JournalError) {
        var failed: (path: String, reason: String)?
        scheduler.forEachStoredValue { bytes, size, _ in
            guard let digest = BlobDigest(bytes), isThere(BlobKey(digest: digest, size: size)) else { return }
            let path = path(of: digest) + Self.suffix
            if unlink(path) != 0, errno != ENOENT { failed = (path, DataDirectory.reason(errno)) }
        }
        if let failed { throw .database(path: failed.path, action: "remove the file", reason: failed.reason) }
    }

    /// Makes a start possible without these, durably.
    ///
    /// - Throws: `BackupError.file`.
    func giveUp(_ keys: some Sequence<BlobKey>) throws(BackupError) {
        var folders: Set<String> = []
        for key in keys {
            let (folder, path) = (folder(of: key.digest), path(of: key.digest))
            try DurableFiles.makeDirectory(folder)
            folders.insert(folder)
            let descriptor = open(path + Self.suffix, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw DurableFiles.failure(path + Self.suffix, "make the file") }
            close(descriptor)
        }
        for folder in folders.sorted() { try DurableFiles.sync(directory: folder) }
        try DurableFiles.sync(directory: root)
    }

    private func isThere(_ key: BlobKey) -> Bool {
        var status = stat()
        return stat(path(of: key.digest), &status) == 0 && UInt64(status.st_size) == key.size
    }

    private func folder(of digest: BlobDigest) -> String { "\(root)/\(digest.hexadecimal.prefix(2))" }
    private func path(of digest: BlobDigest) -> String { "\(folder(of: digest))/\(digest.hexadecimal.dropFirst(2))" }
}
