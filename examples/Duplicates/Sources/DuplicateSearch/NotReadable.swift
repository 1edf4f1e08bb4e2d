import AOperation
import Foundation

/// A file or folder that cannot be read. As a `PortableError` it arrives in the program as itself.
public struct NotReadable: PortableError, LocalizedError {
    public var path: String
    public var reason: String

    public var errorDescription: String? { "\(path) cannot be read: \(reason)" }

    init(_ path: String, _ error: any Error) {
        self.path = path
        reason = error.localizedDescription
    }
}
