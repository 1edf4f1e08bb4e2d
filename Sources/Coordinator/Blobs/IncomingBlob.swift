import CLinux
import Foundation
import Wire

/// A large value on its way in: a temporary file that grows chunk by chunk, hashed as it grows.
///
/// Belongs to one thread. What is neither kept nor discarded goes with the object.
final class IncomingBlob {
    let path: String
    private(set) var size: UInt64 = 0
    private var hasher = BlobHasher()
    private var descriptor: Int32

    /// - Parameter descriptor: of the new file at `path`, to read and write; it belongs to the object.
    init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { discard() }

    /// Adds bytes at the end: all of them, or none.
    ///
    /// - Throws: `BlobStoreError`.
    func append(_ bytes: UnsafeRawBufferPointer) throws(BlobStoreError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, Int(size) + written)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(path, "write", mayBeTriedAgain: true) }
            written += count
        }
        hasher.update(bytes)
        size += UInt64(bytes.count)
    }

    /// Digest of everything so far. Nothing may be added afterwards.
    func digest() -> BlobDigest { hasher.finalize() }

    /// Everything added so far, read back.
    ///
    /// - Throws: `BlobStoreError`.
    func contents() throws(BlobStoreError) -> Data {
        var data = Data(count: Int(size))
        let count = data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == data.count else { throw Self.failure(path, "read back") }
        return data
    }

    /// Nothing more comes: the disk may begin with it. ``sync()`` says whether it could.
    func beginWriting() { clinux_begin_writing(descriptor) }

    /// Puts what the file has on the disk. Not to be tried again: the system may have dropped what it could not write.
    ///
    /// - Throws: `BlobStoreError`.
    func sync() throws(BlobStoreError) {
        guard fsync(descriptor) == 0 else { throw Self.failure(path, "sync") }
    }

    /// Gives the file, which is on the disk, its final name, in a directory that is synced by the caller.
    ///
    /// - Throws: `BlobStoreError`.
    func keep(as name: String) throws(BlobStoreError) {
        guard rename(path, name) == 0 else { throw Self.failure(path, "rename to \(name)") }
        close(descriptor)
        descriptor = -1
    }

    /// Removes the file.
    func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(path)
    }

    private static func failure(_ path: String, _ action: String, mayBeTriedAgain: Bool = false) -> BlobStoreError {
        BlobStoreError(path: path, action: action, code: errno, mayBeTriedAgain: mayBeTriedAgain)
    }
}
