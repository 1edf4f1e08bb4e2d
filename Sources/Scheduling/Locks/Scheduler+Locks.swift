import DequeModule

/// Which units want locks and have not asked. Volatile: rebuilt from their phases.
struct LockIntake {
    /// To be looked at in this step.
    var wanting = Deque<UnitID>()
    /// Nobody is there who could run them.
    var parked: [UnitID] = []
    /// An executor came, went or stopped taking work.
    var haveWorkersChanged = false
    /// By class: an executor that is there takes it.
    var liveClasses: [Bool] = []
    /// After a start executors get time to attach before anything is taken from those who wait.
    var isReattaching = false
}

/// Asking for locks: when a unit could be dispatched, and not before, so that nothing is held for want of a worker.
extension Scheduler {
    mutating func askForLocks(_ outputs: inout Outputs) {
        if lockIntake.haveWorkersChanged { reviewWorkers(&outputs) }
        // What is granted may begin groups, whose members want locks in turn.
        while let unit = lockIntake.wanting.popFirst() {
            guard !durable.isForgotten(unit.submission) else { continue }
            if lacksSubmitter(unit) {
                abandoned.append(unit)
                continue
            }
            // What is paused wants them again when it is resumed.
            guard durable.submissions[durable.index(of: unit.submission)].mayAskForLocks(unit.index), !isPaused(unit),
                !lacksStream(unit),
                !waitsForWindow(unit, &outputs)
            else { continue }
            if canBeDispatched(unit) {
                if let circle = LockCircle.search(for: unit, in: durable) {
                    emit(.lockCycleFound(unit, circle, at: now.wall), &outputs)
                } else {
                    emit(.locksAsked(unit, at: now.wall), &outputs)
                }
            } else {
                lockIntake.parked.append(unit)
            }
        }
    }

    private mutating func reviewWorkers(_ outputs: inout Outputs) {
        lockIntake.haveWorkersChanged = false
        let before = lockIntake.liveClasses
        var live: [Bool] = []
        for worker in workers.sessions.indices where isTaking(worker) {
            for lane in workers.sessions[worker].lanes + workers.sessions[worker].demandingLanes.lanes {
                while live.count <= lane { live.append(false) }
                live[lane] = true
            }
        }
        if lockIntake.isReattaching {
            for (lane, wasLive) in before.enumerated() where wasLive {
                while live.count <= lane { live.append(false) }
                live[lane] = true
            }
        }
        lockIntake.liveClasses = live
        lockIntake.wanting += lockIntake.parked
        lockIntake.parked = []
        let isOneGone = before.enumerated().contains { lane, wasLive in wasLive && !(lane < live.count && live[lane]) }
        if isOneGone { returnLocksOfTheUndispatchable(&outputs) }
    }

    /// Whoever waits for locks, or holds them and has not begun, gives them up when nobody could run it.
    private mutating func returnLocksOfTheUndispatchable(_ outputs: inout Outputs) {
        let requests = durable.locks.requests.sorted { $0.value.ticket < $1.value.ticket }
        for (unit, _) in requests where !canBeDispatched(unit) {
            let index = durable.index(of: unit.submission)
            if durable.submissions[index].mayReturnLocks(unit.index) { emit(.locksReturned(unit, at: now.wall), &outputs) }
        }
    }

    /// Whether an executor that is there could take the unit; of a group, all that is inside of it.
    private func canBeDispatched(_ unit: UnitID) -> Bool {
        let index = durable.index(of: unit.submission)
        let first = Int(durable.submissions[index].units[unit.index].node)
        return !durable.submissions[index].layout.subtree(of: first).contains { lacksExecutor($0, index) || awaitsSubmitter($0, index) }
    }

    /// Whether nobody is there who could run the node, or decide, or evaluate for it.
    func lacksExecutor(_ place: Int, _ index: Int) -> Bool {
        let node = durable.submissions[index].layout.graph.nodes[place]
        return needsExecutor(node) && !isLive(Int(nodeClasses[index][place])) && !isForGoneSubmitter(node, index)
    }

    /// Whether the process is not there that has to evaluate the node's conditions. What has none any more fails when its turn
    /// comes.
    func awaitsSubmitter(_ place: Int, _ index: Int) -> Bool {
        durable.submissions[index].layout.graph.nodes[place].isAskedAtSubmitter && !isLive(Int(submitterClasses[index]))
            && !isSubmitterGone(index)
    }

    private func needsExecutor(_ node: Node) -> Bool {
        switch node.kind {
        case .operation, .decider: true
        // To have its conditions evaluated.
        case .group: !node.probeTypes.isEmpty
        case .forEach(let forEach): forEach.elements == nil
        }
    }

    private func isLive(_ lane: Int) -> Bool { lane < lockIntake.liveClasses.count && lockIntake.liveClasses[lane] }

    /// After a start: those who hold or wait for locks keep them until executors have had the time to attach again.
    mutating func keepLocksWhileReattaching(until due: Int64) {
        guard !durable.locks.requests.isEmpty else { return }
        lockIntake.isReattaching = true
        for (unit, _) in durable.locks.requests {
            let index = durable.index(of: unit.submission)
            let first = Int(durable.submissions[index].units[unit.index].node)
            for node in durable.submissions[index].layout.subtree(of: first) {
                let lane = Int(nodeClasses[index][node])
                while lockIntake.liveClasses.count <= lane { lockIntake.liveClasses.append(false) }
                lockIntake.liveClasses[lane] = true
            }
        }
        timers.insert(.reattachOver, due: due)
    }

    mutating func reattachOver() {
        lockIntake.isReattaching = false
        lockIntake.haveWorkersChanged = true
    }
}
