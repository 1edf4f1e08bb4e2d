import DequeModule

/// What a group that decides has still to decide, and what it knows. Of groups that have begun and not ended.
struct DecisionLine {
    /// Stands for the begin of the group among what is due.
    static let begin: Int32 = -1

    /// What it has to be asked about, in the order in which it came about: children that have ended. The first is being asked.
    var due = Deque<Int32>()
    /// How often it was decided.
    var count = 0
    /// What the group remembers.
    var state: [UInt8]?
    /// Errors of the group's own.
    var failures: [Failure] = []
    /// A decision has failed: there are no more.
    var hasFailed = false
    /// Children that alone do not make the group fail.
    var forgiven: Set<Int32> = []
    /// Of a group that goes step by step: what it has added last, while that has not ended.
    var step: DecidedStep?
}

/// A step of a group that goes step by step.
struct DecidedStep {
    /// What the group is asked about when it is over.
    let unit: Int32
    /// What belongs to it and has not ended. Looked up, never iterated.
    var open: Set<Int32>
}

/// Groups that decide what they do next: one decision at a time, in the order in which their children's ends were committed.
///
/// Who decides is a unit like any other as far as workers are concerned. While nothing is due it is blocked; while something
/// is it keeps its group open.
extension Submission {
    /// The decider of a group; nil: it has none.
    func decider(of group: Int) -> Int? {
        guard !layout.deciders.isEmpty, let node = layout.deciders[units[group].node] else { return nil }
        return Int(units[group].base) + Int(layout.offset[Int(node)])
    }

    /// Whether a group stands for a wrapper, which ends as what its decision makes.
    func isWrapper(_ group: Int) -> Bool {
        guard let decider = decider(of: group), case .decider(let kind) = node(decider).kind else { return false }
        return kind.isWrapper
    }

    func isDecider(_ unit: Int) -> Bool { !layout.deciders.isEmpty && node(unit).isDecider }

    /// Whether a child that does not succeed makes its group fail.
    func isForgiven(_ child: Int, in group: Int) -> Bool {
        !decisions.isEmpty && decisions[Int32(group)]?.forgiven.contains(Int32(child)) == true
    }

    /// Errors of the group's own that its decisions have brought.
    func decisionFailures(_ group: Int) -> [Failure] { decisions.isEmpty ? [] : decisions[Int32(group)]?.failures ?? [] }

    func question(for decider: Int) -> DecisionQuestion? {
        let group = Int(units[decider].parent)
        guard let line = decisions[Int32(group)], let child = line.due.first else { return nil }
        var question = DecisionQuestion(number: line.count + 1, child: nil, type: "", version: 0, parameters: [], state: line.state)
        guard child != DecisionLine.begin else { return question }
        question.child = path(of: Int(child))
        question.childUnit = Int(child)
        question.isChildCancelled = units[Int(child)].outcome == .cancelled
        if case .operation(let operation) = node(Int(child)).kind {
            question.type = operation.type
            question.version = operation.version
            question.parameters = graph.parameters[operation.parameters]
        }
        return question
    }

    /// What the child that is being asked about delivers.
    func decidedInput(for decider: Int) -> [Received] {
        guard let child = decisions[units[decider].parent]?.due.first, child != DecisionLine.begin else { return [] }
        return [received(from: Int(child))]
    }

    // MARK: What is due

    /// The group has begun: it is asked if it is to be, also about what had ended before.
    mutating func openDecisions(of group: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard let decider = decider(of: group), case .decider(let kind) = node(decider).kind else { return }
        if kind.isAskedAtBegin { ask(DecisionLine.begin, group, decider, at, &effects) }
        let ended = children(of: group).filter { units[$0].hasEnded }.sorted { units[$0].endNumber < units[$1].endNumber }
        for child in ended { noteEnd(of: child, in: group, at, &effects) }
    }

    /// A child has ended: whether there is something to decide.
    mutating func noteEnd(of child: Int, in group: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard let decider = decider(of: group), case .decider(let kind) = node(decider).kind else { return }
        switch (kind.occasion, units[child].outcome) {
        case (.eachChild, _), (.failures, .failure?): ask(Int32(child), group, decider, at, &effects)
        case (.failures, _): break
        case (.steps, _): noteEndOfStep(by: Int32(child), group, decider, at, &effects)
        }
    }

    private mutating func noteEndOfStep(by child: Int32, _ group: Int, _ decider: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard decisions[Int32(group)]?.step?.open.remove(child) != nil, let step = decisions[Int32(group)]?.step, step.open.isEmpty
        else { return }
        decisions[Int32(group)]?.step = nil
        ask(step.unit, group, decider, at, &effects)
    }

