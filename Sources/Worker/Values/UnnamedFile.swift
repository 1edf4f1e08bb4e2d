import Foundation
import Wire

/// A file without a name, for a value that is too large for memory: it is written piece by piece, and then mapped.
///
/// Its room on the disk is free as soon as nobody refers to it any more, also when the process is killed. Its calls wait for the disk: none
/// is for an event loop, which has ``SpilledValue``.
final class UnnamedFile {
    private let directory: String
    private let descriptor: Int32
    /// Bytes in it.
    private(set) var count = 0

    /// - Throws: ``SystemCallError`` when it cannot be made.
    init(in directory: String) throws {
        let path = "\(directory)/value-\(UUID().uuidString)"
        self.directory = directory
        func make() -> Int32 { open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        var made = make()
        if made < 0, case let problem = errno, problem == ENOENT || problem == ENOTDIR {
            do { try TemporaryDirectory.ensure(directory) } catch { throw Self.failure("open", directory, problem) }
            made = make()
        }
        descriptor = made
        guard made >= 0 else { throw Self.failure("open", directory, errno) }
        guard unlink(path) == 0 else { throw Self.failure("unlink", directory, errno) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // To give back the room of a large file takes its time, and this may be the thread of an event loop.
        DispatchQueue.global().async { [descriptor] in close(descriptor) }
    }

    /// Adds bytes at the end.
    ///
    /// - Throws: ``SystemCallError``, e.g. when the disk is full.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let result = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if result < 0 && errno == EINTR { continue }
            guard result > 0 else { throw Self.failure("write", directory, errno) }
            written += result
        }
        count += written
    }

    /// All bytes, which are read from the disk when they are looked at. Nothing may be written afterwards.
    ///
    /// - Throws: ``SystemCallError``.
    func map() throws -> Data {
        guard count > 0 else { return Data() }
        // Writable, since who has the only `Data` of some memory changes it in place; private, so that the file is not changed by that.
        let mapped: UnsafeMutableRawPointer? = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0)
        guard let place = mapped, Int(bitPattern: place) != -1 else { throw Self.failure("mmap", directory, errno) }
        return Data(
            bytesNoCopy: place, count: count,
            deallocator: .custom { start, count in
                // As for closing it.
                nonisolated(unsafe) let mapping = start
                DispatchQueue.global().async { _ = munmap(mapping, count) }
            })
    }

    private static func failure(_ operation: String, _ directory: String, _ code: Int32) -> SystemCallError {
        let remedy =
            code == EFBIG
            ? FileSizeLimit.text ?? "its file system takes no file so large; start the worker with another TMPDIR"
            : "make room there, or start the worker with another TMPDIR"
        return SystemCallError(operation: operation, subject: "a large value in \(directory)", errno: code, remedy: remedy)
    }
}
