/// Explanations are compared with the state by other means than those by which they were found.
extension Scheduler {
    /// Whatever does not run and has not ended has something in its way, and all that is named is true. Holds between any two
    /// steps.
    ///
    /// - Parameter limit: submissions with more units are passed over.
    public func explanationViolations(upTo limit: Int = .max) -> [String] {
        var found: [String] = []
        for submission in durable.submissions where submission.outcome == nil && submission.units.count <= limit {
            var explainer = Explainer(self, submission.number)
            for unit in submission.units.indices {
                let state = submission.units[unit]
                guard !state.hasEnded, state.phase != .dropped else { continue }
                let blockers = explainer.blockers(of: unit)
                let name = durable.name(of: submission.id(unit))
                if blockers.isEmpty, !isAtWork(state) {
                    found.append("\(name) is \(operationState(of: unit, explainer.index)) (\(state.phase)), and nothing is in its way")
                }
                for blocker in blockers {
                    if let fault = fault(of: blocker, unit, submission) {
                        found.append("\(name) (\(state.phase)) is said to wait for \(blocker.kind): \(fault)")
                    }
                }
            }
        }
        return found
    }

    /// Whether its attempt has begun, or its members may.
    private func isAtWork(_ state: Unit) -> Bool {
        switch state.phase {
        case .assigned: state.stop == nil && state.isRunning
        case .open: state.stop == nil
        default: false
        }
    }

    /// nil: it is so.
    private func fault(of blocker: Blocker, _ unit: Int, _ submission: Submission) -> String? {
        let state = submission.units[unit]
        let node = submission.node(unit)
        func isNode(_ other: BlockingUnit, in nodes: [Int]) -> Bool {
            nodes.contains { Int(submission.units[other.unit.index].node) == $0 }
        }
        func isOpen(_ other: BlockingUnit) -> Bool { !durable.submission(other.unit.submission).units[other.unit.index].hasEnded }
        func check(_ holds: Bool, _ text: String) -> String? { holds ? nil : text }
        switch blocker {
        case .dependency(let other):
            return check(isOpen(other) && (node.isDecider || isNode(other, in: node.after)), "\(other.operation) is not waited for")
        case .delivery(let other, .value):
            return check(isOpen(other) && isNode(other, in: node.receives), "\(other.operation) has delivered")
        case .delivery(let other, .begin):
            let isNamed = node.streamProducer.map { isNode(other, in: [$0]) } ?? false
            return check(isOpen(other) && isNamed && submission.lacksStream(unit), "\(other.operation) has begun")
        case .delivery(let other, .end):
            return check(isOpen(other) && state.phase == .provisional, "\(other.operation) has ended")
        case .order(let other):
            let isBefore = submission.units[other.unit.index].position < state.position
            return check(isOpen(other) && isBefore && submission.units[other.unit.index].parent == state.parent, "its turn has come")
        case .group(let other):
            let phase = submission.units[other.unit.index].phase
            let isAround = other.unit.index != unit && submission.isInside(unit, of: other.unit.index)
            return check(isAround && phase != .open, "\(other.operation) has started")
        case .maxConcurrent(let wait):
            let active = submission.children(of: Int(state.parent)).count { submission.units[$0].isActive }
            return check(state.phase == .held && active >= wait.limit && wait.taken == active, "there are \(active) of \(wait.limit)")
        case .delay: return check(delayed(state), "nothing delays it")
        case .paused(let other, _):
            let isPaused = submission.pauses[Int32(other.unit.index)] != nil
            return check(isPaused && submission.isInside(unit, of: other.unit.index), "\(other.operation) is not paused")
        case .lock(let wait): return fault(of: wait, submission.id(unit))
        case .condition(let wait): return fault(of: wait, unit, submission)
        case .join(let other, let id):
            let key = UniqueTable.Key(principal: submission.principal, id: id)
            return check(isOpen(other) && durable.ids.holder(of: key) == other.unit, "it has the id itself")
        case .worker(let wait): return fault(of: wait, unit, submission)
        case .slots(let wait): return fault(of: wait, unit, submission)
        case .retry(let wait):
            guard let tail = wait.decidedBy else { return check(state.phase == .retryWait(until: wait.until), "it is not tried again") }
            return check(isOpen(tail) && submission.isHeldInScope(unit), "its end is not held")
        case .submitter(let wait):
            let session = durable.workerByIncarnation[submission.submitter].map { workers.sessions[$0.index] }
            let isThere = session.map { $0.isAttached && !$0.isSuspected } ?? false
            return check(
                isThere == (wait.until == nil) && (!isThere || submission.isConcluding(unit)), "its submitter is there: \(isThere)")
        case .stopping: return check(state.stop != nil, "nobody stops it")
        case .value: return check(waitingValues[submission.id(unit)] != nil, "its value does not wait")
        case .partialResults: return check(state.isRunning, "it does not run")
        case .pausing(let wait):
            let isAsked = awaitedPauses.contains { $0.unit == wait.unit.unit }
            return check(isAsked && submission.isInside(unit, of: wait.unit.unit.index), "nobody has asked to pause \(wait.unit.operation)")
        }
    }

