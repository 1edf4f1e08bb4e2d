import Foundation

/// What a queue does with operations that run elsewhere.
extension AOperation {
    /// Makes the operation a mirror of one that runs elsewhere. What it has that is shipped, or must not happen twice,
    /// is taken off: conditions, retries, time limits.
    ///
    /// - Parameters:
    ///   - whenCancelled: called, once, when it is cancelled here while its body is away. How it ends is reported.
    ///   - partialResults: opens a cursor for a reader of what it sends there.
    /// - Returns: false for an operation that is in a queue, is a mirror, or has ended.
    package final func becomeMirror(
        whenCancelled: @escaping @Sendable (AOperation) -> Void,
        partialResults: (@Sendable () -> any RemotePartialResultCursor)? = nil
    ) -> Bool {
        let body = RemoteBody(whenCancelled: whenCancelled, partialResults: partialResults)
        let before = core.withLock { $0 }  // nothing of the program's is released under the lock
        defer { withExtendedLifetime(before) {} }
        let isInTime = core.withLock { core in
            guard core.state.isInitialized, core.verdict == nil, core.attachments?.remote == nil else { return false }
            body.retryDecider = core.retryDecider
            body.tellingConditions = core.conditions.filter(\.tellsItsErrorHere)
            let attachments = core.attachments ?? OperationAttachments()
            attachments.remote = body
            attachments.retryPolicy = nil
            core.attachments = attachments
            core.conditions = []
            core.preparation = nil
            core.retryDecider = nil
            core.retryScope = nil
            core.timeLimits = TimeLimits()
            core.attemptObservers = []
            return true
        }
        if isInTime {
            didBecomeMirror()
            redirectReaders()
        }
        return isInTime
    }

    /// Whether its body is elsewhere.
    package final var isMirror: Bool { attachment(\.remote) != nil }

    /// The body is about to be handed over. False when the operation has been cancelled before that.
    package final func handOver() -> Bool {
        core.withLock { core in
            guard let remote = core.attachments?.remote, case .here = remote.phase else { return false }
            guard core.verdict == nil, core.state.ending == nil else { return false }
            remote.phase = .away
            return true
        }
    }

    /// The body has started there. A second call does nothing.
    ///
    /// - Parameter isToldAtOnce: whether the listeners are told though the operation waits here for others: their ends do not
    ///   count before its own does.
    package final func remoteDidStart(isToldAtOnce: Bool = false) {
        let isHeld = core.withLock { core in
            guard let remote = core.attachments?.remote, !remote.hasStarted else { return false }
            remote.hasStarted = true
            if case .waiting = core.state { return true }
            return false
        }
        guard isHeld else { return }
        if isToldAtOnce { tellStart() }
        dependencyEnded()
    }

    /// The body has ended there. Only the first call counts.
    ///
    /// - Parameter hasStarted: whether it had started at all.
    package final func remoteDidEnd(_ ending: RemoteEnding, hasStarted: Bool) {
        takeRemoteEnd(ending, hasStarted: hasStarted)
    }

    /// Ends an operation that is in no queue, and can be run by none, as a failure.
    package final func refuse(_ error: AOperationError) {
        failBeforeExecution([error.published(by: publisherName)])
    }

    /// Calls `handler` once outcome and body are over; at once when that is past.
    package final func whenOver(_ handler: @escaping @Sendable () -> Void) { onEnd { _ in handler() } }

    /// Calls `handler` once everything is over that has to be before it runs: not who only streams to it.
    package final func whenDependenciesAreOver(_ handler: @escaping @Sendable () -> Void) {
        let (stream, deliverers) = core.withLock { core -> (StreamLink?, [AOperation]) in
            guard case .of(let count, _) = core.delivery else { return (core.attachments?.stream, []) }
            return (core.attachments?.stream, core.producers.suffix(count))
        }
        let awaited = dependencies.compactMap { $0 as? AOperation }.filter { dependency in
            stream?.isFrom(dependency) != true || deliverers.contains { $0 === dependency }
        }
        let open = Guarded(awaited.count + 1)
        let letGo: @Sendable () -> Void = {
            let isLast = open.withLock { open in
                open -= 1
                return open == 0
            }
            if isLast { handler() }
        }
        for operation in awaited { operation.whenOver(letGo) }
        letGo()
    }

    /// The name with which its errors are published.
    package final var errorName: String { publisherName }

    /// The operation and its delivery net, as far as they are in no queue; producers come before their receivers. In place of a group's
    /// child it is the outermost group around it; when a queue has that, nothing, but for a product, which a group in a queue has just been given.
    package final func netInNoQueue(isProduct: Bool = false) -> [AOperation] {
        guard let first = standIn ?? (isProduct ? self : nil) else { return [] }
        return first.inNet { $0.deliveryNet() }
    }

