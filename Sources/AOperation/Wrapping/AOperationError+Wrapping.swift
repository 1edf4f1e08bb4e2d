import Foundation

extension AOperationError {
    /// The generator of a ``WrapperOperation`` returned nil.
    public struct NothingToRun: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the wrapper.
        public package(set) var operation: String

        init(_ operation: AOperation) {
            self.operation = operation.publisherName
        }

        public var errorDescription: String? {
            "The Operation \(operation) has nothing to run: its generator returned nil"
        }
    }

    /// An operation was to run itself, or one that it is inside of, as a part of itself: it would wait for ever.
    public struct WaitsForItself: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation.
        public package(set) var operation: String
        /// The name of the one it was to run.
        public let part: String
        /// The key of the condition whose dependent operation that is; nil if the generator of a wrapper, or a sequence, returned it.
        public let condition: String?

        init(_ operation: AOperation, running part: AOperation, condition: String? = nil) {
            self.operation = operation.publisherName
            self.part = part.publisherName
            self.condition = condition
        }

        public var errorDescription: String? {
            let source = condition.map { "its condition \($0) has \(part) as dependent operation" } ?? "its generator returned \(part)"
            return "The Operation \(operation) would wait for itself: \(source), let that be a new one"
        }
    }

    /// The gate of a ``GatedOperation`` did not let its operation through.
    public struct GateIsClosed: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation that was not run.
        public package(set) var operation: String

        init(_ operation: Foundation.Operation) {
            self.operation = operation.name ?? String(describing: type(of: operation))
        }

        public var errorDescription: String? { "The Operation \(operation) was not run: its gate is closed" }
    }
}
