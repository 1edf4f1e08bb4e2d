import Wire

/// A failure that is worth another attempt.
enum RetryReasonDraft: Hashable {
    case exitCode(Int32)
    case signal(Int32)
    case error(String)

    var wire: WireRetryReason {
        var wire = WireRetryReason()
        switch self {
        case .exitCode(let code): wire.exitCode = code
        case .signal(let number): wire.signal = number
        case .error(let name): wire.error = name
        }
        return wire
    }
}

/// Signals that end a command, as Linux numbers them.
enum SignalNames {
    static let numbers: [String: Int32] = [
        "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9,
        "SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15, "SIGXCPU": 24, "SIGXFSZ": 25,
        "SIGSYS": 31,
    ]
}
