/// How a body ended that was executed here on somebody else's behalf.
package enum HostedEnding: Sendable {
    /// The operation that has the value: the mirror itself, or another attempt of it.
    case success(AOperation)
    /// With at least one error.
    case failure([AOperationError])
    /// It was stopped, or has never begun.
    case cancelled
}

/// Where the body of a mirror stands that is not executed by somebody else but here, when somebody else says so.
enum Hosting {
    /// It was not asked for, and can be executed.
    case unused
    /// It executes as soon as the operation starts.
    case due(@Sendable (HostedEnding) -> Void)
    case executing(@Sendable (HostedEnding) -> Void)
    /// It has been executed, or cannot be any more. What it has made is kept until the operation ends.
    case used(HostedValue)

    /// Where the value of a success is that has not become the outcome yet.
    enum HostedValue {
        case none
        /// In the mirror.
        case own
        /// In another attempt of it.
        case attempt(AOperation)
    }

    /// Whether the program's own code may be running.
    var isExecuting: Bool { if case .executing = self { true } else { false } }

    /// Who is to be told that the body comes to nothing; it has not been told yet.
    var listener: (@Sendable (HostedEnding) -> Void)? {
        switch self {
        case .due(let end), .executing(let end): end
        case .unused, .used: nil
        }
    }
}
