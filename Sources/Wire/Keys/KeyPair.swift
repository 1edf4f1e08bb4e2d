import CZMQ

/// A CURVE public key, 32 bytes written as 40 characters of Z85. No secret: whoever knows it can encrypt to its owner.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    /// Characters of a key, as it is written.
    public static let characters = 40

    public let text: String

    /// Reads a key as it is written; nil: that is no key.
    public init?(_ text: some StringProtocol) {
        guard Self.isKey(text) else { return nil }
        self.text = String(text)
    }

    /// From its 32 bytes; nil: there are more or fewer.
    init?(bytes: UnsafeRawBufferPointer) {
        guard let text = KeyBytes.text(of: bytes) else { return nil }
        self.text = text
    }

    public var description: String { text }

    static func isKey(_ text: some StringProtocol) -> Bool {
        KeyBytes.bytes(of: text) != nil
    }
}

/// The 32 bytes of a key and the 40 characters of Z85 that they are written as.
enum KeyBytes {
    static let count = 32

    static func text(of bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count == count else { return nil }
        var characters = [CChar](repeating: 0, count: PublicKey.characters + 1)
        guard zmq_z85_encode(&characters, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, count) != nil else { return nil }
        return String(decoding: characters.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count == PublicKey.characters, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return zmq_z85_decode(&bytes, String(text)) == nil ? nil : bytes
    }
}

/// A CURVE secret key. It never appears in a description, a dump or a log line.
public struct SecretKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// For key files and sockets only.
    let text: String

    init?(_ text: some StringProtocol) {
        guard PublicKey.isKey(text) else { return nil }
        self.text = String(text)
    }

    public var description: String { "(a secret key)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Both keys of one principal, or of the coordinator. All of the cryptography is libzmq's.
public struct KeyPair: Sendable {
    public let publicKey: PublicKey
    public let secretKey: SecretKey

    /// A new pair, drawn by libzmq. Its public key does not begin with `-`, as options of commands do: people write keys there.
    ///
    /// - Throws: ``ZMQError`` when libzmq was built without CURVE.
    public init() throws(ZMQError) {
        var pair = try Self.drawn()
        while pair.publicKey.text.hasPrefix("-") { pair = try Self.drawn() }
        self = pair
    }

    private init(_ publicKey: PublicKey, _ secretKey: SecretKey) {
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    private static func drawn() throws(ZMQError) -> KeyPair {
        var publicText = [CChar](repeating: 0, count: PublicKey.characters + 1)
        var secretText = publicText
        guard zmq_curve_keypair(&publicText, &secretText) == 0, let publicKey = PublicKey(Self.string(publicText)),
            let secretKey = SecretKey(Self.string(secretText))
        else { throw Self.withoutCurve }
        return KeyPair(publicKey, secretKey)
    }

    /// The pair of a secret key.
    init(_ secretKey: SecretKey) throws(ZMQError) {
        var publicText = [CChar](repeating: 0, count: PublicKey.characters + 1)
        guard zmq_curve_public(&publicText, secretKey.text) == 0, let publicKey = PublicKey(Self.string(publicText)) else {
            throw Self.withoutCurve
        }
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    private static var withoutCurve: ZMQError {
        ZMQError(
            operation: "making keys", errno: zmq_errno(),
            message: "this libzmq has no CURVE encryption: install one that was built with libsodium (Debian: libzmq5)")
    }

    private static func string(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
