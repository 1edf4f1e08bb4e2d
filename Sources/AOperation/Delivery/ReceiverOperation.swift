import Foundation

/// An operation that receives the result of others; ``ReceiverOperation`` without its type.
public protocol BaseReceiverOperation: AOperation {
    /// Lets `operation` deliver its result to this operation.
    func accept<Value>(_ operation: ResultableOperation<Value>)
}

/// An operation that receives the result of another one before it runs.
///
/// Connect it with ``ResultableOperation/deliver(to:)``. When it is executed `receivedValue` is the producer's value,
/// or the first error of a producer that failed, was cancelled, or did not run; it decides what that means. It is
/// ``AOperationError/DeliveryMismatch`` if a producer that was given to ``BaseReceiverOperation/accept(_:)`` has a value
/// of another type. It is nil only if nothing delivers to it.
public protocol ReceiverOperation: BaseReceiverOperation {
    associatedtype Input
    var receivedValue: Result<Input, AOperationError>? { get set }
}

extension ReceiverOperation {
    /// What the program itself has set goes to another attempt too.
    func handReceived(to attempt: AOperation) {
        guard receivedValue != nil else { return }
        (attempt as? Self)?.receivedValue = receivedValue
    }

    /// Lets `operation` deliver its result. If its value is no `Input`, what is delivered is the failure
    /// ``AOperationError/DeliveryMismatch``. Prefer ``ResultableOperation/deliver(to:)``, which does not compile then.
    public func accept<Value>(_ operation: ResultableOperation<Value>) {
        DeliveryNet.connect([operation], to: self, as: .value) { receiver, fresh in
            let producer = fresh.of(operation)
            guard let result = producer.result else { return }
            switch result {
            case .failure(let error):
                receiver.receivedValue = .failure(error)
            case .success(let value):
                guard let input = value as? Input else {
                    let mismatch = AOperationError.DeliveryMismatch(producer, value, to: receiver, taking: Input.self)
                    let name = receiver.publisherName
                    receiver.receivedValue = .failure(AOperationError(mismatch, state: .execution, publisher: name))
                    return
                }
                receiver.receivedValue = .success(input)
            }
        }
    }
}
