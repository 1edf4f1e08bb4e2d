import Foundation

/// What a join token may be exchanged for, once: rights for a key that its holder makes.
///
/// In the file `authorized` it is a line of its own kind:
/// ```
/// enrol host2 rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7 work until=2026-11-23T15:00:00Z
/// ```
/// When the token has been used the line stays until then, with `for=` and the key: so who did not get the answer gets it again, and
/// anybody else is told that it has been used.
public struct Enrolment: Sendable, Hashable {
    /// With which its lines begin; no key can be called so.
    static let word = "enrol"

    public var name: String
    /// The token's public key.
    public var token: PublicKey
    public var roles: Set<KeyRole>
    /// See ``Principal/operations``.
    public var operations: [String]
    /// See ``Principal/labels``.
    public var labels: [String]
    /// From then on the token is good for nothing: milliseconds since 1970, of a whole second.
    public let until: Int64
    /// The key that it was exchanged for; nil: it was not used yet.
    public internal(set) var key: PublicKey?

    /// - Parameter until: what is beyond a whole second does not count: a token is never valid for longer than it was said.
    public init(
        name: String, token: PublicKey, roles: Set<KeyRole>, operations: [String] = [], labels: [String] = [], until: Int64,
        key: PublicKey? = nil
    ) {
        self.name = name
        self.token = token
        self.roles = roles
        self.operations = operations
        self.labels = labels
        self.until = until / 1000 * 1000
        self.key = key
    }

    /// As RFC 3339 writes it.
    public var untilText: String { Self.timeText(until) }

    /// In the order in which they are always written.
    public var roleNames: [String] { principal(with: token).roleNames }

    public func isOpen(at now: Int64) -> Bool { key == nil && now < until }

    /// Whose key becomes one that is exchanged for the token.
    func principal(with key: PublicKey) -> Principal {
        Principal(name: name, key: key, roles: roles, operations: operations, labels: labels)
    }

    static func timeText(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }

    /// A date, a time in whole seconds, and `Z` or a difference to it.
    private static func isTime(_ text: Substring) -> Bool {
        let form = "0000-00-00T00:00:00"
        guard text.utf8.count > form.utf8.count, fits(text.utf8.prefix(form.utf8.count), form) else { return false }
        let zone = text.utf8.dropFirst(form.utf8.count)
        return ["Z", "+00:00", "-00:00", "+0000", "-0000"].contains { zone.count == $0.utf8.count && fits(zone, $0) }
    }

    private static func fits(_ text: Substring.UTF8View, _ form: String) -> Bool {
        zip(text, form.utf8).allSatisfy { $1 == UInt8(ascii: "0") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) : $0 == $1 }
    }

    /// Nil: `text` is no time.
    static func milliseconds(of text: Substring) -> Int64? {
        // What has another form is not shown to a parser that is generous with it: what is read is what would be written. Its
        // error would say no more than that it is no time.
        guard isTime(text), let date = try? Date(String(text), strategy: .iso8601) else { return nil }
        // Of early years more than one text means the same time.
        guard date.timeIntervalSince1970 >= 0 else { return nil }
        return Int64(date.timeIntervalSince1970) * 1000
    }
}

/// What a coordinator says to one who wants to exchange a join token for a key.
public enum EnrolmentAnswer: Sendable, Hashable {
    /// The key is authorised from now on.
    case enrolled(Principal)
    /// It was before, for this token: the answer was lost.
    case repeated(Principal)
    case refused(EnrolmentRefusal)
}

/// Why a join token is not exchanged for a key.
public enum EnrolmentRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// No token has this key (any more).
    case unknown
    case expired(name: String, until: Int64)
    /// It was exchanged for another key.
    case used(name: String, key: PublicKey)
    /// It was exchanged for this key, which was revoked since.
    case revoked(name: String, key: PublicKey)
    /// The key is authorised already, for something else.
    case taken(PublicKey, name: String)
    /// The secret of a token's key has travelled: no host may have it for good.
    case ofAToken(PublicKey)

    public var description: String {
        switch self {
        case .unknown:
            "the coordinator does not know this join token (any more): it has been used, has expired, or was revoked; `aop keys token NAME` on "
                + "the coordinator's host, \(KeyDirectory.unnamed), makes another one"
        case .expired(let name, let until):
            "the join token for `\(name)` has expired: it was valid until \(Enrolment.timeText(until)); `aop keys token \(name)` on the "
                + "coordinator's host, \(KeyDirectory.unnamed), makes another one"
        case .used(let name, let key):
            "the join token for `\(name)` has been used, for the key \(key); `aop keys token \(name)` on the coordinator's host, \(KeyDirectory.unnamed), "
                + "makes another one. If that was no host of yours, somebody else had the token; there, and so: aop keys revoke -- '\(key)'"
        case .revoked(let name, let key):
            "the join token for `\(name)` has been used, and the key \(key) was revoked since; `aop keys token \(name)` on the coordinator's "
                + "host, \(KeyDirectory.unnamed), makes another one"
        case .taken(let key, let name):
            "the key \(key) is authorised already, as `\(name)` and not as the token says; join with a new key, from another directory (--dir)"
        case .ofAToken(let key): "\(key) is the key of a join token; a host needs one of its own, which `aop keys join` makes"
        }
    }
}
