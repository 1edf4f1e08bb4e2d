import Foundation
import Wire

/// Names a large value: what it contains and how long it is.
struct BlobKey: Hashable, Sendable {
    let digest: BlobDigest
    let size: UInt64
}

extension BlobDigest {
    /// Of the value's file in a store: `ab`.
    func folder(below root: String) -> String { "\(root)/\(hexadecimal.prefix(2))" }

    /// Of the value's file in a store: `ab/cdef…`.
    func path(below root: String) -> String { "\(folder(below: root))/\(hexadecimal.dropFirst(2))" }
}

extension BlobKey {
    /// Whether a file of the value's name and size is in a store.
    func isThere(below root: String) -> Bool {
        var status = stat()
        return stat(digest.path(below: root), &status) == 0 && UInt64(status.st_size) == size
    }
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
