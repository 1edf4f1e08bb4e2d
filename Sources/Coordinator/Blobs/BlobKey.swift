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
    let obstacle: Obstacle

    /// What is in the way.
    enum Obstacle: Equatable, Sendable {
        /// The disk, or whose it is: files cannot be relied on.
        case disk
        /// There is no room, and nothing is damaged: once there is, it can be tried again.
        case room
        /// No file may be so large, while this process lives; nothing is damaged.
        case fileSize
    }

    init(path: String, action: String, reason: String) {
        (self.path, self.action, self.reason) = (path, action, reason)
        obstacle = .disk
    }

    /// - Parameters:
    ///   - code: as in `errno`.
    ///   - mayBeTriedAgain: nothing has been changed that would have to be undone first.
    init(path: String, action: String, code: Int32, mayBeTriedAgain: Bool = false) {
        (self.path, self.action, reason) = (path, action, DataDirectory.reason(code))
        obstacle =
            switch code {
            case ENOSPC, EDQUOT: mayBeTriedAgain ? .room : .disk
            case EFBIG: mayBeTriedAgain ? .fileSize : .disk
            default: .disk
            }
    }

    public var description: String {
        let remedy =
            switch obstacle {
            case .disk, .room: "check free space, permissions and the health of the disk"
            case .fileSize: FileSizeLimit.text ?? "its file system takes no file so large; keep the data on another one"
            }
        return "\(path): cannot \(action): \(reason); \(remedy)"
    }
}
