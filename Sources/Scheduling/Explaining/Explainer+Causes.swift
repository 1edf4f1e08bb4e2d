/// Why units ended as they did: from one to the next that it came from, to where the error was born.
extension Explainer {
    private typealias Next = (unit: Int, link: Cause.Link)

    private static let causesMax = 100
    /// Failed conditions of one unit that are named.
    private static let failedConditionsMax = 10

    /// Empty for what has succeeded or not ended.
    func causes(of unit: Int) -> [Cause] {
        switch submission.units[unit].outcome {
        case .success?, nil: return []
        case .failure?, .cancelled?: break
        }
        var chain: [Cause] = []
        var seen: Set<UnitID> = []
        addCauses(of: unit, as: .itself, to: &chain, &seen)
        return chain
    }

    private func addCauses(of unit: Int, as link: Cause.Link, to chain: inout [Cause], _ seen: inout Set<UnitID>) {
        var next: Next? = (unit, link)
        while let step = next, chain.count < Self.causesMax, seen.insert(submission.id(step.unit)).inserted {
            let state = submission.units[step.unit]
            var cause = Cause(
                unit: submission.id(step.unit), operation: scheduler.durable.name(of: submission.id(step.unit)), link: step.link,
                at: state.finishedAt, text: "", failure: nil, condition: nil, attempts: Int(state.attempts))
            if isFailed(step.unit), let first = submission.joinedUnits[Int32(step.unit)] {
                explainJoin(of: step.unit, to: first, &cause)
                chain.append(cause)
                guard isKnown(first) else { return }
                let other = first.submission == submission.number ? self : Explainer(scheduler, first.submission, for: reader)
                return other.addCauses(of: first.index, as: .duplicate, to: &chain, &seen)
            }
            switch state.outcome {
            case .failure(let own)?: next = explainFailure(of: step.unit, own, &cause)
            case .cancelled?, nil: next = explainStop(of: step.unit, &cause)
            case .success?:
                cause.text = "has succeeded"
                next = nil
            }
            chain.append(cause)
            if case .failure(let own)? = state.outcome { chain += otherConditions(of: step.unit, own, beside: cause) }
        }
    }

    // MARK: Joins

    private func explainJoin(of unit: Int, to first: UnitID, _ cause: inout Cause) {
        cause.text = joinText(to: first)
        guard case .failure(let own)? = submission.units[unit].outcome, let failure = own.first else { return }
        cause.failure = failure
        if !isKnown(first) { cause.text += ": \(failure.message)" }
    }

    /// Of one that had joined this one, and has ended as it did.
    func joinText(to first: UnitID) -> String {
        isKnown(first)
            ? "did as \(scheduler.durable.name(of: first)), which it had joined"
            : "did as one that it had joined, of which nothing is known any more"
    }

    /// Whether it is not forgotten.
    private func isKnown(_ first: UnitID) -> Bool {
        guard scheduler.durable.holds(first), case .ended = scheduler.durable.phase(first) else { return false }
        return true
    }

    // MARK: Failures

    private func explainFailure(of unit: Int, _ own: [Failure], _ cause: inout Cause) -> Next? {
        let isLedByMember = submission.comesAfterChildren(own, of: unit) && submission.failureOfChildren(of: unit) != nil
        guard let failure = own.first, !isLedByMember || submission.units[unit].unsuccessfulChildren == 0 else {
            return explainChildren(of: unit, &cause)
        }
        cause.failure = failure
        let path = submission.path(of: unit)
        if !failure.origin.isEmpty, failure.origin != path, let source = source(of: failure, in: unit) {
            cause.text = "failed with the error of \(scheduler.durable.name(of: submission.id(source.unit)))"
            return source
        }
        cause.text = failure.message
        let failed = failedConditions(of: unit, own)
        if let first = failed.first, first.failure == failure { describe(first, in: &cause) }
        for condition in failed {
            if let view = condition.view, let source = source(of: view.verdict.condition, of: unit) { return source }
        }
        return nil
    }

    /// An error of a condition, and what that has said.
    private struct FailedCondition {
        let failure: Failure
        /// nil: it is made of several, and names its parts itself.
        let view: ConditionView?
    }

    /// The conditions with whose errors the unit has failed, in their order.
    private func failedConditions(of unit: Int, _ own: [Failure]) -> [FailedCondition] {
        guard let verdicts = submission.verdicts[Int32(unit)], own.contains(where: \.isCondition) else { return [] }
        let views = submission.conditionViews(of: unit)
        var failed: [FailedCondition] = []
        for (tree, result) in zip(submission.node(unit).requiredConditions, submission.results(of: unit, verdicts)) {
            guard let failure = result.failure, own.contains(failure) else { continue }
            let view: ConditionView? = if case .leaf(let position) = tree { views.first { $0.verdict.condition == position } } else { nil }
            failed.append(FailedCondition(failure: failure, view: view))
        }
        return failed
    }

    /// Those that have failed besides the first.
    private func otherConditions(of unit: Int, _ own: [Failure], beside first: Cause) -> [Cause] {
        guard own.count > 1 else { return [] }
        let others = failedConditions(of: unit, own).dropFirst()
        var another = first
        another.link = .itself
        var causes = others.prefix(Self.failedConditionsMax - 1).map { condition in
            var cause = another
            describe(condition, in: &cause)
            return cause
        }
        let more = others.count - causes.count
        if more > 0 {
            (another.text, another.failure, another.condition) = ("and \(more) more of its conditions failed", nil, nil)
            causes.append(another)
        }
        return causes
    }

