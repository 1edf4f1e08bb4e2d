import Foundation

extension AOperationError {
    /// The operation was cancelled.
    public struct IsCancelled: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the cancelled operation.
        public package(set) var operation: String

        public init(_ operation: AOperation) {
            self.init(operation: operation.publisherName)
        }

        /// For an operation of another process.
        public init(operation: String) {
            self.operation = operation
        }

        public var errorDescription: String? { "The Operation \(operation) is Cancelled" }
    }

    /// The operation needs a received value, and none was delivered.
    public struct ReceivedValueIsNil: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation that received nothing.
        public package(set) var operation: String

        public init(_ operation: AOperation) {
            self.init(operation: operation.publisherName)
        }

        /// For an operation of another process.
        public init(operation: String) {
            self.operation = operation
        }

        public var errorDescription: String? { "The received value to operation \(operation) is nil" }
    }

    /// The operation ended its work without a result, although its `Output` is not `Void`.
    public struct ResultIsMissing: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation.
        public package(set) var operation: String

        init(_ operation: AOperation) {
            self.operation = operation.publisherName
        }

        public var errorDescription: String? {
            "The Operation \(operation) ended without a result. Override execute() and call finish(with:)"
        }
    }

    /// A group delivers to a receiver that takes `[T]`, and a child produced something else.
    public struct ChildOutputMismatch: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the group.
        public package(set) var group: String
        /// Which child, counted from 0.
        public let index: Int
        /// What the receiver takes from each child.
        public let expected: String
        /// What the child produced.
        public let found: String

        public var errorDescription: String? {
            "Child \(index) of the group \(group) produced \(found), its receiver takes \(expected)"
        }
    }

    /// The error of an operation that needs a received value and got none.
    public static func receivedValueIsNil(in operation: AOperation) -> AOperationError {
        AOperationError(ReceivedValueIsNil(operation), state: .execution, publisher: operation.publisherName)
    }

    /// The error of a cancelled operation.
    public static func isCancelled(_ operation: AOperation) -> AOperationError {
        AOperationError(IsCancelled(operation), state: .execution, publisher: operation.publisherName)
    }
}
