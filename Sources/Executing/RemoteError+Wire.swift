import AOperation
import Wire

extension RemoteError: CodedFailure {
    package init(_ failure: WireOperationFailure) {
        self.init(
            code: Code(failure.code), typeName: failure.typeName, message: failure.message,
            exitCode: failure.hasExitCode ? Int(failure.exitCode) : nil, signal: failure.hasSignal ? Int(failure.signal) : nil,
            standardError: failure.hasStderr ? failure.stderr : nil, host: failure.host, origin: failure.origin)
    }

    /// An operation has failed with what another one failed with.
    package func describe(in failure: inout WireOperationFailure) {
        failure.code = WireFailureCode(code)
        failure.typeName = typeName
        if let exitCode { failure.exitCode = Int32(clamping: exitCode) }
        if let signal { failure.signal = Int32(clamping: signal) }
        if let standardError { failure.stderr = standardError }
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

extension WireFailureCode {
    /// The other way; what is not known here is an error that an operation reported.
    fileprivate init(_ code: RemoteError.Code) { self = Self.allCases.first { RemoteError.Code($0) == code } ?? .operation }
}
