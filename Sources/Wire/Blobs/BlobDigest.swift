import Crypto
import Foundation

/// The name of a large value: the SHA-256 of its bytes.
public struct BlobDigest: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of a digest.
    public static let count = 32

    // Inline, not an array: digests are keys of dictionaries and members of every reference.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The digest of `bytes`.
    public init(hashing bytes: some ContiguousBytes) {
        var hasher = BlobHasher()
        hasher.update(bytes)
        self = hasher.finalize()
    }

    /// The digest of `buffer`.
    public init(hashing buffer: Buffer) {
        var hasher = BlobHasher()
        hasher.update(buffer)
        self = hasher.finalize()
    }

    /// Reads a digest, e.g. of a ``WireBlobReference``; nil unless it has 32 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// Reads a digest as ``hexadecimal`` writes it, e.g. a file's name; nil for anything else.
    public init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.bytes(of: text) else { return nil }
        self.init(bytes)
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }

    /// 64 lowercase digits.
    public var hexadecimal: String { Hexadecimal.text(of: bytes) }

    public var description: String { hexadecimal }

    public static func == (one: BlobDigest, other: BlobDigest) -> Bool { one.words == other.words }

    public func hash(into hasher: inout Hasher) {
        // A digest is evenly spread: any part of it is as good as all.
        hasher.combine(words.0)
    }
}

/// Computes a ``BlobDigest`` piece by piece.
public struct BlobHasher: Sendable {
    private var state = SHA256()

    public init() {}

    public mutating func update(_ bytes: some ContiguousBytes) {
        bytes.withUnsafeBytes { state.update(bufferPointer: $0) }
    }

    public mutating func update(_ buffer: Buffer) {
        buffer.withUnsafeBytes { state.update(bufferPointer: $0) }
    }

    /// The digest of everything so far.
    public func finalize() -> BlobDigest {
        guard let digest = BlobDigest(Array(state.finalize())) else {
            preconditionFailure("a SHA-256 of other than \(BlobDigest.count) bytes")
        }
        return digest
    }
}

extension WireBlobReference {
    /// Refers to a value by its digest and size.
    public init(digest: BlobDigest, size: UInt64) {
        self.init()
        self.digest = Data(digest.bytes)
        self.size = size
    }

    /// The digest, nil when the bytes are not one.
    public var blobDigest: BlobDigest? { BlobDigest(digest) }
}
