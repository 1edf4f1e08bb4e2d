import Foundation

/// What a reader of partial results is told: see ``PartialResultOperation``.
public enum PartialResultEvent<Element> {
    /// An element. `attempt` counts from 1, `index` from 0 in each attempt.
    case element(Element, attempt: Int, index: Int)
    /// The operation is tried again: what was read is void, the next element is the first of this attempt.
    case restarted(attempt: Int)
    /// So many elements are gone: they were sent before this reader came, or faster than it read by a sender that
    /// does not wait.
    case missed(count: Int)
}

extension PartialResultEvent: Sendable where Element: Sendable {}
extension PartialResultEvent: Equatable where Element: Equatable {}

extension AOperationError {
    /// Partial results were gone before they were read: more than ``PartialResultOperation/partialResultsHeldMax``
    /// were sent before the reader came, or by a sender that does not wait.
    public struct PartialResultsMissed: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation.
        public let operation: String
        /// How many are missing.
        public let count: Int

        public init(operation: String, count: Int) {
            self.operation = operation
            self.count = count
        }

        public var errorDescription: String? {
            "\(count) partial results of the operation \(operation) were gone before they were read"
        }

        public var recoverySuggestion: String? {
            "Read from before the operation starts, send with `await send(_:)`, raise partialResultsHeldMax, "
                + "or read partialResultEvents, which goes on after a gap"
        }
    }
}
