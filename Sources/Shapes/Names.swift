import Wire

// The words of the wire's enumerations in text and JSON output. They are part of the stable output: scripts compare them.

extension WireSubmissionState {
    package var word: String {
        switch self {
        case .pending: "pending"
        case .running: "running"
        case .paused: "paused"
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .UNRECOGNIZED(let number): "state\(number)"
        }
    }
}

extension WireOperationState {
    package var word: String {
        switch self {
        case .blocked: "blocked"
        case .locking: "locking"
        case .evaluating: "evaluating"
        case .queued: "queued"
        case .running: "running"
        case .stopping: "stopping"
        case .retrying: "retrying"
        case .paused: "paused"
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .UNRECOGNIZED(let number): "state\(number)"
        }
    }
}

extension WireOutputStream {
    package var word: String {
        switch self {
        case .stdout: "stdout"
        case .stderr: "stderr"
        case .log: "log"
        case .UNRECOGNIZED(let number): "stream\(number)"
        }
    }
}

extension WireOperationView.Kind {
    /// What a group is called in the `type` column; operations have a type of their own.
    package var word: String {
        switch self {
        case .operation: "operation"
        case .group: "group"
        case .ordered: "ordered"
        case .forEach: "forEach"
        case .decider: "decisions"
        case .UNRECOGNIZED(let number): "kind\(number)"
        }
    }
}
