import Foundation

extension AOperation {
    /// A slot is free: prepares the operation, or executes it. Called by a lane on one of its threads.
    ///
    /// - Returns: false when the operation does not need the slot, or not any more; the lane keeps it then.
    final func run() -> Bool {
        let (start, isBare) = core.withLock { core -> (OperationCore.Start?, isBare: Bool) in
            guard core.attachments?.stream == nil else { return (nil, false) }
            let start = core.begin(isContainer: isContainer)
            guard case .execute = start, core.isBare else { return (start, false) }
            core.isStartTold = true
            return (start, true)
        }
        switch start ?? beginWithStream() {
        case .nothing:
            return false
        case .prepare(let round):
            prepare(round)
            guard core.withLock({ !$0.leavePreparation() }) else { return false }
            return run()
        case .execute where isBare:
            Debugger.event(.executed, of: self)
            executeBody()
            return true
        case .execute:
            receive()
            if core.withLock({ $0.isBodyDue }) { tellStart() }  // an injection may have decided the outcome
            let (isDue, mayStream, surroundings) = core.withLock { ($0.isBodyDue, $0.mayStream, $0.attachments?.surroundings) }
            guard isDue, isContainer || !isAttemptOfDecided else {
                endBody()  // cancelled by somebody who was told of the start, or timed out already
                return true
            }
            if mayStream { beginStreams() }
            Debugger.event(.executed, of: self)
            if let surroundings { surroundings { executeBody() } } else { executeBody() }
            return true
        case .mirror:
            receive()
            if core.withLock({ $0.isBodyDue }) { tellStart() }
            beginStreams()
            Debugger.event(.executed, of: self)
            awaitRemoteEnd()
            return true
        }
    }

    /// Whether it is an attempt of an operation that was cancelled, and only hears of that next. (A group begins then, so that
    /// its children end before it does.)
    private var isAttemptOfDecided: Bool {
        core.withLock { $0.isAttempt ? $0.whole : nil }?.core.withLock { $0.verdict != nil } ?? false
    }

    /// The body has come to an end and proposes the outcome: what `finish` leads to.
    ///
    /// `commit` stores the value of a success. It runs under the operation's lock, and only if the proposal counts.
    final func conclude(with ending: Ending, commit: () -> Void = {}) {
        let named = ending.published(by: publisherName)
        let simple = core.withLock { core -> OperationCore.Proposal? in
            guard core.hasOneAttempt else { return nil }
            return core.propose(named, isHeld: !named.isCancelled && holdsBack(), isOpen: false, commit: commit)
        }
        if let simple { return follow(simple) }
        let isOpen = mayBeTriedAgain(after: named)
        follow(
            core.withLock { core in
                core.propose(named, isHeld: !named.isCancelled && holdsBack(), isOpen: isOpen, commit: commit)
            })
    }

    /// Does what a proposal has led to.
    final func follow(_ proposal: OperationCore.Proposal) {
        switch proposal {
        case .decided:
            settle()
        case .held(let ending):
            tellHold()
            guard core.withLock({ $0.state.isHolding }) else { return }  // cancelled, or timed out, meanwhile
            Holds.tell(holdListeners(of: ending)) { [self] in
                if let letGo = core.withLock({ $0.letGoElsewhere() }) { return letGo() }
                if core.withLock({ $0.release() }) { settle() }
            }
        case .deliberating:
            deliberate()
        case .bodyOver:
            depart()
        case .attemptOver:
            giveUpSlot()
            if let (decision, ending) = core.withLock({ $0.takeDecision() }) { carryOut(decision, on: ending) }
        case .hosted(.success, let listener):
            listener(.success(self))
        case .hosted(.failure(let errors), let listener):
            listener(.failure(errors))
        case .hosted(.cancelled, let listener):
            listener(.cancelled)
        case .ignored:
            break
        }
    }

    /// Decides the outcome over the body's head: cancellation, timeouts.
    final func interrupt(with ending: Ending) {
        if core.withLock({ $0.interrupt(ending) }) { settle() }
    }

    /// The body has ended without a word, after the outcome was decided: its slot and dependents are let go.
    final func endBody() {
        let cancelled = Ending.cancelled(.isCancelled(self))
        follow(core.withLock { $0.propose(cancelled, isHeld: false, isOpen: false, commit: {}) })
    }

