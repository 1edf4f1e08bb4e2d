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
        guard let first = text.utf8.first, isWord(first), text.utf8.count <= nameBytesMax, text != Enrolment.word else { return false }
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
/// Join tokens have lines of their own, see ``Enrolment``. Comments and empty lines stay where they are when the file is changed; they are
/// no part of what two of these are compared by.
public struct AuthorizedKeys: Sendable, Hashable {
    public private(set) var principals: [Principal]
    /// Those that are open, and those that were used and would not have expired yet.
    public private(set) var enrolments: [Enrolment]
    private var layout = AuthorizedLayout()
    /// Where it was read, for errors; empty: nowhere.
    private var path = ""

    public static func == (left: AuthorizedKeys, right: AuthorizedKeys) -> Bool {
        left.principals == right.principals && left.enrolments == right.enrolments
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(principals)
        hasher.combine(enrolments)
    }

    public init(_ principals: [Principal] = [], enrolments: [Enrolment] = []) {
        self.principals = principals
        self.enrolments = enrolments
    }

    /// - Throws: ``KeyError`` with the line that cannot be read, because the file is not this user's alone (`listMode`, `foreignList`), or
    ///   since it is missing (`noList`).
    public init(contentsOf path: String) throws(KeyError) { try self.init(text: try Self.read(path), path: path) }

    /// What is wrong with the file is said of a list: it holds no secret.
    private static func read(_ path: String) throws(KeyError) -> String {
        do throws(KeyError) { return try PrivateFile.read(path) } catch {
            switch error {
            case .missing: throw .noList(path: path)
            case .mode(_, let mode): throw .listMode(path: path, mode: mode)
            case .foreign(_, let owner): throw .foreignList(path: path, owner: owner)
            default: throw error
            }
        }
    }

    /// - Parameter path: for the errors.
    package init(text: String, path: String) throws(KeyError) {
        var principals: [Principal] = []
        var enrolments: [Enrolment] = []
        var names: [PublicKey: String] = [:]
        var layout = AuthorizedLayout()
        for (number, content, isRemark) in KeyLines.every(text) {
            guard !isRemark else {
                layout.add(remark: content)
                continue
            }
            func malformed(_ problem: String) -> KeyError {
                .malformed(path: path, line: number, problem: "\(problem); mend that line, or take it out")
            }
            let line = try AuthorizedLine(content, malformed)
            if let other = names.updateValue(line.name, forKey: line.key) {
                throw malformed("the key is there twice; it is also the one of `\(other)`")
            }
            layout.add(line.key)
            switch line {
            case .principal(let principal): principals.append(principal)
            case .enrolment(let enrolment): enrolments.append(enrolment)
            }
        }
        self.init(principals, enrolments: enrolments)
        self.layout = layout
        self.path = path
    }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { principals.isEmpty && enrolments.isEmpty }

    /// Whether somebody is let in, by a key or by a join token.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func letsAnybodyIn(at now: Int64) -> Bool { !principals.isEmpty || enrolments.contains { $0.isOpen(at: now) } }

    /// What to tell where nobody is.
    package static func nobodyText(_ path: String) -> String {
        "no key is in \(path), so that nobody is let in; `aop keys authorize NAME --role ROLE --dir \(KeyDirectory.of(path).shellWord)` lets somebody in"
    }

    /// What a key is called; nil: it is not in the list.
    func name(of key: PublicKey) -> String? {
        principals.first { $0.key == key }?.name ?? enrolments.first { $0.token == key }?.name
    }

    /// As it stands in the file.
    package var text: String { layout.text(principals.map(AuthorizedLine.principal) + enrolments.map(AuthorizedLine.enrolment)) }

    public func write(to path: String, replaces: Bool) throws(KeyError) {
        try PrivateFile.write(text, to: path, replaces: replaces)
    }

    /// Changes the file at `path`, one process at a time; running coordinators see it within a second.
    ///
    /// - Parameter waitMilliseconds: how long others may be at it; nil: as long as they like.
    /// - Parameter change: gets what is there, nothing where there is no file yet. Where it changes nothing, nothing is written.
    @discardableResult
    public static func change<Result>(
        at path: String, waitMilliseconds: Int64? = nil, _ change: (inout AuthorizedKeys) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        try KeyDirectory.check(KeyDirectory.of(path))
        // Who may not change it leaves no lock behind that keeps its owner out.
        do throws(KeyError) { _ = try read(path) } catch {
            guard case .noList = error else { throw error }
        }
        let lock = try FileLock("\(path).lock", waitMilliseconds: waitMilliseconds)
        defer { lock.release() }
        var keys: AuthorizedKeys
        do throws(KeyError) { keys = try AuthorizedKeys(contentsOf: path) } catch {
            guard case .noList = error else { throw error }
            keys = AuthorizedKeys()
        }
        let before = keys
        let result = try change(&keys)
        if keys != before { try keys.write(to: path, replaces: true) }
        return result
    }

