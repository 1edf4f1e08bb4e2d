extension Account {
    /// Why a node may have been cancelled.
    enum Cause: Hashable {
        /// The program has asked for it, of the node or of a group around it.
        case asked(Int)
        /// A group around it stops, and something else in that has failed.
        case stop(of: Int)
        /// A group around it has ended by itself: by a condition, or by a limit.
        case end(of: Int)
        /// All who would receive from it were cancelled, and nobody else waits for it: others have ended before.
        case unneeded(Int)
        /// A condition has said that this is no failure.
        case ignored(Int)
    }

    func causes(ofCancelling node: Int) -> Set<Cause> {
        let last = finish(of: node)?.place ?? events.count
        var causes: Set<Cause> = []
        var branch: Int?
        for member in [node] + plan.ancestors(of: node) {
            if let asked = cancelAsked[member], asked < last { causes.insert(.asked(member)) }
            if isUnneeded(member) { causes.insert(.unneeded(member)) }
            if isIgnored(member, before: last) { causes.insert(.ignored(member)) }
            if let branch {
                if endedByItself(member) || isCancelledOverItsEnd(member) { causes.insert(.end(of: member)) }
                if self.node(member).group?.stops == true, hasFailure(in: member, besides: branch) {
                    causes.insert(.stop(of: member))
                }
            }
            branch = member
        }
        return causes
    }

    /// Whether a group was cancelled that may have been ending by itself: its children were being cancelled already.
    private func isCancelledOverItsEnd(_ group: Int) -> Bool {
        guard outcome(group)?.isCancelled == true else { return false }
        // The first condition of one that is tried again always holds.
        let mayBeRefused = node(group).conditions.count > (plan.mayBeginAnew(group) ? 1 : 0)
        return node(group).hasDeadline || node(group).hasTimeout || mayBeRefused
    }

    private func isUnneeded(_ node: Int) -> Bool {
        let end = finish(of: node)?.place ?? .max
        let receivers = plan.receivers(of: node) + plan.streamReceivers(of: node)
        return receivers.contains { outcome($0)?.isCancelled == true }
            && (receivers + plan.dependents(of: node)).allSatisfy {
                outcome($0)?.isCancelled == true || finish(of: $0)?.place ?? .max < end
            }
    }

    /// Ends that came at once may be told in another order than that in which one led to the other.
    private func hasFailure(in group: Int, besides branch: Int) -> Bool {
        plan.children(of: group).contains { $0 != branch && outcome($0)?.isSuccess == false }
    }

    /// Whether a group has failed by its own conditions or limits, not by its children.
    func endedByItself(_ group: Int) -> Bool {
        guard case .failure(let faults)? = outcome(group), let first = faults.first else { return false }
        guard !hasFailedProducer(group) else { return true }
        return isLimit(first, of: group) || isRefusal(faults, ofGroup: group)
    }

    func isLimit(_ fault: Fault, of node: Int) -> Bool {
        switch fault.kind {
        case .timeout, .deadline, .queueTimeout: fault.publisher == GraphPlan.name(of: node) && !isForwarded(fault, by: node)
        case .own, .cancelled, .duplicate, .failedDependencies, .cancelledDependencies, .negated, .severalRefuse, .noAlternative,
            .receivedNothing,
            .workerLost, .other:
            false
        }
    }

    /// Whether a group's conditions have failed, the last time: then nothing inside has begun. Errors of its children's conditions look
    /// alike, but those children have failed.
    private func isRefusal(_ faults: [Fault], ofGroup group: Int) -> Bool {
        !node(group).conditions.isEmpty && faults.allSatisfy(\.isOfCondition)
            && plan.children(of: group).allSatisfy { child in
                runs(inside: child).isEmpty && outcome(child)?.isSuccess != true && outcome(child)?.faults.first?.isOfCondition != true
            }
    }

    /// Whether the operation's body has ended with this error, its own or one that it was given.
    func isForwarded(_ fault: Fault, by node: Int) -> Bool { runs[node].last?.result == .failure(fault) }

    /// What an operation's failure came from.
    enum Origin {
        case body, limit, conditions, duplicate, loss, other
    }

    /// Nil if the operation has not failed.
    func origin(of node: Int) -> Origin? {
        guard case .failure(let faults)? = outcome(node), let first = faults.first else { return nil }
        if isForwarded(first, by: node) { return .body }
        if first.isDuplicate { return .duplicate }
        if isLimit(first, of: node) { return .limit }
        if first.isOfCondition { return .conditions }
        if first.kind == .workerLost { return .loss }
        return .other
    }
}
