import Foundation

/// An operation of which only one may be active at a time.
///
/// While an operation with the same ``uniqueId`` is active, anywhere in the process, a second one is a duplicate: it
/// ends at once with ``AOperationError/IgnoredDuplicate``, or with the first one's outcome, as ``onDuplicate`` says.
/// The id is claimed when the operation is added to a queue, by a child when its group starts, and is free again when
/// the operation has finally ended.
public protocol UniqueOperation: AOperation {
    /// What is unique: compared with the ids of all active operations, whatever their types.
    var uniqueId: String { get }

    /// What becomes of this operation if it is a duplicate; ``DuplicatePolicy/ignore`` by default.
    var onDuplicate: DuplicatePolicy { get }
}

extension UniqueOperation {
    public var onDuplicate: DuplicatePolicy { .ignore }
}

/// What becomes of an operation whose unique id is taken.
public enum DuplicatePolicy: Sendable, Hashable {
    /// It fails at once with ``AOperationError/IgnoredDuplicate``.
    case ignore
    /// It ends with the outcome of the operation that has the id. Where it cannot, because the outputs differ, because
    /// that operation waits for this one, or because this one is inside of an operation that holds a lock, it fails
    /// as with `ignore`.
    case join
}

extension AOperationError {
    /// Another operation with the same unique id was active.
    public struct IgnoredDuplicate: LocalizedError, PortableError, Hashable, Sendable {
        /// The unique id.
        public let uniqueId: String
        /// The name of the ignored operation.
        public package(set) var operation: String
        /// On a cluster: submission and path of the operation that had the id.
        public let first: String?

        /// For an operation of another process.
        public init(of uniqueId: String, operation: String, first: String? = nil) {
            self.uniqueId = uniqueId
            self.operation = operation
            self.first = first
        }

        public var errorDescription: String? {
            let other = first.map { ": \($0)" } ?? ""
            return "The Operation \(operation) is ignored: another one with the unique id \(uniqueId) is active\(other)"
        }
    }
}
