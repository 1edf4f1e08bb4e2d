import Foundation

/// What enrols a host, once: the key of an ``Enrolment``, and by what its coordinator is known. A secret until it has been used.
///
/// Its text is one word, safe in a shell without quotes: `aopj1.` and base64url of the coordinator's public key, the token's secret
/// key, the second in which it expires, its roles and name, the coordinator's endpoint if that was said, and a checksum.
public struct JoinToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// With which a token begins: its kind, and the version of its form.
    static let prefix = "aopj1."
    /// No token is longer.
    static let charactersMax = 1024
    /// For how long one may be made: milliseconds, of whole seconds. Up to one of them is lost, as it ends with a whole second of the clock.
    public static let validMilliseconds: ClosedRange<Int64> = 2000...30 * 86_400_000

    /// Whose key the host's will be.
    public let name: String
    public let roles: Set<KeyRole>
    /// When it expires, by the coordinator's clock: milliseconds since 1970, of a whole second.
    public let until: Int64
    public let serverKey: PublicKey
    /// Where the coordinator listens; nil: that was not said.
    public let endpoint: Endpoint?
    let pair: KeyPair

    /// What `authorized` knows it by.
    public var publicKey: PublicKey { pair.publicKey }

    /// The token of an enrolment.
    ///
    /// - Parameter pair: the enrolment's; it is to be kept nowhere else.
    public init(_ enrolment: Enrolment, pair: KeyPair, serverKey: PublicKey, endpoint: Endpoint?) {
        precondition(enrolment.token == pair.publicKey, "the token of \(enrolment.name) was given the keys of another one")
        (name, roles, until) = (enrolment.name, enrolment.roles, enrolment.until)
        (self.serverKey, self.endpoint, self.pair) = (serverKey, endpoint, pair)
    }

    /// Which file the key goes to: one where those look for it who may do what the token says.
    public var keyFile: String {
        if roles.contains(.admin) { return KeyDirectory.clientFiles[0] }
        return roles.contains(.work) ? KeyDirectory.workerFiles[0] : KeyDirectory.clientFiles[1]
    }

    public var description: String { "(a join token for `\(name)`)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

// MARK: Its text

extension JoinToken {
    private static let checksumBytes = 4

    /// To be told to who sets the host up, and to nobody else.
    public var text: String {
        var bytes = Self.bytes(of: serverKey.text) + Self.bytes(of: pair.secretKey.text)
        let seconds = UInt64(clamping: until / 1000)
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: seconds >> UInt64(56 - 8 * $0)) }
        bytes.append(KeyRole.allCases.enumerated().reduce(0) { $0 | (roles.contains($1.element) ? 1 << UInt8($1.offset) : 0) })
        bytes.append(UInt8(name.utf8.count))
        bytes += Array(name.utf8) + Array((endpoint?.description ?? "").utf8)
        return Self.prefix + Self.encode(bytes + Self.checksum(bytes))
    }

    /// Reads a token as it was pasted; white space around it does not matter.
    ///
    /// - Throws: ``JoinTokenError``, which never quotes it.
    public init(_ text: String) throws(JoinTokenError) {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw .empty }
        guard !text.contains(where: \.isWhitespace) else { throw .severalWords }
        guard text.hasPrefix(Self.prefix) else {
            if text.firstMatch(of: /^aopj[0-9]+\./) != nil { throw .otherVersion }
            throw .otherKind
        }
        guard text.utf8.count <= Self.charactersMax else { throw .tooLong(text.utf8.count) }
        let body = text.dropFirst(Self.prefix.count)
        if let wrong = body.firstIndex(where: { !Self.isDigit($0) }) {
            throw .character(position: text.distance(from: text.startIndex, to: wrong) + 1)
        }
        guard let bytes = Self.decode(body), bytes.count >= Self.checksumBytes, Self.encode(bytes) == body,
            Self.checksum(bytes.dropLast(Self.checksumBytes)) == Array(bytes.suffix(Self.checksumBytes))
        else { throw .damaged }
        try self.init(contents: bytes.dropLast(Self.checksumBytes))
    }

    /// From here on nothing is a slip of whoever copied it: it was made so.
    private init(contents: ArraySlice<UInt8>) throws(JoinTokenError) {
        var rest = contents
        func take(_ count: Int, _ what: String) throws(JoinTokenError) -> [UInt8] {
            guard rest.count >= count else { throw .contents("ends before its \(what)") }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func key(_ what: String) throws(JoinTokenError) -> String {
            let bytes = try take(KeyBytes.count, what)
            guard let text = bytes.withUnsafeBytes({ KeyBytes.text(of: $0) }) else { throw .contents("has no \(what)") }
            return text
        }
        guard let serverKey = PublicKey(try key("server key")) else { throw .contents("has no server key") }
        guard let secret = SecretKey(try key("secret key")) else { throw .contents("has no secret key") }
        let seconds = try take(8, "time").reduce(0) { $0 << 8 | UInt64($1) }
        guard let until = Int64(exactly: seconds), until <= Self.secondsMax else { throw .contents("expires too late") }
        let bits = try take(1, "roles")[0]
        let roles = KeyRole.allCases.enumerated().filter { bits & 1 << UInt8($0.offset) != 0 }.map(\.element)
        guard !roles.isEmpty, Int(bits) >> KeyRole.allCases.count == 0 else { throw .contents("has roles that this release does not know") }
        let length = Int(try take(1, "name")[0])
        let name = String(decoding: try take(length, "name"), as: UTF8.self)
        guard Principal.isName(name) else { throw .contents("has a name that no key can have") }
        let pair: KeyPair
        do { pair = try KeyPair(secret) } catch { throw .keys(error) }
        self.init(
            Enrolment(name: name, token: pair.publicKey, roles: Set(roles), until: until * 1000), pair: pair, serverKey: serverKey,
            endpoint: try Self.endpoint(rest))
    }

    /// Of times that can be written as milliseconds, and that have four digits for the year.
    private static let secondsMax: Int64 = 253_402_300_799

    private static func endpoint(_ bytes: ArraySlice<UInt8>) throws(JoinTokenError) -> Endpoint? {
        guard !bytes.isEmpty else { return nil }
        let endpoint: Endpoint
        do { endpoint = try Endpoint(String(decoding: bytes, as: UTF8.self)) } catch { throw .contents("names a wrong endpoint: \(error)") }
        guard endpoint.port != nil, !endpoint.isForListeners else {
            throw .contents("names \(endpoint), where no host can connect with a key")
        }
        return endpoint
    }

    private static func bytes(of key: String) -> [UInt8] {
        guard let bytes = KeyBytes.bytes(of: key) else { preconditionFailure("a key that was made or read as one is none") }
        return bytes
    }

    /// Of slips, not of attacks: who has a token may change it.
    private static func checksum(_ bytes: some Collection<UInt8>) -> [UInt8] {
        Array(BlobDigest(hashing: Array(bytes)).bytes.prefix(checksumBytes))
    }

    // MARK: base64url, without padding (RFC 4648)

    private static func isDigit(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "-" || character == "_")
    }

    private static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(
            Data(bytes).base64EncodedString().compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        var plain = text.replacing("-", with: "+").replacing("_", with: "/")
        plain += String(repeating: "=", count: (4 - plain.count % 4) % 4)
        return Data(base64Encoded: String(plain)).map { Array($0) }
    }
}

