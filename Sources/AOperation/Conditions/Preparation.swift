import Foundation

/// The conditions of one attempt with their dependent operations.
///
/// Invariant behind `@unchecked Sendable`: constant; only the library asks the conditions, one after the other.
final class Preparation: @unchecked Sendable {
    let tree: ConditionTree
    /// The dependent operations, by the indices of the tree's leaves.
    let dependencies: [Int: AOperation]
    /// Why the conditions fail before anything is run: the operation would wait for itself.
    let fault: AOperationError?

    /// Asks the conditions of `operation` for their dependent operations.
    ///
    /// - Parameter isAgain: whether it is for another attempt than the first.
    init(of operation: AOperation, conditions: [any AOperationCondition], isAgain: Bool) {
        tree = ConditionTree(conditions)
        var dependencies: [Int: AOperation] = [:]
        var fault: AOperationError?
        for (index, leaf) in tree.leaves.enumerated() where leaf.runsDependentOperation {
            let dependency = leaf.condition.dependencyForOperation(operation)
            if let dependency, operation.isInside(of: dependency) {
                let error = AOperationError.WaitsForItself(operation, running: dependency, condition: leaf.key)
                fault = fault ?? AOperationError(error, state: .condition, publisher: leaf.key)
                continue
            }
            dependencies[index] = isAgain ? dependency?.readyForUse : dependency
        }
        self.dependencies = dependencies
        self.fault = fault
    }

    /// In the order of the conditions.
    var dependentOperations: [AOperation] {
        dependencies.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Why they failed, when they have ended, by the indices of the tree's leaves.
    var failures: [Int: AOperationError] { dependencies.compactMapValues(\.publishedErrors.first) }
}

extension AOperation {
    /// The operation, or a fresh one in its place if it has ended.
    ///
    /// A condition that keeps one dependent operation for all attempts means a fresh one for each.
    var readyForUse: AOperation {
        guard isEnded, let retryable = self as? any RetryableOperation, let fresh = retryable.new() as? AOperation else {
            return self
        }
        return fresh
    }
}

// MARK: - Steps

extension AOperation {
    /// Asks for locks, runs the conditions' dependent operations, evaluates the conditions; then the operation is ready for
    /// its slot, or fails.
    ///
    /// All of it waits without a slot. The locks are those that the operation names, and all that operations inside
    /// of it name: its dependent operations, its children. A preparation is given up when the queue is suspended, or
    /// when the operation is given another dependency: `round` says which one this is.
    final func prepare(_ round: UInt64) {
        Debugger.event(.evaluating, of: self)
        askForLocks(round)
    }

    private func askForLocks(_ round: UInt64, isFirst: Bool = false) {
        while core.withLock({ $0.isPreparing(round) }) {
            guard !isPaused else { return putBack() }
            let request = lockRequest(isFirst: isFirst) { [weak self] request in self?.locksGranted(request) }
            guard let request else { return runDependents(round) }
            guard core.withLock({ $0.ask(for: request, in: round) }) else { return }
            switch LockTable.shared.ask(request) {
            case .held:
                if isPaused { return putBack() }
                guard leaveToScope(request) else { return runDependents(round) }
            case .waiting:
                if isPaused { return putBack() }
                guard isOutdated(request), LockTable.shared.withdraw(request) else {
                    checkRequest(request)
                    for other in LockTable.shared.setBack(by: request) { other.operation?.checkRequest(other) }
                    return
                }
                core.withLock { $0.forget(request) }
            case .void:  // once more, unless the preparation is over
                core.withLock { $0.forget(request) }
            }
        }
    }

    /// Somebody else's end has set this off: what follows is not for that thread.
    private func locksGranted(_ request: LockRequest) {
        guard let lane = core.withLock({ $0.membership?.lane }) else { return }
        lane.perform(quality: qualityOfService) { [self] in
            guard let round = core.withLock({ $0.round(of: request) }) else { return }
            if isPaused {
                putBack()
            } else if leaveToScope(request) {
                askForLocks(round)
            } else {
                runDependents(round)
            }
        }
    }

    /// Whether `request` is for all of the retry scope: that has it by now, and lends the operation what it needs.
    private func leaveToScope(_ request: LockRequest) -> Bool {
        guard request.isForScope, let scope = core.withLock({ $0.retryScope }) else { return false }
        core.withLock { $0.forget(request) }
        scope.take(request)
        return true
    }

    /// Withdraws a request that waits, if it does, and asks again: what it asks for can be lent by now.
    ///
    /// - Parameter isFirst: whether it goes before those who wait.
    final func askAgain(inPlaceOf request: LockRequest, isFirst: Bool = false) {
        if LockTable.shared.withdraw(request) { askAgain(after: request, isFirst: isFirst) }
    }

    /// Withdraws a request that waits, if it does, and asks `keepers` for what they keep of it: they wait for this
    /// operation.
    final func borrow(from keepers: [LockRequest], inPlaceOf request: LockRequest) {
        core.withLock { $0.lenders += keepers }
        askAgain(inPlaceOf: request)
    }