    private mutating func ask(_ occasion: Int32, _ group: Int, _ decider: Int, _ at: Int64, _ effects: inout [Effect]) {
        // What is stopped decides nothing any more.
        guard units[group].phase == .open, units[group].stop == nil, !units[group].stopsChildren, !units[decider].hasEnded else { return }
        decisions[Int32(group), default: DecisionLine()].due.append(occasion)
        guard units[decider].phase == .blocked else { return }
        units[group].openChildren += 1
        becomeDue(decider, at, &effects)
    }

    private mutating func becomeDue(_ decider: Int, _ at: Int64, _ effects: inout [Effect]) {
        units[decider].queuedAt = at
        units[decider].startedAt = 0
        units[decider].stop = nil
        if isPaused(decider) { units[decider].phase = .paused } else { makeReady(decider, at, &effects) }
    }

    // MARK: Decisions

    /// The attempt to decide is over.
    mutating func endDecision(
        _ decider: Int, _ attempt: Attempt, _ outcome: AttemptOutcome, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        let group = Int(units[decider].parent)
        units[decider].isRunning = false
        // When it began was only said, and is in no journal.
        units[decider].startedAt = 0
        guard units[decider].stop == nil else { return endStoppedDecider(decider, at, &effects) }
        guard decisions[Int32(group)]?.due.isEmpty == false else { throw FactMismatch("\(path(of: group)) decided when nothing was due") }
        switch outcome {
        case .decided(let decision):
            clearBlame(of: decider)
            decisions[Int32(group)]?.due.removeFirst()
            decisions[Int32(group)]?.count += 1
            if let state = decision.state { decisions[Int32(group)]?.state = state }
            let failures = fromDecider(decision.failures, decider)
            decisions[Int32(group)]?.failures += failures
            for child in decision.forgiven { forgive(child, in: group) }
            if let addition = decision.addition {
                let (firstUnit, firstNode) = (units.count, layout.graph.nodes.count)
                try add(addition, by: decider, attempt, at: at, &effects)
                func unit(of node: Int) -> Int { firstUnit + Int(layout.offset[firstNode + node - 1]) }
                let forgiven = decision.forgivenNodes.map { unit(of: $0) }
                if case .decider(let kind) = node(decider).kind, let product = addition.products.first.map({ Int32(unit(of: $0)) }) {
                    if kind.isWrapper { wrapped[Int32(group)] = wrapped[Int32(group)] ?? product }
                    if kind.occasion == .steps {
                        decisions[Int32(group)]?.step = DecidedStep(unit: product, open: Set(forgiven.map { Int32($0) } + [product]))
                    }
                }
                for child in forgiven { forgive(child, in: group) }
            }
            if decisions[Int32(group)]?.due.isEmpty == false { becomeDue(decider, at, &effects) } else { rest(decider, .blocked) }
        case .failure(let failures):
            failDecision(decider, failures, at, &effects)
        case .stopped:
            failDecision(decider, [Failure(code: .operation, message: "was given up", typeName: "DecisionFailed")], at, &effects)
        case .success, .production, .elements, .answers, .concluded:
            throw FactMismatch("\(path(of: decider)) was asked to decide but something else came")
        }
    }

    /// The attempt to decide was lost: it has left nothing, and is repeated.
    mutating func loseDecision(_ decider: Int, crashLimit: Int, at: Int64, _ effects: inout [Effect]) {
        units[decider].isRunning = false
        if units[decider].stop != nil {
            endStoppedDecider(decider, at, &effects)
        } else if Int(units[decider].crashes) >= crashLimit {
            failDecision(decider, [workerLostFailure(decider)], at, &effects)
        } else {
            becomeDue(decider, at, &effects)
        }
    }

    /// A death under an attempt to decide that was lost before is known: whether it is asked once more.
    mutating func endDecisionIfExhausted(_ decider: Int, crashLimit: Int, at: Int64, _ effects: inout [Effect]) {
        guard Int(units[decider].crashes) >= crashLimit, units[decider].phase == .ready, units[decider].stop == nil else { return }
        failDecision(decider, [workerLostFailure(decider)], at, &effects)
    }

    mutating func forgive(_ child: Int, in group: Int) {
        guard units.indices.contains(child), Int(units[child].parent) == group, !isDecider(child),
            decisions[Int32(group)]?.forgiven.insert(Int32(child)).inserted == true
        else { return }
        switch units[child].outcome {
        case .failure?, .cancelled?: units[group].unsuccessfulChildren -= 1
        case .success?, nil: break
        }
    }

    /// Nothing is due: the group may end.
    private mutating func rest(_ decider: Int, _ phase: Unit.Phase) {
        let group = Int(units[decider].parent)
        units[decider].phase = phase
        units[group].openChildren -= 1
        if units[group].openChildren == 0 { work.append(.close(Int32(group))) }
    }

