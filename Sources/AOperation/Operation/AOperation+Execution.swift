import Foundation

extension AOperation {
    /// Goes through a slot: from ready into execution. Called by a lane on one of its threads.
    ///
    /// - Returns: false when the operation does not need the slot any more; the lane keeps it then.
    final func run() -> Bool {
        guard core.withLock({ $0.begin() }) else { return false }
        receive()
        tellStart()
        guard core.withLock({ $0.state.isExecuting }) else {
            endBody()  // cancelled by somebody who was told of the start
            return true
        }
        Debugger.event(.executed, of: self)
        execute()
        return true
    }

    /// The body has come to an end and proposes the outcome: what `finish` leads to.
    ///
    /// `commit` stores the value of a success. It runs under the operation's lock, and only if the proposal counts.
    final func conclude(with ending: Ending, commit: () -> Void = {}) {
        let named = ending.published(by: publisherName)
        let proposal = core.withLock { core in
            core.propose(named, isHeld: !named.isCancelled && holdsBack(), commit: commit)
        }
        switch proposal {
        case .decided:
            settle(named)
        case .held:
            tellWillFinish(named) { [self] in
                guard let ending = core.withLock({ $0.release() }) else { return }
                settle(ending)
            }
        case .bodyOver:
            depart()
        case .ignored:
            break
        }
    }

    /// Decides the outcome over the body's head: cancellation, timeouts.
    final func interrupt(with ending: Ending) {
        guard core.withLock({ $0.interrupt(ending) }) else { return }
        settle(ending)
    }

    /// The body has ended without a word, after the outcome was decided: its slot and dependents are let go.
    final func endBody() {
        let proposal = core.withLock { core in
            core.propose(.cancelled(.isCancelled(self)), isHeld: false, commit: {})
        }
        switch proposal {
        case .bodyOver: depart()
        case .decided: settle(.cancelled(.isCancelled(self)))
        case .held, .ignored: break
        }
    }

    /// Tells everybody of the decided outcome, in this order: observers, delegate, the group or queue it is in; then
    /// it counts as finished, and `didFinish` is told.
    private func settle(_ ending: Ending) {
        let errors = ending.errors
        let (observers, delegate, membership) = core.withLock { ($0.observers, $0.delegate, $0.membership) }
        for observer in observers { observer.operationDidFinish(self, errors: errors) }
        delegate?.operationDidFinish(self, with: errors)
        membership?.host?.memberSettled(self, errors: errors)
        Debugger.event(.finished, of: self)

        let (handlers, isBodyOver, grace) = core.withLock { core in
            let isOver = core.told()
            let handlers = core.settleHandlers
            core.settleHandlers = []
            core.callbackQueue = membership?.lane.callbackQueue
            return (handlers, isOver, core.grace)
        }
        if !handlers.isEmpty {
            let callbacks = membership?.lane.callbackQueue ?? AOperation.callbackQueue
            for handler in handlers { handler(self, callbacks) }
        }
        if isBodyOver {
            depart()
        } else {
            limitBody(to: grace)
        }
    }

    /// Lets go of what waits for a body that ignores its cancellation.
    private func limitBody(to grace: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + grace.interval) { [weak self] in
            guard let self, core.withLock({ $0.abandonBody() }) else { return }
            Debugger.error(
                "the operation \(publisherName) still runs \(grace) after its outcome was decided; "
                    + "its slot is given to others. Let it call finish, or stop, when it is cancelled.")
            depart()
        }
    }

    /// The very end: Foundation is told, those who wait are let go, the slot is given back.
    private func depart() {
        guard var departure = core.withLock({ $0.depart() }) else { return }
        Debugger.event(.ended, of: self)
        if departure.announces { didChangeValue(forKey: "isFinished") }
        for watch in departure.watches { watch.stop() }
        for handler in departure.handlers { handler(self) }
        for waiter in departure.waiters { waiter.dependencyEnded() }
        departure.membership?.leave(
            self, wasRunning: departure.wasRunning, returningSlot: reclaimSlot(departure.wasRunning))
        Trampoline.release(&departure.released)
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
    /// The duration in seconds, as Dispatch and Foundation count.
    var interval: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
