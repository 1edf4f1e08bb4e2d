/// How a value's bytes are to be read. The raw values are those of the wire.
public enum PayloadEncoding: UInt8, Hashable, Sendable {
    case void = 0
    case json = 1
    case text = 2
    case bytes = 3
}

/// Names a large value: SHA-256 of its content, and its size in bytes.
public struct StoredValue: Hashable, Sendable {
    public let digest: [UInt8]
    public let size: UInt64
}

/// A value of an operation: small ones by content, large ones by the digest of a file beside the journal.
public struct Payload: Hashable, Sendable {
    public enum Storage: Hashable, Sendable {
        case inline([UInt8])
        /// SHA-256 of the content, and its size in bytes.
        case blob(digest: [UInt8], size: UInt64)
    }
    public var encoding: PayloadEncoding
    public var storage: Storage

    public init(encoding: PayloadEncoding, storage: Storage) {
        self.encoding = encoding
        self.storage = storage
    }

    public static let void = Payload(encoding: .void, storage: .inline([]))
}
