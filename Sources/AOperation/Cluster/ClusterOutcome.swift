import Foundation

/// How an operation ended, with its value in wire form.
public enum ClusterOutcome: Sendable {
    /// It succeeded; the value of an operation without one is ``EncodedValue/void``.
    case success(EncodedValue)
    /// It failed, with at least one error; the first leads.
    case failure([AOperationError])
    /// It was cancelled; the error is the ``AOperationError/IsCancelled`` that names it.
    case cancelled(AOperationError)

    /// The outcome of an operation that has ended.
    init(of operation: AOperation) {
        switch operation.ending {
        case .success:
            do {
                self = .success(try operation.encodedValue())
                operation.valueHasLeft()
            } catch {
                self = .failure([AOperationError(error, state: .execution, publisher: operation.publisherName)])
            }
        case .failure(let errors):
            self = .failure(errors)
        case .cancelled(let error):
            self = .cancelled(error)
        case nil:
            preconditionFailure("\(operation.publisherName) has no outcome: only an ended operation is asked for it")
        }
    }
}
