import Foundation

/// An operation, or a condition of it, exists only in the process that submitted it, and that process is gone: it ended, or
/// the coordinator did not hear it for longer than a submitter has to come back.
public struct SubmitterGone: LocalizedError, PortableError, Hashable, Sendable {
    /// The name of the operation.
    public package(set) var operation: String
    /// What the coordinator says of it.
    public let reason: String

    package init(operation: String, reason: String) {
        self.operation = operation
        self.reason = reason
    }

    public var errorDescription: String? { "The Operation \(operation) has lost its submitter: \(reason)" }
}
