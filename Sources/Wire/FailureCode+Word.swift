extension WireFailureCode {
    /// As users read and write it: scripts compare it, and `retry: {on: …}` names it.
    public var word: String {
        switch self {
        case .operation: "operation"
        case .exit: "exit"
        case .signal: "signal"
        case .timeout: "timeout"
        case .deadline: "deadline"
        case .condition: "condition"
        case .workerLost: "workerLost"
        case .quarantined: "quarantined"
        case .duplicate: "duplicate"
        case .lockCycle: "lockCycle"
        case .submitterGone: "submitterGone"
        case .limit: "limit"
        case .cancelled: "cancelled"
        case .receivedValueIsNil: "receivedValueIsNil"
        case .parameters: "parameters"
        case .spawn: "spawn"
        case .output: "output"
        case .fenced: "fenced"
        case .UNRECOGNIZED(let number): "code\(number)"
        }
    }
}