    /// Asks again, as `request` is withdrawn, unless somebody has decided about the operation.
    private func askAgain(after request: LockRequest, isFirst: Bool = false) {
        let (round, lane) = core.withLock { core -> (UInt64?, Lane?) in
            defer { core.forget(request) }
            return (core.round(of: request), core.membership?.lane)
        }
        guard let round, let lane else { return }
        lane.perform(quality: qualityOfService) { [self] in askForLocks(round, isFirst: isFirst) }
    }

    /// Looks whether the locks would only come free after the operation has ended: it fails then, unless somebody in the
    /// circle can borrow what he waits for, or waits only behind others who cannot go on before him.
    final func checkRequest(_ request: LockRequest) {
        guard let circle = WaitForGraph.circle(closedBy: request, of: self) else { return }
        let isOpen = circle.letBorrow(besides: request)
        guard !isOpen, !findsLender(for: request) else { return askAgain(after: request) }
        guard request.isFirst else { return askAgain(after: request, isFirst: true) }
        core.withLock { $0.forget(request) }
        failPreparation([AOperationError(AOperationError.LockCycle(self, circle))])
    }

    /// Made when it is first needed: it may be when the group around the operation asks for locks.
    final func makePreparation() -> Preparation {
        while true {
            let (known, conditions, isAgain) = core.withLock { ($0.preparation, $0.conditions, $0.isAttempt || $0.isRemade) }
            if let known { return known }
            let made = Preparation(of: logical, conditions: conditions, isAgain: isAgain)
            let kept = core.withLock { core -> Preparation? in
                if let known = core.preparation { return known }
                guard core.conditions.count == conditions.count else { return nil }  // one was added meanwhile
                if !core.state.isEnded { core.preparation = made }
                return made
            }
            if let kept { return kept }
        }
    }

    private func runDependents(_ round: UInt64) {
        let preparation = makePreparation()
        if let fault = preparation.fault {
            if core.withLock({ $0.isPreparing(round) }) { failPreparation([fault]) }
            return
        }
        let dependents = preparation.dependentOperations
        guard !dependents.isEmpty else { return evaluate(round) }
        OperationParts(
            of: self,
            allEnded: { [self] in
                let isDecided = core.withLock { $0.round == round && !$0.state.isBodyOver }
                if isDecided { endBody() } else { evaluate(round) }
            }
        ).run(dependents) { $0.isPreparing(round) }
    }

    private func evaluate(_ round: UInt64) {
        guard core.withLock({ $0.isPreparing(round) }) else { return }
        guard !isPaused else { return putBack() }
        let preparation = makePreparation()
        ConditionEvaluation.evaluate(preparation.tree, for: logical, failures: preparation.failures) {
            [weak self, weak preparation] results in
            // A condition may keep this closure: it holds nothing.
            guard let self, let preparation else { return }
            judge(ConditionVerdict(preparation.tree.combine(results)), round)
        }
    }

    private func judge(_ verdict: ConditionVerdict, _ round: UInt64) {
        switch verdict {
        case .satisfied:
            guard let isQueued = core.withLock({ $0.prepared(round) }) else { return }
            Debugger.event(.ready, of: self)
            if isQueued { core.withLock { $0.membership?.lane }?.enqueueFirst(.operation(self)) }
        case .failed(let errors):
            if core.withLock({ $0.isPreparing(round) }) { failPreparation(errors) }
        case .ignored:
            if core.withLock({ $0.isPreparing(round) }) { cancel() }
        case .notYet(let wait, _):
            waitForTime(if: { $0.isPreparing(round) }) {
                AOperationTimer(interval: wait.interval) { [weak self] in self?.evaluate(round) }
            }
        }
    }

    private func failPreparation(_ errors: [AOperationError]) {
        let state = AOperationError.FailureState.condition
        failBeforeExecution(
            errors.map { error in
                var error = error.published(by: publisherName)
                error.state = state
                return error
            })
    }

    /// Whether its queue starts nothing.
    private var isPaused: Bool { core.withLock { $0.membership?.lane.isPaused } ?? false }

    /// Gives its locks back, and what was found out about its conditions up: it is prepared anew when it reaches a slot
    /// again. Does nothing once it executes, or while its dependent operations run.
    final func putBack() {
        let (request, lane) = core.withLock { core in (core.putBack(), core.membership?.lane) }
        guard let request else { return }
        if let request { LockTable.shared.release(request) }
        lane?.enqueueFirst(.operation(self))
    }
}

extension LockTable {
    /// The queue of `lane` does not start anything: those of its operations that have not started give their locks back.
    func takeBack(from lane: Lane) {
        let requests = requests.compactMap { request in request.operation.map { (request, $0) } }
            .filter { _, operation in operation.core.withLock { $0.membership?.lane.root === lane } }
        for (request, operation) in requests where operation.core.withLock({ $0.lockRequest === request }) { operation.putBack() }
        for (request, tail) in requests where request.isKept { tail.core.withLock { $0.retryScope }?.putBack() }
    }
}
