import AOperation
import Executing
import Foundation
import Wire

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

    public var errorDescription: String? { message }
}

extension RemoteError {
    init(_ failure: WireOperationFailure) {
        code = Code(failure.code)
        typeName = failure.typeName
        message = failure.message
        exitCode = failure.hasExitCode ? Int(failure.exitCode) : nil
        signal = failure.hasSignal ? Int(failure.signal) : nil
        standardError = failure.hasStderr ? failure.stderr : nil
        host = failure.host
        origin = failure.origin
    }
}

extension RemoteError.Code {
    fileprivate init(_ code: WireFailureCode) {
        self =
            switch code {
            case .operation: .operation
            case .exit: .exit
            case .signal: .signal
            case .timeout: .timeout
            case .deadline: .deadline
            case .condition: .condition
            case .workerLost: .workerLost
            case .quarantined: .quarantined
            case .duplicate: .duplicate
            case .lockCycle: .lockCycle
            case .submitterGone: .submitterGone
            case .limit: .limit
            case .cancelled: .cancelled
            case .receivedValueIsNil: .receivedValueIsNil
            case .parameters: .parameters
            case .spawn: .spawn
            case .output: .output
            case .fenced: .fenced
            case .UNRECOGNIZED: .unknown
            }
    }
}

extension OperationGraph {
    /// The error as the program knows it: the library's own ones are themselves again, and name the operation as this
    /// program does.
    ///
    /// - Parameter node: whose error it is; it may be born in another one.
    func error(_ failure: WireOperationFailure, of node: Int) -> AOperationError {
        let place = failure.origin.isEmpty ? node : places[failure.origin]
        var origin = place.flatMap { members.indices.contains($0) ? members[$0] : nil }
        // A decision is the group's.
        if let decider = origin, decider.operation == nil, decider.parent != place { origin = members[decider.parent] }
        let name = origin?.operation?.errorName ?? failure.publisher
        // Of a submission of another process no operation is known.
        let path = failure.origin.isEmpty && members.indices.contains(node) ? members[node].path : failure.origin
        if let original = hostedErrors.original(of: failure, at: path) { return original }
        let isOwn = origin.map { isOwnName(failure.publisher, of: $0) } ?? false
        var error = AOperationError(
            published(failure, of: node, name, origin), state: failure.state == .condition ? .condition : .execution,
            publisher: isOwn ? name : failure.publisher)
        // An operation that executes here may fail with it: it goes on as what it was.
        error.transit = Transit(failure)
        return error
    }

    private func published(_ failure: WireOperationFailure, of node: Int, _ name: String, _ origin: Member?) -> any Error {
        switch failure.code {
        case .cancelled: return AOperationError.IsCancelled(operation: name)
        case .receivedValueIsNil: return AOperationError.ReceivedValueIsNil(operation: name)
        case .timeout where failure.typeName == "AOperationError.QueueTimeout":
            if let limit = origin?.queueTimeout { return AOperationError.QueueTimeout(operation: name, limit: limit) }
        case .timeout:
            if let seconds = origin?.timeout { return TimeoutObserver.Error(seconds: seconds) }
        case .deadline:
            if let limit = origin?.deadline { return AOperationError.DeadlinePassed(operation: name, limit: limit) }
        case .duplicate:
            if let id = origin?.uniqueId {
                return AOperationError.IgnoredDuplicate(
                    of: id, operation: name, first: failure.duplicateOf.isEmpty ? nil : failure.duplicateOf)
            }
        case .submitterGone: return SubmitterGone(operation: name, reason: failure.message)
        case .workerLost: return AOperationError.WorkerLost(operation: name, reason: failure.message)
        case .quarantined: return AOperationError.Quarantined(operation: name, reason: failure.message)
        case .condition:
            if let error = AOperationError.ofParts(in: failure, { self.error($0, of: node) }) { return error }
            if let error = origin?.operation?.errorOfCondition(failure.publisher) { return error.publishedError }
        case .operation, .exit, .signal, .lockCycle, .limit, .parameters, .spawn, .output, .fenced, .UNRECOGNIZED: break
        }
        return PortableErrors.error(from: failure.error) ?? RemoteError(failure)
    }

    /// Whether this is what the cluster calls the operation itself: its path, or its type.
    private func isOwnName(_ publisher: String, of member: Member) -> Bool {
        guard !publisher.isEmpty, publisher != member.path, let operation = member.operation else { return true }
        if let added = operation as? AddedOperation { return publisher == added.operationType }
        return publisher == "\(type(of: operation))" || publisher == (operation as? any ClusterOperation).map { type(of: $0).operationName }
    }
}
