import Glibc

/// Reads and writes the files of keys: regular files of this user alone.
enum PrivateFile {
    /// No file of keys is larger: bytes.
    private static let bytesMax = 1 << 20

    /// The file's text.
    ///
    /// - Throws: ``KeyError`` when it is missing, is not this user's alone, or cannot be read.
    static func read(_ path: String) throws(KeyError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { throw .missing(path: path) }
            if code == ELOOP { throw .notARegularFile(path: path) }
            var status = stat()
            if code == EACCES, lstat(path, &status) == 0 {
                if status.st_uid != geteuid() { throw .foreign(path: path, owner: status.st_uid) }
                throw .mode(path: path, mode: status.st_mode & 0o777)
            }
            throw .system(SystemCallError(operation: "open", subject: path, errno: code))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(SystemCallError(operation: "fstat", subject: path, errno: errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile(path: path) }
        guard status.st_uid == geteuid() else { throw .foreign(path: path, owner: status.st_uid) }
        guard status.st_mode & 0o777 == 0o600 else { throw .mode(path: path, mode: status.st_mode & 0o777) }
        guard status.st_size <= bytesMax else {
            throw .malformed(path: path, line: 0, problem: "it has \(status.st_size) bytes; a file of keys has at most \(bytesMax)")
        }
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var length = 0
        while length < bytes.count {
            let received = bytes[length...].withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if received < 0, errno == EINTR { continue }
            guard received >= 0 else { throw .system(SystemCallError(operation: "read", subject: path, errno: errno)) }
            if received == 0 { break }
            length += received
        }
        return String(decoding: bytes[..<length], as: UTF8.self)
    }

    /// Writes the file as a whole: nobody ever sees half of it.
    ///
    /// - Parameter replaces: false: what is there already stays, and is an error.
    static func write(_ text: String, to path: String, replaces: Bool) throws(KeyError) {
        guard text.utf8.count <= bytesMax else {
            throw .malformed(
                path: path, line: 0,
                problem: "it would have \(text.utf8.count) bytes, and a file of keys has at most \(bytesMax); revoke what is not used")
        }
        let temporary = "\(path).\(getpid()).\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(SystemCallError(operation: "open", subject: temporary, errno: errno)) }
        defer { unlink(temporary) }
        let failure = write(Array(text.utf8), to: descriptor, path: temporary)
        guard close(descriptor) == 0 || failure != nil else {
            throw .system(SystemCallError(operation: "close", subject: temporary, errno: errno))
        }
        if let failure { throw .system(failure) }
        if replaces {
            guard rename(temporary, path) == 0 else { throw .system(SystemCallError(operation: "rename", subject: path, errno: errno)) }
        } else {
            guard link(temporary, path) == 0 else {
                if errno == EEXIST { throw .exists(path: path) }
                throw .system(SystemCallError(operation: "link", subject: path, errno: errno))
            }
        }
    }

    private static func write(_ text: [UInt8], to descriptor: Int32, path: String) -> SystemCallError? {
        // The process's umask may have taken more away than we want.
        guard fchmod(descriptor, 0o600) == 0 else { return SystemCallError(operation: "fchmod", subject: path, errno: errno) }
        var rest = text[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return SystemCallError(operation: "write", subject: path, errno: errno) }
            rest = rest.dropFirst(written)
        }
        return fsync(descriptor) == 0 ? nil : SystemCallError(operation: "fsync", subject: path, errno: errno)
    }
}