    private func delayed(_ state: Unit) -> Bool { if case .delayed = state.phase { true } else { false } }

    private func fault(of wait: LockWait, _ unit: UnitID) -> String? {
        let requests = durable.locks.requests
        guard let own = requests[unit], !own.isHeld else { return "it waits for no lock" }
        guard
            let term = own.terms.first(where: {
                durable.locks.keys[Int($0.lock.key)] == wait.lock.key
                    && ($0.lock.scope == 0 ? "" : durable.name(of: UnitID(rawValue: $0.lock.scope))) == wait.lock.scope
            })
        else { return "it does not ask for `\(wait.lock.key)`" }
        let others = requests.filter { $0.key != unit && $0.value.terms.contains { $0.lock == term.lock } }
        let holders = others.filter { $0.value.isHeld }
        let ahead = others.filter { !$0.value.isHeld && $0.value.ticket < own.ticket }
        if holders.count != wait.lock.holderCount { return "\(holders.count) hold it, not \(wait.lock.holderCount)" }
        let names = Set(holders.keys.map { durable.name(of: $0) })
        if let stranger = wait.lock.holders.first(where: { !names.contains($0.operation) }) {
            return "\(stranger.operation) does not hold it"
        }
        if ahead.count != wait.ahead { return "\(ahead.count) stand before it, not \(wait.ahead)" }
        return holders.count < wait.lock.limit && ahead.isEmpty ? "it could have it" : nil
    }

    private func fault(of wait: ConditionWait, _ unit: Int, _ submission: Submission) -> String? {
        let state = submission.units[unit]
        guard submission.conditions(of: unit).contains(where: { $0.key == wait.key }) else { return "it has no condition `\(wait.key)`" }
        switch wait.stage {
        case .notYet: return state.isCleared ? "it was judged" : nil
        case .preparing(let other):
            let isOpen = !submission.units[other.unit.index].hasEnded && submission.units[other.unit.index].parent == Int32(unit)
            return isOpen && state.phase == .preparing ? nil : "\(other.operation) has ended"
        case .evaluating(let worker):
            guard case .assigned(_, let number) = state.phase, state.isEvaluating else { return "nobody evaluates it" }
            return durable.workers[number.index].identity.name == worker ? nil : "somebody else evaluates it"
        case .notNow(let verdict, _):
            guard case .postponed = state.phase else { return "it is not put off" }
            return submission.verdicts[Int32(unit)]?.contains(verdict) == true ? nil : "it has not said so"
        }
    }

