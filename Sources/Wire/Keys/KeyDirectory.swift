import Foundation
import Glibc

/// Where keys are, unless told otherwise.
public enum KeyDirectory {
    /// The coordinator's own key.
    public static let coordinatorFile = "coordinator.key"
    /// Whom the coordinator lets in.
    public static let authorizedFile = "authorized"
    /// Keys that workers look for.
    public static let workerFiles = ["worker.key"]
    /// Keys that clients look for, the first one first.
    public static let clientFiles = ["admin.key", "submit.key"]

    /// `/etc/aop/keys` for root, else `$XDG_CONFIG_HOME/aop/keys` or `~/.config/aop/keys`. It need not exist.
    public static func standard(
        environment: [String: String] = ProcessInfo.processInfo.environment, isRoot: Bool = geteuid() == 0
    ) -> String {
        if isRoot { return "/etc/aop/keys" }
        if let configuration = environment["XDG_CONFIG_HOME"], configuration.hasPrefix("/") { return "\(configuration)/aop/keys" }
        return "\(StateDirectory.home(environment: environment))/.config/aop/keys"
    }

    /// Whether nobody but its owner can put other files in the place of those in it. One that is missing is nobody's trouble here.
    ///
    /// Asked of directories that are for keys, and not of where a single key file is that somebody has named.
    ///
    /// - Throws: ``KeyError/directoryMode(path:mode:)``, with the remedy.
    public static func check(_ directory: String) throws(KeyError) {
        var status = stat()
        guard stat(directory, &status) == 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return }
            throw .system(SystemCallError(operation: "stat", subject: directory, errno: code))
        }
        guard status.st_mode & 0o022 == 0 else { throw .directoryMode(path: directory, mode: status.st_mode & 0o7777) }
    }

    /// Makes it, for this user only, where it is missing.
    package static func create(_ directory: String) throws(KeyError) {
        do throws(SystemCallError) {
            try StateDirectory.create(directory, remedy: "name a directory you can write to with --dir (AOP_KEYS)")
        } catch { throw .system(error) }
    }

    /// Makes it where it is missing, and checks it.
    static func make(_ directory: String) throws(KeyError) {
        try create(directory)
        try check(directory)
    }

    /// How a coordinator's directory is named to peers, who are not told where it is. The log has it in this phrase's place.
    public static let unnamed = "with the --dir that its log names"

    /// That of a file.
    package static func of(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func exists(_ name: String, in directory: String) -> Bool { access("\(directory)/\(name)", F_OK) == 0 }
}

/// The key that a peer proves itself with, and by what it knows its coordinator.
public struct PeerKey: Sendable {
    /// Its file.
    public let path: String
    public let name: String
    let pair: KeyPair
    let serverKey: PublicKey

    public var publicKey: PublicKey { pair.publicKey }

    /// - Throws: ``KeyError``: the file is none that a peer can use.
    public init(contentsOf path: String) throws(KeyError) {
        let file = try KeyFile(contentsOf: path)
        guard let serverKey = file.serverKey else {
            throw .malformed(
                path: path, line: 0, problem: "it has no `server-key`, the coordinator's public key; a coordinator's own key is for no peer"
            )
        }
        (self.path, name, pair, self.serverKey) = (path, file.name, file.pair, serverKey)
    }

    /// That of a join token: it is in no file.
    init(_ token: JoinToken) { (path, name, pair, serverKey) = ("", token.name, token.pair, token.serverKey) }
}

/// Which key a peer was told to use.
public enum KeyChoice: Sendable, Hashable {
    /// `--key-file FILE`
    case file(String)
    /// `--keys DIR`
    case directory(String)
    /// Nothing was said.
    case standard

