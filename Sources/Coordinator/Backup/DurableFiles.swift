import Foundation

/// Copies and renames whose results are on the disk when they return.
enum DurableFiles {
    private static let pieceBytes = 1 << 20

    /// A new file with mode 0600 and the content of another.
    ///
    /// - Returns: false when there is nothing at `source`.
    /// - Throws: `BackupError.file`.
    @discardableResult
    static func copy(_ source: String, to destination: String) throws(BackupError) -> Bool {
        // What is no file is not waited for.
        let input = open(source, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if input < 0, errno == ENOENT { return false }
        guard input >= 0 else { throw failure(source, "open") }
        defer { close(input) }
        guard isFile(source) else {
            errno = EINVAL
            throw failure(source, "copy what is no file")
        }
        let output = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw failure(destination, "make the file") }
        defer { close(output) }
        var piece = [UInt8](repeating: 0, count: pieceBytes)
        while true {
            let count = read(input, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(source, "read") }
            guard count > 0 else { break }
            try write(piece[..<count], to: output, at: destination)
        }
        guard fsync(output) == 0 else { throw failure(destination, "sync") }
        return true
    }

    /// A file of this content, in the place of one that is there.
    ///
    /// - Throws: `BackupError.file`.
    static func write(_ bytes: [UInt8], to path: String) throws(BackupError) {
        let unfinished = path + ".unfinished"
        let output = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw failure(unfinished, "make the file") }
        defer { close(output) }
        try write(bytes[...], to: output, at: unfinished)
        guard fsync(output) == 0 else { throw failure(unfinished, "sync") }
        try rename(unfinished, to: path)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, at path: String) throws(BackupError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path, "write") }
            rest = rest.dropFirst(count)
        }
    }

    /// - Returns: whether it was not there.
    @discardableResult
    static func makeDirectory(_ path: String) throws(BackupError) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw failure(path, "make the directory") }
        return false
    }

    static func rename(_ source: String, to destination: String) throws(BackupError) {
        guard Foundation.rename(source, destination) == 0 else { throw failure(source, "rename to \(destination)") }
    }

    static func sync(directory: String) throws(BackupError) {
        do { try DataDirectory.sync(directory: directory) } catch {
            throw .file(path: directory, action: "sync the directory", reason: "\(error)")
        }
    }

    static func names(in directory: String) throws(BackupError) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: directory).sorted() } catch {
            throw .file(path: directory, action: "list the directory", reason: "\(error)")
        }
    }

    /// Bytes of a file; 0: it is not there.
    static func size(of path: String) throws(BackupError) -> Int64 {
        var status = stat()
        if stat(path, &status) == 0 { return Int64(status.st_size) }
        guard errno == ENOENT else { throw failure(path, "look at") }
        return 0
    }

    /// Whether both are there and are the same, whatever links lead to them.
    static func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(path, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// A file, and nothing else that can have a name.
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    static func hasContent(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size > 0
    }

    static func remove(_ path: String) throws(BackupError) {
        guard isThere(path) else { return }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            throw .file(path: path, action: "remove", reason: "\(error)")
        }
    }

    /// A time as a part of a file's name, in UTC: 20270131T020000Z.
    static func name(of date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd'T'HHmmss'Z'"
        return formatter.string(from: date)
    }

    static func failure(_ path: String, _ action: String) -> BackupError {
        .file(path: path, action: action, reason: DataDirectory.reason(errno))
    }

    /// Copies the large values that are in one store and not in the other. A file there is whole, as it has its name only then;
    /// so it is in the copy, too, which gets its name when all of it is there.
    ///
    /// - Throws: `BackupError.file`.
    static func copyValues(from source: String, to destination: String) throws(BackupError) {
        guard isThere(source) else { return }
        try makeDirectory(destination)
        for folder in try names(in: source) where folder.utf8.count == 2 {
            try makeDirectory(destination + "/" + folder)
            var isChanged = false
            for name in try names(in: source + "/" + folder) where !isThere("\(destination)/\(folder)/\(name)") {
                isChanged = true
                // False: it was forgotten meanwhile.
                if try copy("\(source)/\(folder)/\(name)", to: "\(destination)/\(folder)/\(name)") {
                    BlobFile.copyMark(of: "\(source)/\(folder)/\(name)", to: "\(destination)/\(folder)/\(name)")
                }
            }
            if isChanged { try sync(directory: destination + "/" + folder) }
        }
        try sync(directory: destination)
    }
}
