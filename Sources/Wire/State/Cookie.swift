import Glibc

/// The secret that keeps a host's other users out of a coordinator on loopback: 32 random bytes, hexadecimal, in a file that
/// only its owner may read.
public enum Cookie {
    /// Bytes of a cookie.
    public static let count = 32

    /// The cookie in `directory`; nil when there is none.
    ///
    /// - Parameter name: of the file, for another secret of the same kind.
    /// - Throws: ``CookieError`` when the file is not this user's alone, or does not hold a cookie.
    public static func load(directory: String = StateDirectory.path(), named name: String = fileName) throws(CookieError) -> [UInt8]? {
        let path = path(in: directory, name)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            if errno == ELOOP { throw .notARegularFile(path: path) }
            throw .system(SystemCallError(operation: "open", subject: path, errno: errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(SystemCallError(operation: "fstat", subject: path, errno: errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile(path: path) }
        guard status.st_uid == geteuid() else { throw .foreign(path: path, owner: status.st_uid) }
        guard status.st_mode & 0o777 == 0o600 else { throw .mode(path: path, mode: status.st_mode & 0o777) }
        return try parse(descriptor, path: path)
    }

    /// The cookie in `directory`, made first if there is none. Any number of processes may do so at once: all get the same.
    ///
    /// - Throws: ``CookieError``.
    public static func loadOrCreate(
        directory: String = StateDirectory.path(), named name: String = fileName
    ) throws(CookieError) -> [UInt8] {
        if let cookie = try load(directory: directory, named: name) { return cookie }
        do {
            try StateDirectory.create(directory)
        } catch {
            throw .system(error)
        }
        try create(in: directory, name)
        guard let cookie = try load(directory: directory, named: name) else {
            throw .system(
                SystemCallError(
                    operation: "open", subject: path(in: directory, name), errno: ENOENT, remedy: "it was removed just now: try again"))
        }
        return cookie
    }

    /// Whether ``loadOrCreate(directory:named:)`` can make one, without changing anything.
    ///
    /// - Throws: ``CookieError`` with what to do.
    package static func checkCanBeMade(directory: String = StateDirectory.path()) throws(CookieError) {
        do { try StateDirectory.checkCanBeCreated(directory) } catch { throw .system(error) }
    }

    /// Whether both are the same cookie, in a time that does not tell where they differ.
    public static func isEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
        guard one.count == other.count, one.count == count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Of the file in its directory.
    public static let fileName = "cookie"

    private static func path(in directory: String, _ name: String) -> String { "\(directory)/\(name)" }

    private static func parse(_ descriptor: Int32, path: String) throws(CookieError) -> [UInt8] {
        var text = [UInt8](repeating: 0, count: 2 * count + 2)
        var length = 0
        while length < text.count {
            let received = text[length...].withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if received < 0, errno == EINTR { continue }
            guard received >= 0 else { throw .system(SystemCallError(operation: "read", subject: path, errno: errno)) }
            if received == 0 { break }
            length += received
        }
        var digits = text[..<length]
        if digits.last == UInt8(ascii: "\n") { digits.removeLast() }
        guard let bytes = Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self)), bytes.count == count else {
            throw .malformed(path: path)
        }
        return bytes
    }

    /// Writes a new cookie beside its place and links it there, so that nobody ever sees half of one and the first wins.
    private static func create(in directory: String, _ name: String) throws(CookieError) {
        let path = path(in: directory, name)
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let suffix = UInt64.random(in: .min ... .max, using: &generator)
        let temporary = "\(path).\(getpid()).\(String(suffix, radix: 16))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(SystemCallError(operation: "open", subject: temporary, errno: errno)) }
        defer { unlink(temporary) }
        let failure = write(Array("\(Hexadecimal.text(of: bytes))\n".utf8), to: descriptor, path: temporary)
        guard close(descriptor) == 0 || failure != nil else {
            throw .system(SystemCallError(operation: "close", subject: temporary, errno: errno))
        }
        if let failure { throw .system(failure) }
        guard link(temporary, path) == 0 || errno == EEXIST else {
            throw .system(SystemCallError(operation: "link", subject: path, errno: errno))
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

/// A cookie file that cannot be used. The cookie itself never appears.
public enum CookieError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Others than its owner may use it (or its owner may not).
    case mode(path: String, mode: UInt32)
    /// It belongs to another user.
    case foreign(path: String, owner: UInt32)
    case notARegularFile(path: String)
    case malformed(path: String)
    case system(SystemCallError)

    public var description: String {
        switch self {
        case .mode(let path, let mode):
            "the cookie file \(path) has mode \(Self.octal(mode)), and must have 0600; if nobody else has read it: chmod 600 \(path.shellWord), else remove it and restart the coordinator"
        case .foreign(let path, let owner):
            "the cookie file \(path) belongs to user \(owner), not to you (\(geteuid())); set XDG_STATE_HOME to a directory of your own"
        case .notARegularFile(let path):
            "the cookie file \(path) is not a regular file; remove it and restart the coordinator"
        case .malformed(let path):
            "the cookie file \(path) does not hold \(2 * Cookie.count) hexadecimal digits; remove it and restart the coordinator"
        case .system(let error):
            "the cookie cannot be read or made: \(error)"
        }
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
