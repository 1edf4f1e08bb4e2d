import Executing
import Foundation
import Wire

/// A failure of a built-in operation, with what travels besides its text.
public struct OperationFault: LocalizedError, Hashable, Sendable {
    public let code: WireFailureCode
    public let message: String
    /// Of a command that ended by itself.
    public var exitCode: Int32?
    /// Of a command that was ended by a signal.
    public var signal: Int32?
    /// The end of a command's standard error.
    public var stderr: String?

    public init(
        _ code: WireFailureCode, _ message: String, exitCode: Int32? = nil, signal: Int32? = nil, stderr: String? = nil
    ) {
        self.code = code
        self.message = message
        self.exitCode = exitCode
        self.signal = signal
        self.stderr = stderr
    }

    public var errorDescription: String? { message }
}

extension OperationFault: CodedFailure {
    package func describe(in failure: inout WireOperationFailure) {
        failure.code = code
        if let exitCode { failure.exitCode = exitCode }
        if let signal { failure.signal = signal }
        if let stderr { failure.stderr = stderr }
    }
}
