import Wire

/// Names a large value: what it contains and how long it is.
struct BlobKey: Hashable, Sendable {
    let digest: BlobDigest
    let size: UInt64
}

/// The blob store's files cannot be read or written. Never retried: a value that may not be on the disk is not
/// acknowledged.
public struct BlobStoreError: Error, Equatable, CustomStringConvertible {
    public let path: String
    public let action: String
    public let reason: String

    public var description: String {
        "\(path): cannot \(action): \(reason); check free space, permissions and the health of the disk"
    }
}
