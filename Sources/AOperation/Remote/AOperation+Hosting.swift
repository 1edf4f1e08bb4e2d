import Foundation

/// What a queue does with operations that are nodes of a graph elsewhere but execute in this process.
extension AOperation {
    private enum Step {
        /// The body was used before.
        case used
        /// The outcome is decided: there is nothing to execute.
        case over
        /// The operation may start as far as that graph is concerned.
        case begin
        /// It has started and waits for its body.
        case execute
    }

    /// Lets the mirror execute its own body, once: when it starts, which it may from now on.
    ///
    /// How that ends is told to `whenEnded`, once, and decides nothing: the outcome is what is reported later
    /// (``remoteDidEnd(_:hasStarted:)``).
    ///
    /// - Parameter tokens: the numbers of this execution, by the keys of the locks that are held elsewhere on its behalf.
    /// - Returns: false when the body was used before: another attempt needs another operation.
    package final func executeHosted(
        underTokens tokens: [String: UInt64], whenEnded: @escaping @Sendable (HostedEnding) -> Void
    ) -> Bool {
        let step = core.withLock { core -> Step in
            guard let remote = core.attachments?.remote, case .unused = remote.hosting else { return .used }
            let mayExecute = core.verdict == nil && remote.mayExecute && remote.cancellation == nil
            let isExecuting = if case .executing = core.state { true } else { false }
            let isWaiting = isExecuting && remote.isAwaited
            // One whose start is being told finds what it is to do when it comes to wait.
            guard mayExecute, isExecuting || core.state.isUnstarted else {
                remote.hosting = .used(.none)
                return .over
            }
            if !tokens.isEmpty { core.adoptedTokens = tokens }
            remote.hosting = isWaiting ? .executing(whenEnded) : .due(whenEnded)
            return isWaiting ? .execute : .begin
        }
        switch step {
        case .used: return false
        case .over: whenEnded(.cancelled)
        // What the program does then may take its time.
        case .begin: DispatchQueue.global().async { self.remoteDidStart() }
        case .execute: DispatchQueue.global().async { self.surrounded { self.execute() } }
        }
        return true
    }

    /// Whether ``executeHosted(underTokens:whenEnded:)`` would let it execute its own body.
    package final var isHostable: Bool { attachment { if case .unused? = $0.remote?.hosting { true } else { nil } } ?? false }

    /// A fresh operation for an attempt after the mirror's own body was used; it receives what the mirror receives. Nil for
    /// an operation that is no ``RetryableOperation``.
    ///
    /// - Parameter again: what is taken instead, if it is given.
    package final func makeHostedAttempt(underTokens tokens: [String: UInt64], _ again: AOperation? = nil) -> AOperation? {
        // A condition may keep one operation, which is this one then.
        let given = again.flatMap { $0 !== self && $0.isInitialized ? $0 : nil }
        guard let attempt = given ?? makeAttempt(), attempt !== self, attempt.isInitialized else { return nil }
        attempt.leaveDescription()
        let inbox = core.withLock { $0.inbox }
        attempt.replaceSettings { core in
            core.inbox = inbox
            core.adoptedTokens = tokens
        }
        if inbox == nil { (self as? any ReceiverOperation)?.handReceived(to: attempt) }
        attempt.name = name
        // It is given up by who asked for it, whose report has to wait for the real end.
        attempt.grace = .seconds(1_000_000)
        attempt.adoptUniqueId()
        return attempt
    }

    /// What its initializer has said of it (conditions, listeners, retry, time limits) is left to the graph, which has it from the operation
    /// that this one is an attempt of: here it only runs.
    package final func leaveDescription() {
        dropListeners()
        replaceSettings { core in
            core.conditions = []
            core.attemptObservers = []
        }
    }

    /// Tells how an attempt that ``makeHostedAttempt(underTokens:)`` made has ended, and keeps its value.
    package final func takeHostedAttempt(_ attempt: AOperation) -> HostedEnding {
        switch attempt.ending {
        case .success?:
            core.withLock { $0.attachments?.remote?.hosting = .used(.attempt(attempt)) }
            return .success(attempt)
        case .failure(let errors)?: return .failure(errors)
        case .cancelled?, nil: return .cancelled
        }
    }

    /// The body is to end, and that decides nothing: `isCancelled` is true for it, and the program's own `cancel()` is
    /// called, unless it was.
    package final func stopHosted() {
        let (listener, isToBeTold) = core.withLock { core -> ((@Sendable (HostedEnding) -> Void)?, Bool) in
            guard let remote = core.attachments?.remote else { return (nil, false) }
            switch remote.hosting {
            case .due(let end):
                // It has not begun, and may be asked for again.
                remote.hosting = .unused
                return (end, false)
            case .executing:
                guard core.verdict == nil, !core.isStopped, remote.cancellation == nil else { return (nil, false) }
                core.isStopped = true
                return (nil, true)
            case .unused, .used: return (nil, false)
            }
        }
        listener?(.cancelled)
        if isToBeTold { TimeOut.$current.withValue(self) { cancel() } }
    }

    /// Gives up a body that does not end. What it still reports is ignored; it stays told to stop.
    package final func abandonHosted() {
        let listener = core.withLock { $0.giveUpHosting() }
        guard let listener else { return }
        Debugger.error(
            "the operation \(publisherName) still runs after it was told to stop; "
                + "its slot and locks are given to others. Let it call finish, or stop, when it is cancelled.")
        listener(.cancelled)
    }

    /// The value of a success in its wire form; nil if its type has none.
    package final func hostedValue() throws -> EncodedValue? {
        ValueCodec.hasCodec(for: type(of: self).outputType) ? try encodedValue() : nil
    }

    /// The value that the body here has made becomes that of the outcome.
    ///
    /// - Returns: false when there is none.
    final func concludeWithHostedValue() -> Bool {
        let value = core.withLock { core -> Hosting.HostedValue in
            if case .used(let value)? = core.attachments?.remote?.hosting { value } else { .none }
        }
        switch value {
        case .none: return false
        case .own: conclude(with: .success)
        case .attempt(let attempt):
            var dropped: Any?  // goes away when the lock is free
            conclude(with: .success) { dropped = adoptValue(of: attempt) }
            withExtendedLifetime(dropped) {}
        }
        return true
    }
}

extension OperationCore {
    /// The body that is executed here counts no more. Returns who has not been told of its end.
    mutating func giveUpHosting() -> (@Sendable (HostedEnding) -> Void)? {
        guard let remote = attachments?.remote, let listener = remote.hosting.listener else { return nil }
        if remote.hosting.isExecuting { isBodyGivenUp = true }
        isStopped = false
        remote.hosting = .used(.none)
        return listener
    }

    /// The body that is executed here proposes an ending: to who asked for it.
    mutating func takeHostedEnding(_ ending: Ending, commit: () -> Void) -> Proposal? {
        guard let remote = attachments?.remote else { return nil }
        guard case .executing(let listener) = remote.hosting else {
            // What a body says that was given up, or says for the second time; or what the program says of one that is elsewhere, in
            // its own `cancel()` for example.
            return remote.isAway && !remote.conclusion.isTelling ? .ignored : nil
        }
        commit()
        isStopped = false
        // What it says after it was cancelled here does not count.
        let ending = remote.cancellation ?? verdict ?? ending
        if case .success = ending { remote.hosting = .used(.own) } else { remote.hosting = .used(.none) }
        return .hosted(ending, listener)
    }
}

extension RemoteBody {
    /// Whether its end is not known.
    var mayExecute: Bool {
        switch phase {
        case .here, .away: true
        case .ended, .over: false
        }
    }
}
