import Glibc

/// What the holder of a key may do.
public enum KeyRole: String, Sendable, Hashable, CaseIterable {
    /// Submit, and watch and steer what it has submitted itself.
    case submit
    /// Be a worker.
    case work
    /// Read everything.
    case observe
    /// Everything.
    case admin
}

/// Who a key is, and what it may do.
public struct Principal: Sendable, Hashable {
    public static let nameBytesMax = 64

    /// Several keys may have one name: while they are replaced, for instance. What is submitted belongs to the name.
    public var name: String
    public var key: PublicKey
    public var roles: Set<KeyRole>
    /// Names of operations, groups and conditions that it may submit, or run as a worker; empty: any.
    public var operations: [String]
    /// Labels that it may have as a worker; empty: any.
    public var labels: [String]

    public init(name: String, key: PublicKey, roles: Set<KeyRole>, operations: [String] = [], labels: [String] = []) {
        self.name = name
        self.key = key
        self.roles = roles
        self.operations = operations
        self.labels = labels
    }

    /// In the order in which they are always written.
    public var roleNames: [String] { KeyRole.allCases.filter(roles.contains).map(\.rawValue) }

    /// Whether it may do what this role may.
    public func has(_ role: KeyRole) -> Bool { roles.contains(role) || roles.contains(.admin) }

    public static func isName(_ text: String) -> Bool {
        func isWord(_ byte: UInt8) -> Bool {
            byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
        }
        guard let first = text.utf8.first, isWord(first), text.utf8.count <= nameBytesMax else { return false }
        return text.utf8.allSatisfy { isWord($0) || "._-@".utf8.contains($0) }
    }

    /// What stands in a list that a comma parts.
    public static func isListed(_ text: String) -> Bool { !text.isEmpty && !text.contains { $0.isWhitespace || $0 == "," } }
}

/// The keys that a coordinator lets in: the file `authorized` of its directory of keys.
///
/// ```
/// # name  public key  roles  [operations=NAME,…]  [labels=NAME,…]
/// admin Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID admin
/// ci rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7 submit,observe operations=shell,noop
/// ```
public struct AuthorizedKeys: Sendable, Hashable {
    public private(set) var principals: [Principal]

    public init(_ principals: [Principal] = []) { self.principals = principals }

    /// - Throws: ``KeyError`` with the line that cannot be read, or because the file is not this user's alone.
    public init(contentsOf path: String) throws(KeyError) {
        var principals: [Principal] = []
        var names: [PublicKey: String] = [:]
        for (number, line) in KeyLines.of(try PrivateFile.read(path)) {
            let principal = try Self.principal(line, path: path, number: number)
            if let other = names.updateValue(principal.name, forKey: principal.key) {
                throw .malformed(path: path, line: number, problem: "the key is there twice; it is also the one of `\(other)`")
            }
            principals.append(principal)
        }
        self.init(principals)
    }

    private static func principal(_ line: Substring, path: String, number: Int) throws(KeyError) -> Principal {
        func malformed(_ problem: String) -> KeyError { .malformed(path: path, line: number, problem: problem) }
        let words = line.split(separator: " ")
        guard words.count >= 3 else { throw malformed("a line is a name, a public key and roles, with a space between") }
        guard Principal.isName(String(words[0])) else { throw .name(String(words[0])) }
        guard let key = PublicKey(words[1]) else {
            throw malformed("the second word is no public key of \(PublicKey.characters) characters")
        }
        var roles: Set<KeyRole> = []
        for word in words[2].split(separator: ",", omittingEmptySubsequences: false) {
            guard let role = KeyRole(rawValue: String(word)) else {
                throw malformed("`\(word)` is no role; they are \(KeyRole.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            roles.insert(role)
        }
        var principal = Principal(name: String(words[0]), key: key, roles: roles)
        for word in words.dropFirst(3) {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let list = parts.count == 2 ? parts[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init) : []
            guard !list.isEmpty, list.allSatisfy({ !$0.isEmpty }) else {
                throw malformed("`\(word)` is no limit: write operations=NAME,… or labels=NAME,…")
            }
            switch parts[0] {
            case "operations" where principal.operations.isEmpty: principal.operations = list
            case "labels" where principal.labels.isEmpty: principal.labels = list
            default: throw malformed("`\(word)` is no limit, or is there twice: write operations=NAME,… or labels=NAME,…")
            }
        }
        return principal
    }

    /// As it stands in the file.
    var text: String {
        let lines = principals.map { principal in
            var words = [principal.name, principal.key.text, principal.roleNames.joined(separator: ",")]
            if !principal.operations.isEmpty { words.append("operations=" + principal.operations.joined(separator: ",")) }
            if !principal.labels.isEmpty { words.append("labels=" + principal.labels.joined(separator: ",")) }
            return words.joined(separator: " ")
        }
        return (["# name  public key  roles  [operations=NAME,…]  [labels=NAME,…]"] + lines).joined(separator: "\n") + "\n"
    }

    public func write(to path: String, replaces: Bool) throws(KeyError) {
        try PrivateFile.write(text, to: path, replaces: replaces)
    }

    /// Changes the file at `path`, one process at a time; running coordinators see it within a second.
    ///
    /// - Parameter change: gets what is there, nothing where there is no file yet.
    @discardableResult
    public static func change<Result>(
        at path: String, _ change: (inout AuthorizedKeys) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .system(SystemCallError(operation: "open", subject: "\(path).lock", errno: errno)) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .system(SystemCallError(operation: "flock", subject: "\(path).lock", errno: errno)) }
        }
        var keys: AuthorizedKeys
        do throws(KeyError) { keys = try AuthorizedKeys(contentsOf: path) } catch {
            guard case .missing = error else { throw error }
            keys = AuthorizedKeys()
        }
        let result = try change(&keys)
        try keys.write(to: path, replaces: true)
        return result
    }

    /// Adds a key, or replaces what it may do.
    public mutating func authorize(_ principal: Principal) throws(KeyError) {
        guard let index = principals.firstIndex(where: { $0.key == principal.key }) else { return principals.append(principal) }
        guard principals[index].name == principal.name else { throw .taken(principal.key, by: principals[index].name) }
        principals[index] = principal
    }

    /// Removes one key, or all of a name. Returns what was removed.
    public mutating func revoke(_ text: String) -> [Principal] {
        let removed = principals.filter { $0.name == text || $0.key.text == text }
        principals.removeAll { removed.contains($0) }
        return removed
    }
}
