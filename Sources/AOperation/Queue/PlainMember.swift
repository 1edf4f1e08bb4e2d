import Foundation

/// A plain Foundation operation in one of our lanes.
///
/// It waits here for those of its dependencies that have not ended, and is handed to a Foundation queue when they have
/// and a slot is free: Foundation never sees an operation that waits. Its end is observed by a ``DependencyWatch``.
///
/// Invariant behind `@unchecked Sendable`: `state` is only reached under its lock; the rest is constant.
final class PlainMember: Waiter, @unchecked Sendable {
    let operation: Foundation.Operation
    private let state = Guarded(State())

    private struct State {
        var stage = Stage.waiting(unmet: 1)
        /// Whether it was cancelled: neither dependencies nor slots matter any more.
        var isHurried = false
        var holdsSlot = false
        var membership: Membership?
        var watches: [DependencyWatch] = []
        /// Told of the end.
        var endHandlers: [() -> Void] = []

        var isOver: Bool { if case .ended = stage { true } else { false } }

        mutating func takeSpentWatches() -> [DependencyWatch] {
            let last = watches.partition { $0.isSpent }
            defer { watches.removeSubrange(last...) }
            return Array(watches[last...])
        }
    }

    private enum Stage {
        /// Waits for `unmet` dependencies; while it is being admitted, one more.
        case waiting(unmet: Int)
        /// Waits for a slot.
        case ready
        /// Foundation has it.
        case running
        case ended
    }

    init(_ operation: Foundation.Operation) {
        self.operation = operation
    }

    deinit { PlainPlaces.remove(operation, of: self) }

    /// Behind which of the lane's barriers it is.
    var epoch: UInt64? { state.withLock { $0.membership?.epoch } }

    /// Becomes a member of `lane`, and runs in its turn.
    func enter(_ lane: Lane, of host: any LaneHost) {
        if !(host is GroupOperation) { PlainPlaces.add(operation, to: self) }
        let membership = lane.insert(.plain(self), of: host)
        let dependencies = operation.dependencies
        state.withLock { state in
            state.membership = membership
            state.stage = .waiting(unmet: dependencies.count + 1)
        }
        for dependency in dependencies { subscribe(to: dependency) }
        checkCircles()
        dependencyEnded()
        if state.withLock({ $0.isHurried }) || operation.isCancelled { hurry() }
    }

