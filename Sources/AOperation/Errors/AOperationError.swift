import Foundation

/// Why an operation did not succeed: the error that was published, by whom, and at which stage.
///
/// An error keeps the ``state`` and ``publisher`` it was born with wherever it is forwarded to.
public struct AOperationError: LocalizedError, Equatable, CustomDebugStringConvertible {
    /// The stage at which the error came up.
    public enum FailureState: Int, Sendable, Hashable {
        /// A condition of the operation did not hold: the operation was not executed.
        case condition
        /// The operation was executed, or cancelled.
        case execution
    }

    /// The stage at which the error came up; ``FailureState/execution`` unless a condition failed.
    public internal(set) var state: FailureState

    /// The error itself: what an operation finished with.
    public let publishedError: any Error

    /// The name of the operation, or the key of the condition, that published the error; nil until an operation has
    /// finished with it.
    public internal(set) var publisher: String?

    /// How it came from another process, if it did: forwarded, it travels on like that.
    package var transit: (any AnyObject & Sendable)?

    /// Wraps `failureError`; an `AOperationError` is taken as it is, not wrapped again.
    public init(_ failureError: any Error) {
        if let error = failureError as? AOperationError {
            self = error
        } else {
            self.init(failureError, state: .execution, publisher: nil)
        }
    }

    /// An error with a known origin, e.g. one that came from another process.
    public init(_ failureError: any Error, state: FailureState, publisher: String?) {
        self.state = state
        self.publisher = publisher
        if let error = failureError as? AOperationError {
            publishedError = error.publishedError
        } else {
            publishedError = failureError
        }
    }

    /// The published error's own text.
    public var errorDescription: String? { publishedError.localizedDescription }

    /// The published error's own text.
    public var localizedDescription: String { publishedError.localizedDescription }

    public var failureReason: String? { (publishedError as? any LocalizedError)?.failureReason }

    public var recoverySuggestion: String? { (publishedError as? any LocalizedError)?.recoverySuggestion }

    public var helpAnchor: String? { (publishedError as? any LocalizedError)?.helpAnchor }

    public var debugDescription: String {
        "AOperationError(\(state), publisher: \(publisher ?? "none"), \(type(of: publishedError)): \(localizedDescription))"
    }

    /// Two errors are equal when stage, publisher, type and text are.
    public static func == (left: AOperationError, right: AOperationError) -> Bool {
        left.state == right.state
            && left.publisher == right.publisher
            && type(of: left.publishedError) == type(of: right.publishedError)
            && left.localizedDescription == right.localizedDescription
    }

    /// The same error, published by `name` if nobody has published it yet.
    func published(by name: String) -> AOperationError {
        guard publisher == nil else { return self }
        var error = self
        error.publisher = name
        return error
    }
}
