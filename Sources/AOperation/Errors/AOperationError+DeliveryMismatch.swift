import Foundation

extension AOperationError {
    /// An operation delivered a value of a type that its receiver does not take.
    public struct DeliveryMismatch: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation that delivered.
        public package(set) var producer: String
        /// The type of what it delivered.
        public let found: String
        /// The name of the receiver.
        public package(set) var receiver: String
        /// The type that the receiver takes.
        public let expected: String

        init<Value, Input>(
            _ producer: AOperation, _ value: Value, to receiver: AOperation, taking input: Input.Type
        ) {
            self.producer = producer.publisherName
            found = String(describing: type(of: value as Any))
            self.receiver = receiver.publisherName
            expected = "\(Input.self)"
        }

        public var errorDescription: String? {
            "The Operation \(producer) delivered \(found), its receiver \(receiver) takes \(expected)"
        }
    }
}