    /// Foundation does not retain those who depend on an operation, but tells them of its end. So every dependency holds
    /// this member until it has ended, even if the operation, cancelled, ends before it.
    private func subscribe(to dependency: Foundation.Operation) {
        if let dependency = dependency as? AOperation {
            if !dependency.addWaiter(self, untilAnnounced: true) { dependencyEnded() }
            return
        }
        watch(dependency) { [self] in
            dependencyEnded()
            guard state.withLock({ $0.isOver }) else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + DependencyWatch.lingering) { [self] in release() }
        }
        AwaitedPlain.note(dependency)
    }

    /// Looks whether what it has come to wait for waits for it: those see to it who can.
    private func checkCircles() {
        guard !operation.dependencies.isEmpty, let membership = state.withLock({ $0.membership }) else { return }
        DependencyCircles.pay(into: membership.lane.root)
        if WaitForGraph.mayHaveCircles { AOperation.resolve { WaitForGraph.circle(throughPlain: operation) } }
        // One that nobody waited for when it came is looked at by those who do.
        let group = membership.host as? GroupOperation
        guard group != nil || AwaitedPlain.isKnown(operation) else { return }
        DependencyCircles.open(throughPlain: operation, in: group, paidBy: membership.lane.root)
    }

    private func watch(_ target: Foundation.Operation, _ handler: @escaping () -> Void) {
        let watch = DependencyWatch(on: target, handler: handler)
        state.withLock { $0.watches.append(watch) }
        watch.begin()
    }

    var stillWaits: Bool {
        guard !operation.isCancelled else { return false }
        return state.withLock { if case .waiting = $0.stage { true } else { false } }
    }

    func dependencyEnded() {
        let isReady = state.withLock { state in
            guard case .waiting(let unmet) = state.stage else { return false }
            state.stage = unmet > 1 ? .waiting(unmet: unmet - 1) : .ready
            return unmet == 1
        }
        if isReady { enqueue() }
    }

    /// It was cancelled: Foundation is given it at once, so that it can end it. That runs nothing of it, and needs no
    /// slot.
    func hurry() {
        let membership = state.withLock { state -> Membership? in
            state.isHurried = true
            switch state.stage {
            case .waiting, .ready:
                guard let membership = state.membership else { return nil }
                state.stage = .running
                return membership
            case .running, .ended:
                return nil
            }
        }
        if let membership { launch(membership) }
    }

    private func enqueue() {
        guard let membership = state.withLock({ $0.membership }) else { return }
        membership.lane.enqueue(.plain(self), priority: operation.queuePriority, epoch: membership.epoch)
    }

    /// Has a slot: hands the operation to Foundation.
    /// - Returns: false when it does not need the slot (yet).
    func run() -> Bool {
        let membership = state.withLock { state -> Membership? in
            guard case .ready = state.stage else { return nil }
            state.stage = .running
            return state.membership
        }
        guard let membership, !waitAgain() else { return false }
        state.withLock { $0.holdsSlot = true }
        launch(membership)
        return true
    }

    /// Hands the operation to Foundation, which takes it once. One that somebody else runs, or has run, is only waited for.
    private func launch(_ membership: Membership) {
        guard !operation.isFinished else {
            return DispatchQueue.global().async { [self] in ended() }  // many of them are to need no deep stack
        }
        let isOurs = !operation.isExecuting && PlainPlaces.take(operation, for: self)
        watch(operation) { [self] in ended() }
        guard isOurs else { return }
        let isReady = operation.isReady
        membership.host?.runPlain(operation)
        if !isReady { announceReadiness() }
    }

    /// What it depended on has ended, but Foundation may hear of that while it is given the operation: it would keep the
    /// older answer, and start nothing. Said once more, with an answer that does not change any more, it is heard.
    private func announceReadiness() {
        if operation.isReady { operation.didChangeValue(forKey: "isReady") }
    }

    /// Goes back to waiting when the operation was given another dependency since it was added.
    private func waitAgain() -> Bool {
        guard !operation.isReady else { return false }
        let open = operation.dependencies.filter { !$0.isFinished }
        guard !open.isEmpty else { return false }
        let isWaiting = state.withLock { state in
            guard !state.isHurried else { return false }
            state.stage = .waiting(unmet: open.count + 1)
            return true
        }
        guard isWaiting else { return false }
        for dependency in open { subscribe(to: dependency) }
        checkCircles()
        dependencyEnded()
        if operation.isCancelled { hurry() }
        return true
    }

    private func ended() {
        let membership = state.withLock { $0.membership }
        membership?.host?.memberSettled(operation, errors: [])
        membership?.host?.memberLeaves()
        let (holdsSlot, handlers) = state.withLock { state in
            state.stage = .ended
            defer {
                state.membership = nil
                state.endHandlers = []
            }
            return (state.holdsSlot, state.endHandlers)
        }
        for handler in handlers { handler() }
        membership?.leave(operation, wasRunning: holdsSlot, returningSlot: holdsSlot)
        release()
    }

    /// Calls `handler` when the operation has ended; at once if it has.
    func onEnd(_ handler: @escaping () -> Void) {
        let isOver = state.withLock { state in
            if case .ended = state.stage { return true }
            state.endHandlers.append(handler)
            return false
        }
        if isOver { handler() }
    }

    /// Lets the watches go that have told of an end; the one that is just doing so must outlive its own signal.
    private func release() {
        DispatchQueue.global().async { [self] in
            for watch in state.withLock({ $0.takeSpentWatches() }) { watch.stop() }
        }
    }
}
