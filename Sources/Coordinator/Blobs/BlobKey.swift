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

/// The blob store's files cannot be read or written. A value that may not be on the disk is not acknowledged.
public struct BlobStoreError: Error, Equatable, CustomStringConvertible {
    public let path: String
    public let action: String
    public let reason: String
    /// There is no room, and nothing is damaged: once there is, it can be tried again.
    let isForLackOfRoom: Bool

    init(path: String, action: String, reason: String) {
        (self.path, self.action, self.reason) = (path, action, reason)
        isForLackOfRoom = false
    }

    /// - Parameters:
    ///   - code: as in `errno`.
    ///   - mayBeTriedAgain: nothing has been changed that would have to be undone first.
    init(path: String, action: String, code: Int32, mayBeTriedAgain: Bool = false) {
        (self.path, self.action, reason) = (path, action, DataDirectory.reason(code))
        isForLackOfRoom = mayBeTriedAgain && (code == ENOSPC || code == EDQUOT)
    }

    public var description: String {
        "\(path): cannot \(action): \(reason); check free space, permissions and the health of the disk"
    }
}
