import Foundation

/// A regular file, open for reading; closed when it is released.
final class LocalFile {
    let size: Int64
    private let url: URL
    private let descriptor: Int32

    /// - Throws: `URLError`: `.fileDoesNotExist`, `.fileIsDirectory`, `.noPermissionsToReadFile`, `.cannotOpenFile` for
    ///   what is no regular file, or `.unsupportedURL` for a file of another host.
    init(opening url: URL) throws(URLError) {
        let path = url.absoluteURL.path
        if let host = url.absoluteURL.host, !host.isEmpty, host.lowercased() != "localhost" {
            throw .about(
                url, .unsupportedURL,
                "\(url.absoluteString) is a file of the host \(host): only files of this machine are read, file://\(path).")
        }
        // A NUL would cut the path short: another file would be opened than the one that was named.
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw .about(url, .fileDoesNotExist, "There is no file at \(url.absoluteString).")
        }
        // Without O_NONBLOCK a pipe that nobody writes to would be waited for here.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(url, errno, otherwise: .cannotOpenFile, "Cannot open") }
        self.url = url
        self.descriptor = descriptor
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        size = Int64(status.st_size)
        switch isKnown ? status.st_mode & S_IFMT : 0 {
        case S_IFREG: break
        case S_IFDIR: throw .about(url, .fileIsDirectory, "\(path) is a directory.")
        default: throw .about(url, .cannotOpenFile, "\(path) is no regular file.")
        }
    }

    deinit {
        close(descriptor)
    }

    /// The next bytes, at most `count`; nil at the end.
    func read(_ count: Int) throws(URLError) -> Data? {
        var chunk = Data(count: count)
        var length = -1
        repeat {
            length = chunk.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { Foundation.read(descriptor, $0, buffer.count) } ?? 0
            }
        } while length < 0 && errno == EINTR
        guard length >= 0 else { throw .file(url, errno, otherwise: .cannotOpenFile, "Cannot read") }
        return length == 0 ? nil : chunk.prefix(length)
    }
}
