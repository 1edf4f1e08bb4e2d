import Foundation

/// An error that was born in another process, as far as it is none of the library's own.
///
/// A `PortableError` that this process has registered arrives as itself. Of any other there are its type's name and its
/// text. `AOperationError.state` and `publisher` are those it was born with.
public struct RemoteError: LocalizedError, Hashable, Sendable {
    /// What kind of failure it is.
    public enum Code: String, Hashable, Sendable {
        /// An error that the operation reported.
        case operation
        /// A command's exit code.
        case exit
        /// A command was ended by a signal.
        case signal
        case timeout, deadline
        /// A condition did not hold.
        case condition
        /// The worker's process died under it too often.
        case workerLost
        case quarantined, duplicate, lockCycle, submitterGone
        /// An output or a value above its limit.
        case limit
        case cancelled, receivedValueIsNil
        /// Parameters or received value do not decode.
        case parameters
        /// A command could not be started.
        case spawn
        /// Output that is not what was asked for.
        case output
        /// A lock that it held was released under it.
        case fenced
        /// The coordinator is newer than this program.
        case unknown
    }

    public var code: Code
    /// Of the error as it was thrown, e.g. `URLError`.
    public var typeName: String
    public var message: String
    /// Of a command.
    public var exitCode: Int?
    /// Of a command.
    public var signal: Int?
    /// The end of a command's standard error.
    public var standardError: String?
    /// Where it was born.
    public var host: String
    /// Path, within its submission, of the operation in which it was born.
    public var origin: String

    package init(
        code: Code, typeName: String, message: String, exitCode: Int?, signal: Int?, standardError: String?, host: String,
        origin: String
    ) {
        self.code = code
        self.typeName = typeName
        self.message = message
        self.exitCode = exitCode
        self.signal = signal
        self.standardError = standardError
        self.host = host
        self.origin = origin
    }

    public var errorDescription: String? { message }
}
