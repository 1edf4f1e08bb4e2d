import Foundation

extension AOperationError {
    /// The operation was given to workers whose processes died under it, as often as its `crashLimit` allows; or to one, and it
    /// must not run twice.
    public struct WorkerLost: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation.
        public package(set) var operation: String
        /// What the coordinator says of it: which workers, and how often.
        public let reason: String

        public init(operation: String, reason: String) {
            self.operation = operation
            self.reason = reason
        }

        public var errorDescription: String? { "The Operation \(operation) has lost its worker: \(reason)" }
    }

    /// The operation was not tried, as one of the same type with the same parameters has ended too many processes of workers.
    public struct Quarantined: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation.
        public package(set) var operation: String
        /// What the coordinator says of it: which one that was, and until when.
        public let reason: String

        public init(operation: String, reason: String) {
            self.operation = operation
            self.reason = reason
        }

        public var errorDescription: String? { "The Operation \(operation) is kept from workers: \(reason)" }
    }
}