    /// Adds a key, or replaces what it may do.
    public mutating func authorize(_ principal: Principal) throws(KeyError) {
        if let enrolment = enrolments.first(where: { $0.token == principal.key }) { throw .ofAToken(principal.key, name: enrolment.name) }
        guard let index = principals.firstIndex(where: { $0.key == principal.key }) else { return principals.append(principal) }
        guard principals[index].name == principal.name else { throw .taken(principal.key, by: principals[index].name, path: path) }
        principals[index] = principal
    }

    /// Removes one key, or all of a name. Returns what was removed.
    public mutating func revoke(_ text: String) -> [Principal] {
        let removed = principals.filter { $0.name == text || $0.key.text == text }
        principals.removeAll { removed.contains($0) }
        return removed
    }

    // MARK: Join tokens

    /// Lets a join token be used, and forgets those whose time is over.
    public mutating func offer(_ enrolment: Enrolment, at now: Int64) {
        enrolments.removeAll { $0.until <= now }
        enrolments.append(enrolment)
    }

    /// Exchanges a join token for a key, if it may be.
    ///
    /// - Parameter now: milliseconds since 1970.
    public mutating func enrol(_ key: PublicKey, for token: PublicKey, at now: Int64) -> EnrolmentAnswer {
        guard let index = enrolments.firstIndex(where: { $0.token == token }) else { return .refused(.unknown) }
        let enrolment = enrolments[index]
        let known = principals.first { $0.key == key }
        if let earlier = enrolment.key {
            guard earlier == key else { return .refused(.used(name: enrolment.name, key: earlier)) }
            return known.map { .repeated($0) } ?? .refused(.revoked(name: enrolment.name, key: key))
        }
        guard now < enrolment.until else { return .refused(.expired(name: enrolment.name, until: enrolment.until)) }
        guard !enrolments.contains(where: { $0.token == key }) else { return .refused(.ofAToken(key)) }
        let principal = enrolment.principal(with: key)
        if let known {
            // Of a host whose earlier token was used and whose answer was lost. Nobody else's rights are changed by a token.
            guard known == principal else { return .refused(.taken(key, name: known.name)) }
        } else {
            principals.append(principal)
        }
        enrolments[index].key = key
        enrolments.removeAll { $0.until <= now }
        return .enrolled(principal)
    }

    /// Takes back one join token that was not used, or all of a name. Returns what was removed.
    public mutating func withdraw(_ text: String) -> [Enrolment] {
        let removed = enrolments.filter { $0.key == nil && ($0.name == text || $0.token.text == text) }
        enrolments.removeAll { removed.contains($0) }
        return removed
    }
}

/// A lock of the system that one process has at a time, until it is released or its process ends.
private struct FileLock {
    private let descriptor: Int32
    private static let retryMicroseconds: UInt32 = 20_000

    init(_ path: String, waitMilliseconds: Int64?) throws(KeyError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            var status = stat()
            if code == EACCES, lstat(path, &status) == 0, status.st_uid != geteuid() {
                throw .foreignLock(path: path, owner: status.st_uid)
            }
            // The file itself would have been made.
            if code == ENOENT { throw .noCoordinatorKey(directory: KeyDirectory.of(path)) }
            throw .system(SystemCallError(operation: "open", subject: path, errno: code))
        }
        let deadline = waitMilliseconds.map { BootClock.milliseconds() + $0 }
        while flock(descriptor, deadline == nil ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let code = errno
            // flock knows no time limit.
            if code == EWOULDBLOCK, let deadline, BootClock.milliseconds() < deadline {
                usleep(Self.retryMicroseconds)
                continue
            }
            close(descriptor)
            if code == EWOULDBLOCK { throw .busy(path: path) }
            throw .system(SystemCallError(operation: "flock", subject: path, errno: code))
        }
    }

    func release() { close(descriptor) }
}
