import Foundation
import Glibc
import Wire

/// A file that is written whole or not at all: a new one takes its place. What was there keeps its rights, and a link to it stays.
struct ReplacedFile {
    /// Where links lead to.
    let path: String
    /// Those of the file that is there; nil: none is.
    private let mode: mode_t?

    /// - Throws: ``OperationFault`` for what cannot be replaced, e.g. a directory or a device.
    init(_ path: String) throws(OperationFault) {
        self.path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        var status = stat()
        guard stat(self.path, &status) == 0 else {
            mode = nil
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let kind = status.st_mode & S_IFMT == S_IFDIR ? String(cString: strerror(EISDIR)) : "it is no regular file"
            throw OperationFault(.operation, "cannot write \(path): \(kind)")
        }
        mode = status.st_mode & 0o7777
    }

    /// - Throws: ``OperationFault`` in the system's words; the file is then as it was.
    func write(_ bytes: Data) throws {
        let place = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).tmp").path
        let descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ?? 0o666)
        guard descriptor >= 0 else { throw fault(String(cString: strerror(errno))) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            do { try file.write(contentsOf: bytes) } catch { throw fault(HostPath.reason(error)) }
            try take(place)
        } catch {
            unlink(place)
            throw error
        }
    }

    /// Puts the new file `place`, of the same directory, into its place.
    func take(_ place: String) throws(OperationFault) {
        if let mode, chmod(place, mode) != 0 { throw fault(String(cString: strerror(errno))) }
        guard rename(place, path) == 0 else { throw fault(String(cString: strerror(errno))) }
    }

    private func fault(_ reason: String) -> OperationFault { OperationFault(.operation, "cannot write \(path): \(reason)") }
}
