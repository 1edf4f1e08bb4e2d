import Foundation

extension AOperation {
    /// Whether an attempt that ended like this may be followed by another one.
    final func mayBeTriedAgain(after ending: Ending) -> Bool {
        let (hasDecider, scope) = core.withLock { ($0.retryDecider != nil, $0.retryScope) }
        switch ending {
        case .cancelled: return false
        case .failure: return hasDecider || scope?.isMember(self) == true
        case .success: return scope?.isMember(self) == true && followsProvisional
        }
    }

    /// Whether what it received may still change.
    private var followsProvisional: Bool {
        core.withLock { $0.producers }.contains { $0.core.withLock { $0.state.isProvisional } }
    }

    /// An attempt has ended: asks whether it is tried again.
    final func deliberate(on ending: Ending) {
        tellAttemptEnd()
        let (decider, number, isBodyOver, grace) = core.withLock { core in
            (core.retryDecider, core.retries, core.state.isBodyOver, core.grace)
        }
        if isBodyOver {
            giveUpSlot()
        } else {
            stopParts()
            limitBody(to: grace)
        }
        guard case .failure(let errors) = ending, let error = errors.first, let decider else {
            return decide(.provisional, onAttempt: number)
        }
        decider(number, error) { [self] wait in
            decide(wait.map { .again($0) } ?? .provisional, onAttempt: number)
        }
    }

    private func decide(_ decision: OperationCore.Decision, onAttempt number: Int) {
        guard let (decision, ending) = core.withLock({ $0.decide(decision, onAttempt: number) }) else { return }
        carryOut(decision, on: ending)
    }

    /// Does what was decided about an attempt whose body has ended.
    final func carryOut(_ decision: OperationCore.Decision, on ending: Ending) {
        switch decision {
        case .again(let wait):
            guard canBeTriedAgain else { return accept(ending) }
            after(wait) { [weak self] in self?.tryAgain() }
        case .provisional:
            if !holdProvisionally() { accept(ending) }
        case .final:
            accept(ending)
        }
    }

    /// The ending of the last attempt is the outcome.
    final func accept(_ ending: Ending) {
        let isHeld = !ending.isCancelled && core.withLock { _ in holdsBack() }
        let proposal = core.withLock { $0.accept(isHeld: isHeld) }
        follow(proposal, ending)
    }

    private var canBeTriedAgain: Bool {
        let scope = core.withLock { $0.retryScope }
        for operation in [self] + (scope?.restartable(by: self) ?? []) where !operation.isRetryable {
            Debugger.error(
                "the operation \(operation.publisherName) is to be tried again but is no RetryableOperation: "
                    + "it fails. Conform to RetryableOperation, and make a fresh operation in new().")
            return false
        }
        return true
    }

    private func after(_ wait: Duration, _ job: @escaping @Sendable () -> Void) {
        guard wait > .zero else { return Trampoline.run(job) }
        DispatchQueue.global().asyncAfter(deadline: .now() + wait.interval, execute: job)
    }

    /// Begins another attempt; at the end of a delivery net, of those above it too that have failed.
    private func tryAgain() {
        guard core.withLock({ $0.retry() }) else { return }
        let restarted = core.withLock { $0.retryScope }?.restart(by: self) ?? []
        for operation in restarted where operation.core.withLock({ $0.retry() }) { operation.begin(after: restarted) }
        begin(after: restarted)
    }

    /// Runs another attempt: an operation of its own, in the same lane and under the same locks.
    private func begin(after restarted: [AOperation]) {
        guard let attempt = makeAttempt() else {
            preconditionFailure("\(publisherName) can be tried again but makes no fresh operation")
        }
        configure(attempt, after: restarted)
        OperationParts(
            of: self,
            settled: { [weak self] attempt in self?.attemptSettled(attempt) },
            ended: { [weak self] attempt in self?.attemptEnded(attempt) }
        ).run([attempt]) { core in
            guard case .retrying = core.state, core.attempt == nil else { return false }
            core.attempt = attempt
            return true
        }
    }

    private func configure(_ attempt: AOperation, after restarted: [AOperation]) {
        let (conditions, observers, inbox, injections, producers, grace) = core.withLock { core in
            (core.conditions, core.attemptObservers, core.inbox, core.injections, core.producers, core.grace)
        }
        attempt.core.withLock { core in
            core.isAttempt = true
            core.whole = self
            core.conditions = conditions
            core.attemptObservers = observers
            core.inbox = inbox
            core.injections = injections
            core.grace = grace
        }
        attempt.name = name
        attempt.queuePriority = queuePriority
        if qualityOfService != .default { attempt.qualityOfService = qualityOfService }
        for producer in producers where restarted.contains(where: { $0 === producer }) { attempt.addDependency(producer) }
        attempt.takeOverReaders(of: self)
        willBegin(attempt)
    }

    private func attemptSettled(_ attempt: AOperation) {
        switch attempt.ending {
        case .success, nil:
            break  // counts when its body has ended: at once
        case .cancelled:
            if !isCancelled { cancel() }
        case .failure(let errors):
            conclude(.failure(errors), of: attempt, body: .running)
        }
    }

    private func attemptEnded(_ attempt: AOperation) {
        core.withLock { core in if core.attempt === attempt { core.attempt = nil } }
        if case .success? = attempt.ending {
            conclude(.success, of: attempt, body: .over)
        } else {
            follow(core.withLock { $0.bodyEnded() }, attempt.ending ?? .success)
        }
    }

    private func conclude(_ ending: Ending, of attempt: AOperation, body: OperationState.Body) {
        let isOpen = mayBeTriedAgain(after: ending)
        let isHeld = core.withLock { _ in holdsBack() }
        let proposal = core.withLock { core in
            core.attemptEnded(ending, body: body, isHeld: isHeld, isOpen: isOpen) { adoptValue(of: attempt) }
        }
        follow(proposal, ending)
    }

    /// Stops what runs as a part of an operation whose outcome is decided. What somebody else runs, and this operation
    /// only waited for, it does not wait for any more.
    final func stopParts() {
        let parts = core.withLock { $0.parts }
        guard !parts.isEmpty else { return }
        let own = parts.filter { part in part.core.withLock { $0.whole } === self }
        if own.count < parts.count {
            let isLast = core.withLock { core in
                core.parts.removeAll { part in !own.contains { $0 === part } }
                return core.parts.isEmpty
            }
            if isLast { return endBody() }
        }
        Trampoline.run {
            for part in own.reversed() { part.cancel() }
        }
    }
}