    private func describe(_ condition: FailedCondition, in cause: inout Cause) {
        (cause.failure, cause.condition, cause.text) = (condition.failure, condition.view, condition.failure.message)
        guard let view = condition.view else { return }
        cause.text = "its condition `\(view.key)` failed\(view.verdict.reason.isEmpty ? "" : ": \(view.verdict.reason)")"
    }

    /// Where an error came from that was born elsewhere.
    private func source(of failure: Failure, in unit: Int) -> Next? {
        for producer in submission.node(unit).receives.map({ submission.unit(ofNode: $0, seenFrom: unit) }) {
            switch submission.units[producer].outcome {
            case .cancelled? where failure.origin == submission.path(of: producer): return (producer, .producer)
            case .failure? where submission.failures(of: producer).contains { $0.origin == failure.origin && $0.code == failure.code }:
                return (producer, .producer)
            case .failure?, .cancelled?, .success?, nil: break
            }
        }
        // It has a dependent operation whose error is its own, or has ended as another one did.
        if let preparation = submission.preparations(of: unit).first(where: { submission.preparesWhole($0) && isFailed($0) }) {
            return (preparation, .preparation)
        }
        guard let origin = submission.unit(atPath: failure.origin), origin != unit, isFailed(origin) else { return nil }
        return (origin, submission.isUnique(unit) ? .duplicate : .producer)
    }

    /// What has made a condition fail.
    private func source(of condition: Int, of unit: Int) -> Next? {
        // That of a part may have failed, and the whole for another reason.
        let preparations = submission.preparations(of: unit)
        if let preparation = preparations.first(where: { submission.preparesWhole($0, of: condition) && isFailed($0) }) {
            return (preparation, .preparation)
        }
        let condition = submission.conditions(of: unit)[condition]
        guard !condition.isNegated else { return nil }
        let others = submission.declaredDependencies(of: unit)
        switch condition.kind {
        case .noFailedDependencies: return others.first(where: isFailed).map { ($0, .dependency) }
        case .noCancelledDependencies:
            return others.first { submission.units[$0].outcome == .cancelled }.map { ($0, .dependency) }
        case .timeWindow, .rateLimit, .probe: return nil
        }
    }

    private func isFailed(_ unit: Int) -> Bool {
        switch submission.units[unit].outcome {
        case .failure?, .cancelled?: true
        case .success?, nil: false
        }
    }

    /// A group fails with its first failed member; with a cancelled one, or an ignored duplicate, if there is no other.
    private func explainChildren(of unit: Int, _ cause: inout Cause) -> Next? {
        let children = submission.children(of: unit)
        let wrapped = submission.wrapped[Int32(unit)].map(Int.init)
        let unforgiven = children.lazy.filter { [submission] in
            isFailed($0) && !submission.isForgiven($0, in: unit) && !submission.units[$0].wasStoppedByGroup
        }
        let first =
            wrapped ?? unforgiven.first { submission.units[$0].outcome != .cancelled && !submission.isIgnored($0) } ?? unforgiven.first
        let count = Int(submission.units[unit].unsuccessfulChildren)
        cause.text = "\(count) of its \(children.count) members did not succeed"
        return first.map { ($0, .child) }
    }

    // MARK: Stops

    private func explainStop(of unit: Int, _ cause: inout Cause) -> Next? {
        let state = submission.units[unit]
        let parent = Int(state.parent)
        guard let stop = state.stop else {
            if state.hasEnded, state.attempts == 0, submission.isUnique(unit) {
                cause.text = "has ended as the one did that it had joined, which was cancelled"
            } else {
                cause.text = state.hasEnded ? "has ended itself as cancelled" : "has not ended"
            }
            return nil
        }
        if stop == .cancelled {
            let reason = submission.cancellations[Int32(unit)]
            if reason == nil, parent >= 0, submission.units[parent].stop == .cancelled {
                cause.text = "was cancelled with \(scheduler.durable.name(of: submission.id(parent)))"
                return (parent, .group)
            }
            if let view = submission.conditionViews(of: unit).first(where: { $0.verdict.finding == .ignored }) {
                cause.condition = view
                cause.text = "its condition `\(view.key)` does not hold, which is no failure"
                return nil
            }
            cause.text = "was cancelled by a user" + (reason.map { $0.isEmpty ? "" : ": \($0)" } ?? "")
            return nil
        }
        guard stop == .siblingFailed, parent >= 0 else {
            cause.text = submission.requestText(of: unit, stop)
            return nil
        }
        let name = scheduler.durable.name(of: submission.id(parent))
        if submission.isPreparation(unit) {
            cause.text = "\(name), for whose condition it is done, has ended"
            return isFailed(parent) ? (parent, .group) : nil
        }
        if submission.units[parent].stopsChildren, let sibling = firstFailed(in: parent) {
            cause.text = "was stopped, because \(name) stops at the first failure"
            return (sibling, .sibling)
        }
        cause.text = "was stopped with \(name)"
        return (parent, .group)
    }

    /// The member because of which a group has stopped the others.
    private func firstFailed(in group: Int) -> Int? {
        let failed = submission.children(of: group).filter { isFailed($0) && !submission.units[$0].wasStoppedByGroup }
        // There each counts in its turn, also if it has ended before that.
        if submission.isOrdered(group) { return failed.first }
        return failed.min { submission.units[$0].endNumber < submission.units[$1].endNumber }
    }
}
