import Foundation
import Wire

/// Large values as files, named by the SHA-256 of their content: `ab/cdef…`. Each value is there once.
///
/// A file gets its name only when its content is on the disk, so that whatever has a name is whole; it is on the disk
/// before any fact that names it is committed. Belongs to one thread.
struct BlobStore {
    private let root: String
    private var nextIncoming: UInt64 = 0
    /// Asked, again and again, while no file can be opened as there is no descriptor left.
    var mayWaitForDescriptor: @Sendable () -> Bool = { false }
    /// Values leave so much free, for the journal.
    var reserveBytes: UInt64 = 0
    /// Of a file; nil: any.
    var fileBytesMax = FileSizeLimit.bytes
    private var incomingPath: String { root + "/incoming" }

    /// Opens the store, removes what earlier processes left half-written, and makes the names durable that they left
    /// between giving them and syncing the folder.
    ///
    /// - Throws: `BlobStoreError`.
    init(path: String) throws(BlobStoreError) {
        root = path
        try makeDirectory(root)
        try makeDirectory(incomingPath)
        for name in try names(in: incomingPath) where unlink(incomingPath + "/" + name) != 0 {
            throw failure(incomingPath + "/" + name, "remove a file that was left half-written")
        }
        for name in try names(in: root) where name.utf8.count == 2 { try sync(root + "/" + name) }
        try sync(root)
        try sync(URL(fileURLWithPath: root).deletingLastPathComponent().path)
    }