    private func fault(of wait: WorkerWait, _ unit: Int, _ submission: Submission) -> String? {
        let there = workers.sessions.indices.filter {
            !durable.workers[$0].identity.isSubmitter && !durable.workers[$0].hasEnded && workers.sessions[$0].isAttached
                && workers.sessions[$0].isAccepting && durable.drains[durable.workers[$0].identity.givenName] == nil
        }.map { workers.sessions[$0] }
        switch wait.reason {
        case .noWorker: return there.isEmpty ? nil : "\(there.count) are there"
        case .operation(let type): return there.contains { $0.operations.contains { $0.name == type } } ? "one has it" : nil
        case .version(let version, let type):
            return there.contains { $0.operations.contains { $0.name == type && $0.takes(version: version) } } ? "one has it" : nil
        case .condition(let type): return there.contains { $0.conditions.contains(type) } ? "one has it" : nil
        case .requirements, .together:
            // Of something in a group only that names it.
            guard submission.units[unit].phase != .wanting, submission.needsWorker(unit) else { return nil }
            return workersThere.contains { hasAll(worker: $0, unit, submission) } ? "one has all of it" : nil
        case .drained(let worker, let drain, _):
            guard durable.drains[worker] == drain else { return "\(worker) is not drained" }
            guard named(worker).contains(where: { workers.sessions[$0].isAttached }) else { return "\(worker) is not there" }
            // Of something in a group only that names it.
            guard submission.units[unit].phase != .wanting, submission.needsWorker(unit) else { return nil }
            return workersThere.contains { hasAll(worker: $0, unit, submission) } ? "one that is not drained has all of it" : nil
        case .barred(let worker, let bar, _, _):
            let isKeptOut = workers.sessions.indices.contains {
                durable.workers[$0].identity.name == worker && self.bar(ofWorker: $0) == bar && !isTaking($0)
            }
            guard isKeptOut else { return "no key keeps \(worker) out" }
            guard submission.units[unit].phase != .wanting, submission.needsWorker(unit) else { return nil }
            return workersThere.contains { hasAll(worker: $0, unit, submission) } ? "one that is there has all of it" : nil
        case .unheard(let worker, _, _):
            guard case .assigned(_, let number) = submission.units[unit].phase else { return "it is on none" }
            let session = workers.sessions[number.index]
            return durable.workers[number.index].identity.name == worker && (!session.isAttached || session.isSuspected)
                ? nil : "it is heard"
        case .revoked(let worker, _):
            guard case .assigned(_, let number) = submission.units[unit].phase else { return "it is on none" }
            let isRevoked = workers.sessions[number.index].bar == .revoked
            return durable.workers[number.index].identity.name == worker && isRevoked ? nil : "its worker's key was not revoked"
        case .limited(let worker, _):
            guard case .assigned(_, let number) = submission.units[unit].phase else { return "it is on none" }
            let session = workers.sessions[number.index]
            let isLimited = session.bar == .limited && (!session.isAttached || session.isSuspected)
            return durable.workers[number.index].identity.name == worker && isLimited ? nil : "its worker's key may do what it needs"
        }
    }

    /// Whether the worker has what the unit names, by what it has said of itself.
    private func hasAll(worker: Int, _ unit: Int, _ submission: Submission) -> Bool {
        let session = workers.sessions[worker]
        let node = submission.node(unit)
        if let operation = node.registered {
            guard session.operations.contains(where: { $0.name == operation.type && $0.takes(version: operation.version) }) else {
                return false
            }
        }
        guard node.probeTypes.allSatisfy(session.conditions.contains) else { return false }
        guard let needs = submission.layout.requirements?.requirements(of: Int(submission.units[unit].node)) else { return true }
        return Offer(labels: session.labels, resources: workers.hosts[host(of: worker)].capacity).satisfies(needs)
    }

    private func fault(of wait: SlotWait, _ unit: Int, _ submission: Submission) -> String? {
        if let taker = wait.takers.first, taker.obstacle == .queued {
            guard case .assigned(_, taker.number) = submission.units[unit].phase else { return "\(taker.worker) has not got it" }
            return submission.units[unit].isRunning ? "it runs" : nil
        }
        let isHosted = submission.isForSubmitter(unit)
        let lane = operationClass(of: submission.id(unit))
        for (index, session) in workers.sessions.enumerated() {
            let identity = durable.workers[index].identity
            guard isHosted ? identity.incarnation == submission.submitter : !identity.isSubmitter && hasAll(worker: index, unit, submission)
            else { continue }
            guard isTaking(index), !session.isSuspected, !session.isExclusive, session.reservedFor == nil else {
                continue
            }
            let isFree = wait.runsAlone ? session.units.isEmpty : session.units.count < session.slots
            let fits = wait.runsAlone ? fitsAlone(lane, onHost: host(of: index)) : fits(lane, onHost: host(of: index))
            if isFree, isHosted || fits { return "\(identity.name) could take it" }
        }
        return nil
    }
}

extension Submission {
    fileprivate func needsWorker(_ unit: Int) -> Bool { !isForSubmitter(unit) }
}
