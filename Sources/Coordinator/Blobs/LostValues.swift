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
            guard lost[key] == nil, !key.isThere(below: root) else { return }
            lost[key] = place
        }
        return lost
    }

    func isGivenUp(_ key: BlobKey) -> Bool { DurableFiles.isThere(path(of: key.digest) + Self.suffix) }

    /// Those that are there again would be missed again.
    ///
    /// - Parameter lost: what ``find(in:)`` found.
    /// - Throws: `JournalError.database` when the file that stands for one cannot be removed.
    func forgetReturned(of scheduler: Scheduler, but lost: [BlobKey: String]) throws(JournalError) {
        var failed: (path: String, reason: String)?
        scheduler.forEachStoredValue { bytes, size, _ in
            guard let digest = BlobDigest(bytes), lost[BlobKey(digest: digest, size: size)] == nil else { return }
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
            let (folder, path) = (key.digest.folder(below: root), path(of: key.digest))
            try DurableFiles.makeDirectory(folder)
            folders.insert(folder)
            let descriptor = open(path + Self.suffix, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw DurableFiles.failure(path + Self.suffix, "make the file") }
            close(descriptor)
        }
        for folder in folders.sorted() { try DurableFiles.sync(directory: folder) }
        try DurableFiles.sync(directory: root)
    }

    private func path(of digest: BlobDigest) -> String { digest.path(below: root) }
}
