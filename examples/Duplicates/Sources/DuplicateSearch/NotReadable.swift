import AOperation
import Foundation

/// A file or folder that cannot be read. As a `PortableError` it arrives in the program as itself.
public struct NotReadable: PortableError, LocalizedError {
    public var path: String
    public var reason: String

    public var errorDescription: String? { "\(path) cannot be read: \(reason)" }

    /// Lets `body` read at a path; what it throws becomes one of these.
    static func naming<Value>(_ path: String, _ body: (String) throws -> Value) throws -> Value {
        do {
            return try body(path)
        } catch {
            throw NotReadable(path: path, reason: error.localizedDescription)
        }
    }
}