    /// Tells everybody of the decided outcome, in this order: observers, delegate, the group or queue it is in; then
    /// it counts as finished, and `didFinish` is told.
    final func settle() {
        let told = core.withLock { core in
            core.mayTellEnd()
                ? (
                    core.state.ending, core.observers, core.delegate, core.membership, core.retryScope,
                    core.attachments?.produced.isEmpty == false, core.attemptObservers
                ) : nil
        }
        guard let (ending, observers, delegate, membership, scope, hasProduced, attemptObservers) = told else { return }
        let errors = ending?.errors ?? []
        for observer in attemptObservers { observer.attemptDidEnd(self) }
        scope?.decided(self)
        if hasProduced { settleProduced(isSuccess: errors.isEmpty) }
        for observer in observers { observer.operationDidFinish(self, errors: errors) }
        delegate?.operationDidFinish(self, with: errors)
        membership?.host?.memberSettled(self, errors: errors)
        Debugger.event(.finished, of: self)

        // One that ends before it joins its group's queue is told of where those are that do.
        let callbacks = membership.map(\.lane.callbackQueue) ?? enclosingCallbackQueue
        var (handlers, isBodyOver, mayStream) = core.withLock { core in
            let isOver = core.told()
            let handlers = core.settleHandlers
            core.settleHandlers = []
            core.isCallingBack = !handlers.isEmpty && !isOver
            core.callbackQueue = callbacks
            return (handlers, isOver, core.mayStream)
        }
        if !handlers.isEmpty {
            let callbacks = callbacks ?? AOperation.callbackQueue
            for handler in handlers { handler(self, callbacks) }
            if !isBodyOver { isBodyOver = core.withLock { $0.calledBack() } }
        }
        if mayStream { closeStreams() }
        if isBodyOver {
            depart()
        } else {
            stopParts()
            limitBody(to: grace)
        }
    }

    /// Lets go of what waits for a body that ignores its cancellation. Parts have a limit of their own, and so has a
    /// body somewhere else.
    final func limitBody(to grace: Duration) {
        guard let number = core.withLock({ $0.parts.isEmpty && $0.attachments?.remote == nil ? $0.retries : nil }) else { return }
        Timers.queue.asyncAfter(deadline: .now() + grace.interval) { [weak self] in
            guard let self, let proposal = core.withLock({ $0.abandonBody(ofAttempt: number) }) else { return }
            Debugger.error(
                "the operation \(publisherName) still runs \(grace) after its outcome was decided; "
                    + "its slot and locks are given to others. Let it call finish, or stop, when it is cancelled.")
            follow(proposal)
        }
    }

    /// The very end: Foundation is told, those who wait are let go, slot, locks and unique id are given back.
    private func depart() {
        let (isDue, host) = core.withLock { ($0.beginDeparture(), $0.membership?.host) }
        guard isDue else { return }
        host?.memberLeaves()
        let (departing, closures) = core.withLock { ($0.depart(), takeClosures()) }
        defer { withExtendedLifetime(closures) {} }
        guard var departure = departing else { return }
        Debugger.event(.ended, of: self)
        if departure.announces { announceEndToFoundation() }
        if departure.isOpen, completionBlock != nil, core.withLock({ $0.mustAnnounce() }) {
            announceEnd(to: core.withLock { $0.takeWaiters(evenFollowers: true) })
        }
        if departure.announcesReadiness { announceReadiness() }
        for watch in departure.watches { watch.stop() }
        departure.timer?.cancel()
        if let request = departure.lockRequest { LockTable.shared.release(request) }
        if case .claimed(let id)? = departure.uniqueness { UniquenessTable.shared.release(id, by: self) }
        departure.declarations.withdrawDeclaration()
        for handler in departure.handlers { handler(self) }
        for waiter in departure.waiters { waiter.dependencyEnded() }
        let reclaimed = reclaimSlot(departure.wasRunning)
        departure.membership?.leave(self, wasRunning: reclaimed.isRunning, returningSlot: reclaimed.hasSlot)
        departure.release()
    }
}

extension OperationCore.Departure {
    /// Lets go of what the operation held. Nothing hangs on those that have ended; releasing another one may release
    /// a chain.
    fileprivate mutating func release() {
        let isShort = dependencies.allSatisfy { ($0 as? AOperation)?.isEnded == true } && producers.allSatisfy(\.isEnded)
        if !isShort {
            Trampoline.release(&dependencies)
            Trampoline.release(&producers)
        }
        Trampoline.release(&receivers)
        Trampoline.release(&injections)
    }
}

extension Ending {
    /// The same ending; errors that nobody has published yet are published by `name`.
    fileprivate func published(by name: @autoclosure () -> String) -> Ending {
        switch self {
        case .success: return self
        case .failure(let errors):
            let name = name()
            return .failure(errors.map { $0.published(by: name) })
        case .cancelled: return self
        }
    }
}

extension Duration {
    /// The duration in seconds, as Dispatch and Foundation count; of any length.
    var interval: Double { self / .seconds(1) }
}
