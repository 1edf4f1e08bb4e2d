import Foundation

extension AOperation {
    /// Whether an attempt that ended like this may be followed by another one.
    final func mayBeTriedAgain(after ending: Ending) -> Bool {
        let (hasDecider, scope, mayStream) = core.withLock { ($0.retryDecider != nil, $0.retryScope, $0.mayStream) }
        switch ending {
        case .cancelled: return false
        case .failure: return hasDecider || scope?.isMember(self) == true || mayStream && isStreamOpen(after: ending)
        case .success: return scope?.isMember(self) == true && followsProvisional || mayStream && isStreamOpen(after: ending)
        }
    }

    /// Whether what it received may still change.
    private var followsProvisional: Bool {
        core.withLock { $0.producers }.contains { $0.core.withLock { $0.state.isProvisional } }
    }

    /// An attempt has ended: asks whether it is tried again.
    final func deliberate() {
        tellAttemptEnd()
        let (ending, decider, number, isBodyOver) = core.withLock { core in
            (core.state.open, core.retryDecider, core.retries, core.state.isBodyOver)
        }
        if isBodyOver {
            giveUpSlot()
        } else {
            stopParts()
            limitBody(to: grace)
        }
        switch ending.map(judgeStream) ?? .counts {
        case .waits: return
        case .isVoid: return decideOnStream(isVoid: true)
        case .counts: break
        }
        guard case .failure(let errors)? = ending, let error = errors.first, let decider else {
            return decide(nil, onAttempt: number)
        }
        decider(number - (receivedStream?.voids ?? 0), error) { [self] wait in decide(wait, onAttempt: number) }
    }

    /// What the attempt has received is void, so that another one follows; or its success counts.
    final func decideOnStream(isVoid: Bool) {
        let number = core.withLock { $0.retries }
        guard isVoid else { return decide(nil, onAttempt: number) }
        guard let (decision, ending) = core.withLock({ $0.decide(.anew, onAttempt: number) }) else { return }
        carryOut(decision, on: ending)
    }

    /// - Parameter wait: how long it waits before another attempt; nil for none.
    private func decide(_ wait: Duration?, onAttempt number: Int) {
        let isMember = core.withLock { $0.retryScope }?.isMember(self) == true
        let decision = wait.map { .again($0) } ?? (isMember ? .provisional : OperationCore.Decision.final)
        guard let (decision, ending) = core.withLock({ $0.decide(decision, onAttempt: number) }) else { return }
        carryOut(decision, on: ending)
    }

    /// Does what was decided about an attempt.
    final func carryOut(_ decision: OperationCore.Decision, on ending: Ending) {
        switch decision {
        case .again(let wait):
            guard canBeTriedAgain else { return accept(ending) }
            voidStreams()
            after(wait) { [weak self] in self?.tryAgain() }
        case .anew:
            voidStreams()
            Trampoline.run { [weak self] in self?.tryAgain(alone: true) }
        case .provisional:
            if !holdProvisionally() { accept(ending) }
        case .final:
            accept(ending)
        }
    }

    /// The ending of the last attempt is the outcome.
    final func accept(_ ending: Ending) {
        follow(core.withLock { $0.accept(isHeld: !ending.isCancelled && holdsBack()) })
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
        waitForTime { AOperationTimer(interval: wait.interval, handler: job) }
    }

    /// Begins another attempt; at the end of a delivery net, of those above it too that have failed.
    ///
    /// - Parameter alone: because of a stream; those that deliver to it stay what they are.
    private func tryAgain(alone: Bool = false) {
        guard let ending = core.withLock({ $0.retry(after: $0.retries) }) else { return }
        settleProduced(isSuccess: false)
        let restarted = alone ? [] : core.withLock { $0.retryScope }?.restart(by: self) ?? []
        let identities = Set(restarted.map { ObjectIdentifier($0.operation) })
        let lane = core.withLock { $0.membership?.lane } ?? .outside
        lane.enterTogether(!restarted.isEmpty) {
            for (operation, ending) in restarted {
                operation.settleProduced(isSuccess: false)
                operation.begin(after: identities, failing: ending)
            }
            begin(after: identities, failing: ending)
        }
    }

    /// Runs another attempt: an operation of its own, in the same lane and under the same locks.
    ///
    /// - Parameters:
    ///   - restarted: what is tried again together with it; it waits for those of them that it depends on.
    ///   - ending: the outcome, if there is no fresh operation.
    private func begin(after restarted: Set<ObjectIdentifier>, failing ending: Ending) {
        guard let attempt = makeAttempt(), attempt !== self, attempt.isInitialized else {
            Debugger.error(
                "the operation \(publisherName) is to be tried again, but new() made no fresh operation: it fails. "
                    + "Let new() return an operation that is in no queue and has not ended.")
            conclude(ending, isByBody: true, isOpen: false, body: .over)
            return
        }
        configure(attempt, after: restarted)
        // What the attempt waits for, and is in no queue, comes with it: its end is nobody's outcome.
        OperationParts(
            of: self,
            settled: { [weak self, weak attempt] part in if part === attempt { self?.attemptSettled(part) } },
            ended: { [weak self, weak attempt] part in if part === attempt { self?.attemptEnded(part) } }
        ).run([attempt]) { core in
            guard case .retrying = core.state, core.attempt == nil else { return false }
            core.attempt = attempt
            return true
        }
        if core.withLock({ $0.verdict != nil }) { attempt.cancel() }  // it came while the attempt was being made
    }