    /// What flags say outranks what the environment says.
    public init(file: String?, directory: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
        func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }
        if let file {
            self = .file(absolute(file))
        } else if let directory {
            self = .directory(absolute(directory))
        } else if let file = environment["AOP_KEY"], !file.isEmpty {
            self = .file(absolute(file))
        } else if let directory = environment["AOP_KEYS"], !directory.isEmpty {
            self = .directory(absolute(directory))
        } else {
            self = .standard
        }
    }

    /// The key for a connection to `endpoint`; nil: it takes none.
    ///
    /// Over ipc and inproc there is none: there the directory's mode or the cookie keeps others out. Over tcp a key that was named is
    /// used everywhere. One of the standard folder is used off loopback, where it is required, and on loopback if the same
    /// folder has the key of a coordinator, since such a coordinator asks for it there too.
    ///
    /// - Parameter names: of files to look for, the first one first.
    /// - Throws: ``KeyError``: it cannot be used, or there is none where one is required.
    public func key(for endpoint: Endpoint, names: [String]) throws(KeyError) -> PeerKey? {
        guard let path = try path(for: endpoint, names: names) else { return nil }
        return try PeerKey(contentsOf: path)
    }

    /// The file of that key, which is not opened and, if it was named, need not be there.
    public func path(for endpoint: Endpoint, names: [String]) throws(KeyError) -> String? {
        guard endpoint.port != nil else { return nil }
        switch self {
        case .file(let path): return path
        case .directory(let directory):
            guard let name = names.first(where: { KeyDirectory.exists($0, in: directory) }) else {
                throw .noneOf(names: names, directory: directory, endpoint: endpoint)
            }
            return "\(directory)/\(name)"
        case .standard:
            let directory = KeyDirectory.standard()
            if endpoint.isLoopback, !KeyDirectory.exists(KeyDirectory.coordinatorFile, in: directory) { return nil }
            guard let name = names.first(where: { KeyDirectory.exists($0, in: directory) }) else {
                if endpoint.isLoopback { throw .noneOf(names: names, directory: directory, endpoint: endpoint) }
                throw .required(names: names, directory: directory, endpoint: endpoint)
            }
            return "\(directory)/\(name)"
        }
    }

    /// Where keys are looked for; nil: the file was named.
    public var folder: String? {
        switch self {
        case .file: nil
        case .directory(let directory): directory
        case .standard: KeyDirectory.standard()
        }
    }
}

/// A coordinator's key, and where it says whom it lets in.
public struct CoordinatorKeys: Sendable {
    public let pair: KeyPair
    /// The file of the keys that are let in; read again when it changes.
    public let authorizedPath: String

    /// - Throws: ``KeyError``: also where the directory is not its owner's alone, or the key is a peer's.
    public init(directory: String) throws(KeyError) {
        guard KeyDirectory.exists(KeyDirectory.coordinatorFile, in: directory) else { throw .noCoordinatorKey(directory: directory) }
        try KeyDirectory.check(directory)
        let file = try KeyFile(contentsOf: "\(directory)/\(KeyDirectory.coordinatorFile)")
        guard file.serverKey == nil else { throw .peersKey(path: file.path) }
        pair = file.pair
        authorizedPath = "\(directory)/\(KeyDirectory.authorizedFile)"
    }

    /// The list as it is now.
    ///
    /// - Throws: ``KeyError``: also where the coordinator's own key is in it, since who has that is the coordinator.
    public func authorized() throws(KeyError) -> AuthorizedKeys {
        let keys = try AuthorizedKeys(contentsOf: authorizedPath)
        let own = pair.publicKey
        if let name = keys.name(of: own) { throw .listsOwnKey(own, name: name, path: authorizedPath) }
        return keys
    }

    /// Those of the named directory, else of the standard folder if it has any; nil: there are none.
    public static func find(
        directory: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(KeyError) -> CoordinatorKeys? {
        if case .directory(let directory) = KeyChoice(
            file: nil, directory: directory, environment: environment.filter { $0.key == "AOP_KEYS" })
        {
            return try CoordinatorKeys(directory: directory)
        }
        let directory = KeyDirectory.standard(environment: environment)
        return KeyDirectory.exists(KeyDirectory.coordinatorFile, in: directory) ? try CoordinatorKeys(directory: directory) : nil
    }
}