    /// The group fails because of it, as because of a child; it decides nothing any more.
    private mutating func failDecision(_ decider: Int, _ failures: [Failure], _ at: Int64, _ effects: inout [Effect]) {
        let group = Int(units[decider].parent)
        let about = question(for: decider)?.child.map { "about `\($0)` " } ?? ""
        let named = fromDecider(failures, decider).map { failure in
            var failure = failure
            failure.message = "a decision of the group \(about)failed: \(failure.message)"
            return failure
        }
        decisions[Int32(group)]?.failures += named
        decisions[Int32(group)]?.hasFailed = true
        decisions[Int32(group)]?.due = []
        if stopsOnFailure(group), !units[group].stopsChildren, units[group].stop == nil {
            units[group].stopsChildren = true
            for child in children(of: group) where !units[child].hasEnded { work.append(.stop(Int32(child), .siblingFailed)) }
        }
        rest(decider, .ended(.cancelled))
    }

    private func fromDecider(_ failures: [Failure], _ decider: Int) -> [Failure] {
        let (path, group) = (path(of: decider), path(of: Int(units[decider].parent)))
        return failures.map { failure in
            var failure = failure
            failure.origin = path
            if failure.publisher.isEmpty { failure.publisher = group.isEmpty ? name : group }
            return failure
        }
    }

    // MARK: Stopping

    /// What is around it is stopped, or who decides is gone.
    mutating func stopDecider(_ decider: Int, _ reason: Unit.Stop, _ at: Int64, _ effects: inout [Effect]) {
        switch units[decider].phase {
        case .ended, .lingering, .dropped: return
        case .assigned(let attempt, let worker):
            guard note(reason, decider) else { return }
            effects.append(.stop(id(decider), attempt, worker, units[decider].stop ?? reason, now: units[decider].isHurried))
        case .blocked:
            units[decider].phase = .ended(.cancelled)
        case .ready, .paused, .delayed, .held, .wanting, .locking, .preparing, .postponed, .retryWait, .provisional, .open:
            units[decider].stop = reason
            endStoppedDecider(decider, at, &effects)
        }
    }

    mutating func endStoppedDecider(_ decider: Int, _ at: Int64, _ effects: inout [Effect]) {
        switch units[decider].stop {
        case .submitterGone?:
            failDecision(decider, [submitterGoneFailure(decider)], at, &effects)
        case .timedOut?:
            let limit = Duration.text(milliseconds: stepMilliseconds(decider))
            failDecision(
                decider, [Failure(code: .timeout, message: "it was not made within \(limit)", typeName: "DecisionFailed")], at, &effects)
        case .cancelled?, .siblingFailed?, .queueTimedOut?, .deadlinePassed?, .conditionFailed?, .duplicate?, .lockCycle?,
            .quarantined?, .unfit?, .fenced?, .streamVoided?, nil:
            decisions[units[decider].parent]?.due = []
            rest(decider, .ended(.cancelled))
        }
    }

    /// The group has ended, and so has who decides for it.
    mutating func closeDecisions(of group: Int) {
        guard let decider = decider(of: group) else { return }
        if let line = decisions.removeValue(forKey: Int32(group)), !line.forgiven.isEmpty {
            var rest = DecisionLine()
            rest.forgiven = line.forgiven
            decisions[Int32(group)] = rest
        }
        if units[decider].phase == .blocked { units[decider].phase = .ended(.cancelled) }
    }

    // MARK: Invariants

    /// Children whose end makes the group fail are counted elsewhere; this is about who decides.
    func decisionViolations(_ decider: Int) -> [String] {
        let group = Int(units[decider].parent)
        let due = decisions[Int32(group)]?.due.count ?? 0
        var found: [String] = []
        switch units[decider].phase {
        case .blocked, .ended, .lingering, .dropped: if due > 0 { found.append("has \(due) decisions due and rests") }
        case .ready, .assigned, .paused:
            if due == 0 { found.append("decides, but nothing is due") }
            if units[group].phase != .open { found.append("decides for a group that is not open") }
        case .delayed, .held, .wanting, .locking, .preparing, .postponed, .retryWait, .provisional, .open:
            found.append("is in a phase that no decider has")
        }
        if units[decider].isActive { found.append("takes a place of its group") }
        if units[group].hasEnded != units[decider].hasEnded, units[group].hasEnded { found.append("has not ended with its group") }
        return found
    }

    /// Whether it keeps its group open.
    func isDue(_ decider: Int) -> Bool {
        switch units[decider].phase {
        case .ready, .assigned, .paused: true
        case .blocked, .delayed, .held, .wanting, .locking, .preparing, .postponed, .retryWait, .provisional, .open, .ended, .lingering,
            .dropped:
            false
        }
    }
}