    private func configure(_ attempt: AOperation, after restarted: Set<ObjectIdentifier>) {
        attempt.dropListeners()
        let (conditions, observers, inbox, injections, awaited, grace) = core.withLock { core in
            (
                core.conditions, core.attemptObservers, core.inbox, core.injections,
                core.dependencies.all.compactMap { $0 as? AOperation } + core.producers, core.grace
            )
        }
        attempt.replaceSettings { core in
            core.isAttempt = true
            core.whole = self
            core.conditions = conditions
            core.attemptObservers = observers
            core.inbox = inbox
            core.injections = injections
            core.grace = grace
        }
        if inbox == nil { (self as? any ReceiverOperation)?.handReceived(to: attempt) }
        attempt.name = name
        attempt.queuePriority = queuePriority
        if qualityOfService != .default { attempt.qualityOfService = qualityOfService }
        // Beside those of this round, those that an earlier one has begun again and that go on.
        for operation in awaited where restarted.contains(ObjectIdentifier(operation)) || operation.isUndecided {
            attempt.addDependency(operation)
        }
        attempt.takeOverReaders(of: self)
        if let stream = receivedStream { attempt.withAttachments { $0.stream = stream } }
        willBegin(attempt)
    }

    /// Whether it has neither ended nor waits, provisionally, for the end of its delivery net.
    private var isUndecided: Bool { core.withLock { !$0.state.isEnded && !$0.state.isProvisional } }

    private func attemptSettled(_ attempt: AOperation) {
        switch attempt.ending {
        case .success, nil:
            break  // counts when its body has ended: at once
        case .cancelled:
            if core.withLock({ $0.verdict == nil }) { cancel() }
            // A group has waited for it.
            if let verdict = core.withLock({ $0.verdict }) { interrupt(with: verdict) }
        case .failure(let errors):
            let isBodyOver = attempt.core.withLock { $0.state.isBodyOver }
            if !isBodyOver { conclude(.failure(errors), of: attempt, body: .running) }  // else at once, as above
        }
    }

    private func attemptEnded(_ attempt: AOperation) {
        core.withLock { core in if core.attempt === attempt { core.attempt = nil } }
        if let ending = attempt.ending, conclude(ending, of: attempt, body: .over) { return }
        follow(core.withLock { $0.bodyEnded() })
    }

    @discardableResult
    private func conclude(_ ending: Ending, of attempt: AOperation, body: OperationState.Body) -> Bool {
        let isByBody = attempt.core.withLock { $0.isProposedByBody }
        var dropped: Any?  // goes away when the lock is free
        defer { withExtendedLifetime(dropped) {} }
        return conclude(ending, isByBody: isByBody, isOpen: mayBeTriedAgain(after: ending), body: body) {
            dropped = adoptValue(of: attempt)
        }
    }

    /// - Returns: false when something else has decided meanwhile.
    @discardableResult
    private func conclude(
        _ ending: Ending, isByBody: Bool, isOpen: Bool, body: OperationState.Body, commit: () -> Void = {}
    ) -> Bool {
        let proposal = core.withLock { core in
            core.attemptEnded(
                ending, body: body, isProposedByBody: isByBody, isHeld: !ending.isCancelled && holdsBack(), isOpen: isOpen,
                commit: commit)
        }
        guard let proposal else { return false }
        follow(proposal)
        return true
    }

    /// Stops what runs as a part of an operation whose outcome is decided. What somebody else runs, and this operation
    /// only waited for, it does not wait for any more.
    ///
    /// Who is taking parts meanwhile does it afterwards.
    final func stopParts() {
        let parts = core.withLock { $0.takingParts > 0 ? [] : $0.parts.all }
        guard !parts.isEmpty else { return }
        var own: [AOperation] = []
        var others: [AOperation] = []
        for part in parts {
            if part.core.withLock({ $0.whole }) === self { own.append(part) } else { others.append(part) }
        }
        if !others.isEmpty {
            let isLast = core.withLock { core in
                for part in others { _ = core.parts.remove(part) }
                return core.parts.isEmpty
            }
            if isLast { return endBody() }
        }
        Trampoline.run {
            for part in own.reversed() { part.cancel() }
        }
    }
}
