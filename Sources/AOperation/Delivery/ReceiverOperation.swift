import Foundation

/// An operation that receives the result of others; ``ReceiverOperation`` without its type.
public protocol BaseReceiverOperation: AOperation {
    /// Lets `operation` deliver its result to this operation.
    func accept<Value>(_ operation: ResultableOperation<Value>)
}

/// An operation that receives the result of another one before it runs.
///
/// Connect it with ``ResultableOperation/deliver(to:)``. When it is executed `receivedValue` is the producer's value,
/// or the first error of a producer that failed, was cancelled, or did not run; it decides what that means. It is nil
/// only if nothing delivers to it.
public protocol ReceiverOperation: BaseReceiverOperation {
    associatedtype Input
    var receivedValue: Result<Input, AOperationError>? { get set }
}

extension ReceiverOperation {
    /// Lets `operation` deliver its result, if its value is an `Input`; else it is only waited for, and
    /// `receivedValue` stays nil.
    public func accept<Value>(_ operation: ResultableOperation<Value>) {
        DeliveryNet.connect([operation], to: self, as: .value) { receiver in
            guard let result = operation.result else { return }
            switch result {
            case .failure(let error):
                receiver.receivedValue = .failure(error)
            case .success(let value):
                if let input = value as? Input { receiver.receivedValue = .success(input) }
            }
        }
    }
}