    private func names(in directory: String) throws(BlobStoreError) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: directory) } catch {
            throw BlobStoreError(path: directory, action: "list the directory", reason: "\(error)")
        }
    }

    /// Whether the value is there, with the content that its name says: what is offered anew takes the place of a damaged one.
    ///
    /// - Complexity: O(size): it is read.
    func holds(_ key: BlobKey) -> Bool {
        guard contains(key) else { return false }
        var (hasher, offset) = (BlobHasher(), UInt64(0))
        while offset < key.size {
            guard case .bytes(let bytes, _) = read(key.digest, offset: offset, length: Limits.blobChunkBytes), !bytes.isEmpty else {
                return false
            }
            hasher.update(bytes)
            offset += UInt64(bytes.count)
        }
        return hasher.finalize() == key.digest
    }

    /// Whether a file of the value's name and size is there.
    func contains(_ key: BlobKey) -> Bool { key.isThere(below: root) }

    /// A new temporary file.
    ///
    /// - Parameters:
    ///   - size: of what is to come.
    ///   - promised: bytes that others, which are not complete, will take.
    /// - Throws: `BlobStoreError`.
    mutating func makeIncoming(size: UInt64 = 0, promised: UInt64 = 0) throws(BlobStoreError) -> IncomingBlob {
        try checkSize(size)
        if size > 0, let free = DiskReserve.freeBytes(in: root) {
            let (needed, overflows) = size.addingReportingOverflow(promised + reserveBytes)
            guard !overflows, needed <= free else {
                throw BlobStoreError(
                    path: incomingPath,
                    action:
                        "make room for a value of \(size) bytes beside \(promised) that are coming and \(reserveBytes) that are kept free "
                        + "(half of --disk-reserve) where \(free) are free", code: ENOSPC, mayBeTriedAgain: true)
            }
        }
        nextIncoming += 1
        let path = incomingPath + "/\(nextIncoming)"
        let descriptor = openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "make the file", mayBeTriedAgain: true) }
        return IncomingBlob(path: path, descriptor: descriptor)
    }

    /// Before any of it is asked for, and before the system meets the limit, which kills a process that does not say otherwise.
    private func checkSize(_ size: UInt64) throws(BlobStoreError) {
        guard let fileBytesMax, size > fileBytesMax else { return }
        throw BlobStoreError(path: incomingPath, action: "store a value of \(size) bytes", code: EFBIG, mayBeTriedAgain: true)
    }

    /// Why an incoming value is not the one that was named; nil: it is.
    func mismatch(of blob: IncomingBlob, with key: BlobKey) -> String? {
        guard blob.size == key.size else { return "it has \(blob.size) bytes where \(key.size) were named" }
        let digest = blob.digest()
        guard digest == key.digest else {
            return "its SHA-256 is \(digest.hexadecimal) where \(key.digest.hexadecimal) was named"
        }
        return nil
    }

    /// Puts values whose digests are known to fit under their names, durably. One that is there already is kept.
    ///
    /// Several at a time cost little more than one: the first file, and the first folder, take to the disk most of what the file
    /// system has to write for all of them.
    ///
    /// - Throws: `BlobStoreError`.
    func keep(_ values: [(file: IncomingBlob, key: BlobKey)]) throws(BlobStoreError) {
        var new: [(file: IncomingBlob, key: BlobKey)] = []
        var (folders, isGrown) = (Set<String>(), false)
        for value in values {
            if holds(value.key) {
                try touch(value.key)
            } else if !new.contains(where: { $0.key == value.key }) {
                new.append(value)
                let folder = folder(of: value.key.digest)
                guard folders.insert(folder).inserted else { continue }
                do throws(BlobStoreError) { if try makeDirectory(folder) { isGrown = true } } catch {
                    // When it is tried again those that were made are there.
                    if isGrown { try sync(root) }
                    throw error
                }
            }
        }
        // Nothing is tried again from here on.
        for value in values where !new.contains(where: { $0.file === value.file }) { value.file.discard() }
        for value in new { try value.file.sync() }
        if isGrown { try sync(root) }
        for value in new {
            try value.file.keep(as: path(of: value.key.digest))
            // It is there again, and would be missed again.
            guard unlink(path(of: value.key.digest) + LostValues.suffix) == 0 || errno == ENOENT else {
                throw failure(path(of: value.key.digest) + LostValues.suffix, "remove")
            }
        }
        for folder in folders.sorted() { try sync(folder) }
    }

    /// Stores bytes that are at hand, durably, to hand them over to a receiver: nothing names them. They may take what is kept free.
    ///
    /// - Throws: `BlobStoreError`.
    mutating func store(_ bytes: Data) throws(BlobStoreError) -> BlobKey {
        let key = BlobKey(digest: BlobDigest(hashing: bytes), size: UInt64(bytes.count))
        if holds(key) {
            try touch(key)
            BlobFile.markHandedOver(path(of: key.digest))
            return key
        }
        try checkSize(key.size)
        let blob = try makeIncoming()
        do { try bytes.withUnsafeBytes { try blob.append($0) } } catch let error as BlobStoreError { throw error } catch {
            preconditionFailure("IncomingBlob.append throws nothing but BlobStoreError, got \(error)")
        }
        BlobFile.markHandedOver(blob.path)
        try keep([(blob, key)])
        return key
    }

    /// The value is about to be named anew: it is not swept for a while.
    ///
    /// - Throws: `BlobStoreError`.
    func touch(_ key: BlobKey) throws(BlobStoreError) {
        guard utimensat(AT_FDCWD, path(of: key.digest), nil, 0) == 0 else { throw failure(path(of: key.digest), "set the time of") }
    }

    /// What was removed.
    struct Removed: Equatable {
        private(set) var count = 0
        private(set) var bytes: UInt64 = 0

        fileprivate mutating func add(_ status: stat) { (count, bytes) = (count + 1, bytes + UInt64(status.st_size)) }
    }

    /// Removes the values that are not among `digests` and were not touched since `date`; what was handed to a receiver, since `handedOver`.
    ///
    /// - Complexity: O(values in the store).
    /// - Returns: nil: nothing was, as somebody copies them.
    /// - Throws: `BlobStoreError`.
    func sweep(
        keeping digests: Set<BlobDigest>, unusedSince date: Date, handedOverSince handedOver: Date
    ) throws(BlobStoreError) -> Removed? {
        guard let lock = BlobFolderLock(toRemoveFrom: root) else { return nil }
        defer { lock.end() }
        var removed = Removed()
        let kept = Set(digests.map(\.hexadecimal))
        for folder in try names(in: root) where folder.utf8.count == 2 {
            for name in try names(in: root + "/" + folder) where !kept.contains(folder + BlobFile.value(named: name)) {
                let path = root + "/" + folder + "/" + name
                var status = stat()
                guard stat(path, &status) == 0 else { throw failure(path, "look at") }
                let limit = BlobFile.isHandedOver(status) ? min(date, handedOver) : date
                guard BlobFile.isUnused(status, since: limit) else { continue }
                guard unlink(path) == 0 else { throw failure(path, "remove") }
                removed.add(status)
            }
        }
        return removed
    }

    /// Removes these values, which nothing names any more, but what was handed to a receiver since `handedOver`.
    ///
    /// - Returns: nil: nothing was, as somebody copies them.
    /// - Throws: `BlobStoreError`.
    func remove(
        _ digests: Set<BlobDigest>, handedOverSince handedOver: Date
    ) throws(BlobStoreError) -> Removed? {
        guard let lock = BlobFolderLock(toRemoveFrom: root) else { return nil }
        defer { lock.end() }
        var removed = Removed()
        for digest in digests {
            let path = path(of: digest)
            guard unlink(path + LostValues.suffix) == 0 || errno == ENOENT else { throw failure(path + LostValues.suffix, "remove") }
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            guard !BlobFile.isHandedOver(status) || BlobFile.isUnused(status, since: handedOver) else { continue }
            guard unlink(path) == 0 else { throw failure(path, "remove") }
            removed.add(status)
        }
        return removed
    }

    enum Part {
        /// The bytes asked for (fewer at the value's end), and the size of the whole.
        case bytes(Data, of: UInt64)
        case missing
        /// The file is there. One that cannot be read says nothing of the others: who asked for it does without, and all else goes on.
        case unreadable(BlobStoreError)
    }

    /// Reads a part of a value.
    func read(_ digest: BlobDigest, offset: UInt64, length: Int) -> Part {
        let path = path(of: digest)
        // What is no file is not waited for.
        let descriptor = openFile(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 && errno == ENOENT { return .missing }
        guard descriptor >= 0 else { return .unreadable(failure(path, "open")) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .unreadable(failure(path, "look at")) }
        let size = UInt64(status.st_size)
        guard offset < size else { return .bytes(Data(), of: size) }
        var data = Data(count: min(length, Int(size - offset)))
        var filled = 0
        while filled < data.count {
            let count = data.withUnsafeMutableBytes { bytes in
                pread(descriptor, bytes.baseAddress.map { $0 + filled }, bytes.count - filled, Int(offset) + filled)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                return .unreadable(
                    count == 0 ? BlobStoreError(path: path, action: "read", reason: "it has become shorter") : failure(path, "read"))
            }
            filled += count
        }
        return .bytes(data, of: size)
    }

    /// Waits while the process, or the system, has no descriptor left: connections may have them all, and that says nothing of the disk.
    private func openFile(_ path: String, _ flags: Int32) -> Int32 {
        while true {
            let descriptor = open(path, flags, 0o600)
            guard descriptor < 0 else { return descriptor }
            let reason = errno
            guard [EMFILE, ENFILE].contains(reason), mayWaitForDescriptor() else {
                errno = reason
                return -1
            }
            poll(nil, 0, Self.descriptorPauseMilliseconds)
        }
    }

    /// Between two attempts to open a file.
    private static let descriptorPauseMilliseconds: Int32 = 20

    private func folder(of digest: BlobDigest) -> String { digest.folder(below: root) }
    private func path(of digest: BlobDigest) -> String { digest.path(below: root) }

    /// - Returns: whether it was not there.
    @discardableResult
    private func makeDirectory(_ path: String) throws(BlobStoreError) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw failure(path, "make the directory", mayBeTriedAgain: true) }
        return false
    }

    private func sync(_ directory: String) throws(BlobStoreError) {
        do { try DataDirectory.sync(directory: directory) } catch {
            throw BlobStoreError(path: directory, action: "sync the directory", reason: "\(error)")
        }
    }

    private func failure(_ path: String, _ action: String, mayBeTriedAgain: Bool = false) -> BlobStoreError {
        BlobStoreError(path: path, action: action, code: errno, mayBeTriedAgain: mayBeTriedAgain)
    }
}
