import Foundation

/// A new file, open for writing; removed when it is released, unless it is kept.
final class TemporaryFile {
    /// Where it is made, and for whom.
    struct Place: Sendable {
        var directory: URL
        var prefix: String
        /// As the process's mask leaves it.
        var mode: mode_t

        /// In the directory for temporary files, for its owner alone.
        static var temporary: Place {
            Place(directory: FileManager.default.temporaryDirectory, prefix: "AOperation-", mode: S_IRUSR | S_IWUSR)
        }

        /// Beside a file that it will replace, hidden, for whoever may read new files.
        static func beside(_ file: URL) -> Place {
            Place(directory: file.deletingLastPathComponent(), prefix: ".AOperation-", mode: 0o666)
        }
    }

    let url: URL
    private let descriptor: Int32
    private var isKept = false

    /// - Throws: `URLError.cannotCreateFile`.
    init(in place: Place = .temporary) throws(URLError) {
        let url = place.directory.appendingPathComponent("\(place.prefix)\(UUID().uuidString).tmp")
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, place.mode)
        // Thrown before anything is stored: what was not created here is not removed either.
        guard descriptor >= 0 else { throw Self.fault(.cannotCreateFile, "create", url) }
        self.url = url
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
        if !isKept { unlink(url.path) }
    }

    /// - Throws: `URLError.cannotWriteToFile`, e.g. when the disk is full.
    func write(_ data: Data) throws(URLError) {
        var rest = data
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                buffer.baseAddress.map { Foundation.write(descriptor, $0, buffer.count) } ?? 0
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw Self.fault(.cannotWriteToFile, "write to", url)
            }
        }
    }

    /// Leaves the file where it is; from now on it is the caller's.
    func keep() -> URL {
        isKept = true
        return url
    }

    private static func fault(_ code: URLError.Code, _ what: String, _ url: URL) -> URLError {
        let number = errno
        return .about(
            url, code, "Cannot \(what) \(url.path): \(String(cString: strerror(number)))",
            underlying: POSIXErrorCode(rawValue: number).map { POSIXError($0) })
    }
}
