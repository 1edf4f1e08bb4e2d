/// How an operation ended: exactly one of three, once.
public enum OperationOutcome<Value> {
    /// It did its work.
    case success(Value)
    /// It failed, with at least one error; the first leads.
    case failure([AOperationError])
    /// It was cancelled. As an error this is ``AOperationError/IsCancelled``.
    case cancelled

    /// The value of a success.
    public var value: Value? {
        switch self {
        case .success(let value): value
        case .failure, .cancelled: nil
        }
    }

    /// The errors of a failure; empty otherwise.
    public var errors: [AOperationError] {
        switch self {
        case .failure(let errors): errors
        case .success, .cancelled: []
        }
    }

    public var isSuccess: Bool { if case .success = self { true } else { false } }

    public var isFailure: Bool { if case .failure = self { true } else { false } }

    public var isCancelled: Bool { if case .cancelled = self { true } else { false } }

    /// The same outcome with another value.
    public func map<NewValue>(_ transform: (Value) -> NewValue) -> OperationOutcome<NewValue> {
        switch self {
        case .success(let value): .success(transform(value))
        case .failure(let errors): .failure(errors)
        case .cancelled: .cancelled
        }
    }
}

extension OperationOutcome: Sendable where Value: Sendable {}
extension OperationOutcome: Equatable where Value: Equatable {}

/// The outcome as the state machine keeps it: without the value, which only the typed operation knows.
enum Ending {
    case success
    case failure([AOperationError])
    case cancelled(AOperationError)

    /// What listeners are told: empty on success.
    var errors: [AOperationError] {
        switch self {
        case .success: []
        case .failure(let errors): errors
        case .cancelled(let error): [error]
        }
    }

    var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}
