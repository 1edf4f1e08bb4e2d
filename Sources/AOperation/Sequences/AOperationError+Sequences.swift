import Foundation

extension AOperationError {
    /// A sequence was given an operation that it had run before.
    public struct StepRepeated: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the sequence.
        public package(set) var sequence: String
        /// The name of the operation.
        public let step: String

        init(sequence: AOperation, step: AOperation) {
            self.sequence = sequence.publisherName
            self.step = step.publisherName
        }

        public var errorDescription: String? {
            "The sequence \(sequence) was given the Operation \(step) twice: an operation runs once, return a new one"
        }
    }
}