    /// What `members` says of the operation; and again if something of that was given a value, which is delivered then.
    private func inNet(_ members: (AOperation) -> [AOperation]) -> [AOperation] {
        let all = members(self)
        let hasGrown = all.map { $0.deliverGivenValue() }.contains(true)
        // What was cancelled before is there for those that receive from it.
        return (hasGrown ? members(self) : all).filter { $0 === self || $0.isInitialized || $0.hasEndedAsCancelled }
    }

    /// The same of several operations, each once.
    ///
    /// - Complexity: O(operations and their nets): who is in the net of one before brings no other.
    package static func netsInNoQueue(of operations: [AOperation], areProducts: Bool = false) -> [AOperation] {
        var known: Set<ObjectIdentifier> = []
        var all: [AOperation] = []
        for operation in operations where !known.contains(ObjectIdentifier(operation)) {
            all += operation.netInNoQueue(isProduct: areProducts).filter { known.insert(ObjectIdentifier($0)).inserted }
        }
        return all
    }

    /// These are added by themselves, with others: groups among those do not take them for their own.
    package static func listBeside(_ operations: [AOperation], _ isListed: Bool) {
        for operation in operations { operation.core.withLock { $0.isListedBeside = isListed } }
    }

    /// The net of one operation, with everything that is waited for in it.
    package final func everythingInNoQueue() -> [AOperation] {
        guard let first = standIn else { return [] }
        return first.inNet { $0.unqueuedDependencies() }
    }
}

/// What becomes of a leaf; groups have their own way.
extension AOperation {
    private enum Step {
        case nothing
        /// The operation goes on to its start, if it waits for that.
        case start
        case conclude
        case endBody
    }

    final func takeLeafEnd(_ ending: RemoteEnding, hasStarted: Bool) {
        guard !takeConcludedEnd(ending) else { return }
        // A body that still runs here counts no more.
        core.withLock { $0.giveUpHosting() }?(.cancelled)
        let step = core.withLock { core -> Step in
            guard let remote = core.attachments?.remote else { return .nothing }
            switch remote.phase {
            case .ended, .over: return .nothing
            case .here, .away: break
            }
            switch core.state {
            case .executing:
                guard remote.isAwaited else {
                    remote.phase = .ended(ending)
                    return .nothing
                }
                remote.close(with: ending)
                return .conclude
            case .telling, .finished:
                remote.phase = .over
                return .endBody
            case .ended:
                remote.phase = .over
                return .nothing
            case .initialized, .waiting, .ready, .preparing, .deliberating, .retrying, .provisional, .holding:
                // What has joined another operation succeeds without a start.
                guard hasStarted || remote.hasStarted else {
                    remote.close(with: ending)
                    return .conclude
                }
                remote.phase = .ended(ending)
                return .start
            }
        }
        switch step {
        case .nothing: break
        case .start:
            remoteDidStart()
            // It may wait here for producers that nobody needs any more.
            if case .cancelled = ending { DeliveryNet.cancelUnneeded(core.withLock { $0.producers }) }
        case .conclude: conclude(with: ending)
        case .endBody: endBody()
        }
    }

    /// What a mirror does in the place of executing.
    private enum Execution {
        case wait
        case conclude(RemoteEnding)
        /// Its end is known, and does not count before it was asked about that.
        case ask(@Sendable () -> Void)
        /// Here, on somebody's behalf.
        case execute
        /// It was to be, but the outcome is decided.
        case drop(@Sendable (HostedEnding) -> Void)
    }

    /// The operation has begun here; its body is elsewhere, unless it was asked for here.
    final func awaitRemoteEnd() {
        let execution = core.withLock { core -> Execution in
            guard let remote = core.attachments?.remote else { return .wait }
            if let ending = remote.takeEnding() { return .conclude(ending) }
            if let job = remote.whenAwaited.take() { return .ask(job) }
            guard case .due(let listener) = remote.hosting else { return .wait }
            guard core.isBodyDue else {
                remote.hosting = .used(.none)
                return .drop(listener)
            }
            remote.hosting = .executing(listener)
            return .execute
        }
        switch execution {
        case .wait: makePartOfMirror()
        case .conclude(let ending): conclude(with: ending)
        case .ask(let job): job()
        case .execute: surrounded { execute() }
        case .drop(let listener): listener(.cancelled)
        }
    }

    /// Whether its body was asked for here and has not ended.
    final var isHosting: Bool { attachment { $0.remote?.hosting.listener } != nil }

    final func conclude(with ending: RemoteEnding) {
        switch ending {
        case .success(let value):
            guard !concludeWithHostedValue() else { return }
            do {
                try concludeRemotely(with: value)
            } catch {
                conclude(with: Ending.failure([AOperationError(error, state: .execution, publisher: publisherName)]))
            }
        case .failure(let errors):
            conclude(with: Ending.failure(errors))
        case .cancelled:
            takeRemoteCancellation()
            endBody()
        }
    }
}
