import Foundation

/// The conditions of one attempt with their dependent operations.
///
/// Invariant behind `@unchecked Sendable`: constant; only the library asks the conditions, one after the other.
final class Preparation: @unchecked Sendable {
    let tree: ConditionTree
    /// The dependent operations, by the indices of the tree's leaves.
    let dependencies: [Int: AOperation]

    /// Asks the conditions of `operation` for their dependent operations.
    init(of operation: AOperation, conditions: [any AOperationCondition]) {
        tree = ConditionTree(conditions)
        var dependencies: [Int: AOperation] = [:]
        for (index, leaf) in tree.leaves.enumerated() where leaf.runsDependentOperation {
            dependencies[index] = leaf.condition.dependencyForOperation(operation)?.readyForUse
        }
        self.dependencies = dependencies
    }

    /// In the order of the conditions.
    var dependentOperations: [AOperation] {
        dependencies.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension AOperation {
    /// A condition that keeps one dependent operation for all attempts means a fresh one for each.
    fileprivate var readyForUse: AOperation {
        guard isEnded, let retryable = self as? any RetryableOperation, let fresh = retryable.new() as? AOperation else {
            return self
        }
        return fresh
    }
}

// MARK: - Steps

extension AOperation {
    /// Waits for the time of the start, asks for locks, runs the conditions' dependent operations, evaluates the
    /// conditions; then the operation is ready for its slot, or fails.
    ///
    /// All of it waits without a slot. The locks are those that the operation names, and all that operations inside
    /// of it name: its dependent operations, its children.
    final func prepare() {
        let wait = core.withLock { $0.timeLimits.start?.wait } ?? .zero
        guard wait > .zero else { return askForLocks() }
        DispatchQueue.global().asyncAfter(deadline: .now() + wait.interval) { [weak self] in
            guard let self, core.withLock({ $0.state.isPreparing }) else { return }
            askForLocks()
        }
    }

    private func askForLocks() {
        let preparation = makePreparation()
        let request = lockRequest { [weak self] in
            // Somebody else's end has set this off: not on that thread.
            self?.runDependentsOnLaneThread(of: preparation)
        }
        guard let request else { return runDependents(of: preparation) }
        let isWanted = core.withLock { core in
            guard case .preparing = core.state else { return false }
            core.lockRequest = request
            return true
        }
        guard isWanted else { return }
        if LockTable.shared.ask(request) {
            runDependents(of: preparation)
        } else if let circle = WaitForGraph.circle(through: self) {
            failPreparation([AOperationError(AOperationError.LockCycle(self, circle))])
        }
    }

    /// Made when it is first needed: it may be when the group around the operation asks for locks.
    final func makePreparation() -> Preparation {
        let (known, conditions, logical) = core.withLock { core in
            (core.preparation, core.conditions, core.isAttempt ? core.whole : nil)
        }
        if let known { return known }
        let made = Preparation(of: logical ?? self, conditions: conditions)
        core.withLock { $0.preparation = made }
        return made
    }

    private func runDependentsOnLaneThread(of preparation: Preparation) {
        guard let lane = core.withLock({ $0.membership?.lane }) else { return }
        lane.perform(quality: qualityOfService) { [self] in runDependents(of: preparation) }
    }

    private func runDependents(of preparation: Preparation) {
        let dependents = preparation.dependentOperations
        guard !dependents.isEmpty else { return evaluate(preparation) }
        OperationParts(
            of: self,
            allEnded: { [self] in
                if core.withLock({ $0.state.isPreparing }) { evaluate(preparation) } else { endBody() }
            }
        ).run(dependents) { $0.state.isPreparing }
    }

    private func evaluate(_ preparation: Preparation) {
        Debugger.event(.evaluating, of: self)
        let logical = core.withLock { $0.isAttempt ? $0.whole : nil } ?? self
        ConditionEvaluation.evaluate(preparation.tree, for: logical, dependencies: preparation.dependencies) {
            [weak self] results in
            self?.judge(ConditionVerdict(preparation.tree.combine(results)), preparation)
        }
    }

    private func judge(_ verdict: ConditionVerdict, _ preparation: Preparation) {
        switch verdict {
        case .satisfied:
            guard core.withLock({ $0.prepared() }) == true, let lane = core.withLock({ $0.membership?.lane }) else { return }
            Debugger.event(.ready, of: self)
            lane.enqueueFirst(.operation(self))
        case .failed(let errors):
            failPreparation(errors)
        case .ignored:
            if core.withLock({ $0.state.isPreparing }) { cancel() }
        case .notYet(let wait, _):
            DispatchQueue.global().asyncAfter(deadline: .now() + wait.interval) { [weak self] in
                guard let self, core.withLock({ $0.state.isPreparing }) else { return }
                evaluate(preparation)
            }
        }
    }

    private func failPreparation(_ errors: [AOperationError]) {
        guard core.withLock({ $0.state.isPreparing }) else { return }
        let state = AOperationError.FailureState.condition
        failBeforeExecution(
            errors.map { error in
                var error = error.published(by: publisherName)
                error.state = state
                return error
            })
    }
}