/// Why a text is no join token. It is a secret, so none of it is quoted.
public enum JoinTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case severalWords
    case otherKind
    case otherVersion
    case tooLong(Int)
    /// Counted from 1.
    case character(position: Int)
    /// The checksum is another one.
    case damaged
    /// It is whole, and says something that this release does not know.
    case contents(String)
    case keys(ZMQError)

    public var description: String {
        switch self {
        case .empty: "the join token is empty; \(Self.remedy)"
        case .severalWords: "the join token has a space or a line break in it, and is one word; copy it as one line; \(Self.remedy)"
        case .otherKind: "that is no join token: one begins with `\(JoinToken.prefix)`; \(Self.remedy)"
        case .otherVersion:
            "the join token is of another release: this one (aop \(ProductVersion.current)) knows those that begin with "
                + "`\(JoinToken.prefix)`; use the same release on both hosts"
        case .tooLong(let count):
            "that is no join token: it has \(count) characters, and a token has at most \(JoinToken.charactersMax); \(Self.remedy)"
        case .character(let position):
            "character \(position) of the join token is none that a token has (letters, digits, `-` and `_`): it was changed on the way, or "
                + "copied together with something else; \(Self.remedy)"
        case .damaged: "some of the join token is missing, or was changed on the way; copy all of it, or make another one; \(Self.remedy)"
        case .contents(let problem):
            "the join token \(problem); use the release of the coordinator's host (this one is aop \(ProductVersion.current))"
        case .keys(let error): "\(error)"
        }
    }

    private static let remedy = "`aop keys token NAME` on the coordinator's host makes one"
}
