import Glibc

/// The keys of a new cluster, so made that an interruption is in nobody's way.
///
/// All of them are written to a directory of their own first, `init.unfinished`, whose last file is the coordinator's key: with that it is
/// complete. Only then they get their names, the coordinator's again the last one, as with it a coordinator asks for keys. Who comes
/// after an interruption throws away what is not complete, and goes on with what is.
public enum InitialKeys {
    /// The peers' keys, and what each may do.
    public static let roles: [(name: String, role: KeyRole)] = [("worker", .work), ("submit", .submit), ("admin", .admin)]
    /// All files, the one with which it is done the last.
    public static let files = roles.map { "\($0.name).key" } + [KeyDirectory.authorizedFile, KeyDirectory.coordinatorFile]
    static let stage = "init.unfinished"

    /// - Returns: the coordinator's public key.
    /// - Throws: ``KeyError``: `exists` or `halfThere` where there are keys already; they are never written over. `directoryMode` where others
    ///   may write.
    public static func make(in directory: String) throws(KeyError) -> PublicKey {
        try KeyDirectory.make(directory)
        let lock = try lock(directory)
        defer { close(lock) }
        let stage = "\(directory)/\(stage)"
        if !KeyDirectory.exists(KeyDirectory.coordinatorFile, in: stage) {
            // Nothing of it has got its name.
            try remove(stage)
            try refuseWhatIsThere(in: directory)
            try write(to: stage)
        }
        let server = try KeyFile(contentsOf: "\(stage)/\(KeyDirectory.coordinatorFile)").pair.publicKey
        for file in files { try name("\(stage)/\(file)", "\(directory)/\(file)") }
        try remove(stage)
        return server
    }

    /// One at a time. The directory itself is locked: that leaves nothing behind.
    private static func lock(_ directory: String) throws(KeyError) -> Int32 {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try check(descriptor, "open", directory)
        while flock(descriptor, LOCK_EX) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            throw .system(SystemCallError(operation: "flock", subject: directory, errno: code))
        }
        return descriptor
    }

    private static func refuseWhatIsThere(in directory: String) throws(KeyError) {
        guard let found = files.last(where: { KeyDirectory.exists($0, in: directory) }) else { return }
        let path = "\(directory)/\(found)"
        throw found == KeyDirectory.coordinatorFile ? .exists(path: path) : .halfThere(path: path)
    }

    private static func write(to stage: String) throws(KeyError) {
        try check(mkdir(stage, 0o700), "mkdir", stage)
        let server = try pair()
        var principals: [Principal] = []
        for (name, role) in roles {
            let pair = try pair()
            try KeyFile(name: name, pair: pair, serverKey: server.publicKey).write(to: "\(stage)/\(name).key")
            principals.append(Principal(name: name, key: pair.publicKey, roles: [role]))
        }
        try AuthorizedKeys(principals).write(to: "\(stage)/\(KeyDirectory.authorizedFile)", replaces: false)
        try KeyFile(name: "coordinator", pair: server, serverKey: nil).write(to: "\(stage)/\(KeyDirectory.coordinatorFile)")
    }

    private static func pair() throws(KeyError) -> KeyPair {
        do throws(ZMQError) { return try KeyPair() } catch { throw .keys(error) }
    }

    /// Gives the file its name, if it has not got it before.
    private static func name(_ staged: String, _ path: String) throws(KeyError) {
        guard link(staged, path) != 0 else { return }
        guard errno == EEXIST else { throw .system(SystemCallError(operation: "link", subject: path, errno: errno)) }
        var (one, other) = (stat(), stat())
        guard stat(staged, &one) == 0, stat(path, &other) == 0, one.st_ino == other.st_ino, one.st_dev == other.st_dev else {
            throw .exists(path: path)
        }
    }

    /// The coordinator's key first: what is left of an interrupted removal is not complete, and thrown away by the next one.
    private static func remove(_ stage: String) throws(KeyError) {
        for file in files.reversed() where unlink("\(stage)/\(file)") != 0 && errno != ENOENT {
            throw .system(SystemCallError(operation: "unlink", subject: "\(stage)/\(file)", errno: errno))
        }
        // What was being written when it was interrupted has a name of its own.
        guard let listing = opendir(stage) else {
            guard errno == ENOENT else { throw .system(SystemCallError(operation: "opendir", subject: stage, errno: errno)) }
            return
        }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard files.contains(where: { name.hasPrefix("\($0).") }) else { continue }
            try check(unlink("\(stage)/\(name)"), "unlink", "\(stage)/\(name)")
        }
        try check(rmdir(stage), "rmdir", stage)
    }

    private static func check(_ result: Int32, _ operation: String, _ subject: String) throws(KeyError) {
        guard result >= 0 else { throw .system(SystemCallError(operation: operation, subject: subject, errno: errno)) }
    }
}
