import Foundation

extension AOperationError {
    /// The generator of a ``WrapperOperation`` returned nil.
    public struct NothingToRun: LocalizedError, Hashable, Sendable {
        /// The name of the wrapper.
        public let operation: String

        init(_ operation: AOperation) {
            self.operation = operation.publisherName
        }

        public var errorDescription: String? {
            "The Operation \(operation) has nothing to run: its generator returned nil"
        }
    }

    /// The gate of a ``GatedOperation`` did not let its operation through.
    public struct GateIsClosed: LocalizedError, Hashable, Sendable {
        /// The name of the operation that was not run.
        public let operation: String

        init(_ operation: Foundation.Operation) {
            self.operation = operation.name ?? String(describing: type(of: operation))
        }

        public var errorDescription: String? { "The Operation \(operation) was not run: its gate is closed" }
    }
}
