/// Conditions: judged when a unit could start, anew for each attempt.
extension Submission {
    @inline(__always)  // else the submission is copied for the call
    func hasConditions(_ unit: Int) -> Bool {
        let node = Int(units[unit].node)
        guard layout.graph.nodes[node].hasOptions else { return false }
        let options = layout.graph.nodes[node].options
        return !options.conditions.isEmpty || !options.conditionTrees.isEmpty
    }

    func conditions(of unit: Int) -> [Condition] { layout.graph.nodes[Int(units[unit].node)].conditions }

    /// Units that the user let this one wait for, in declared order. What follows a forEach follows for its elements, too.
    func declaredDependencies(of unit: Int) -> [Int] {
        var found: [Int] = []
        let own = node(unit)
        for target in own.receives + own.after { found.append(self.unit(ofNode: target, seenFrom: unit)) }
        let parent = Int(units[unit].parent)
        if parent >= 0, case .forEach = node(parent).kind {
            for target in node(parent).receives + node(parent).after { found.append(self.unit(ofNode: target, seenFrom: parent)) }
        }
        return found
    }

    /// Whether a unit that is in this phase is looked at by those who judge.
    func mayBeJudged(_ unit: Int) -> Bool {
        switch units[unit].phase {
        case .wanting, .ready, .postponed: hasConditions(unit)
        // A group begins anew first.
        case .retryWait: if case .operation = node(unit).kind { hasConditions(unit) } else { false }
        case .blocked, .delayed, .held, .paused, .locking, .preparing, .assigned, .provisional, .open, .ended, .lingering, .dropped: false
        }
    }

    /// - Returns: the rate limits under which the unit starts now.
    mutating func judge(_ unit: Int, _ verdicts: [Verdict], at: Int64, _ effects: inout [Effect]) throws(FactMismatch) -> [RateLimit] {
        guard mayBeJudged(unit) else { throw FactMismatch("\(path(of: unit)) was judged while it could not start") }
        let conditions = conditions(of: unit)
        guard verdicts.allSatisfy({ conditions.indices.contains($0.condition) }) else {
            throw FactMismatch("\(path(of: unit)) was judged by a condition that it has not")
        }
        if case .retryWait(let until) = units[unit].phase { units[unit].queuedAt = until }
        let turn = turnSince(of: unit)
        note(verdicts, unit)
        let verdicts = verdicts + answered(unit)
        units[unit].probing = .due
        let results = results(of: unit, verdicts)
        let failures = results.compactMap(\.failure)
        guard failures.isEmpty else {
            failConditions(unit, failures, at, &effects)
            settle(at: at, &effects)
            return []
        }
        guard !results.contains(.ignored) else {
            stop(unit, .cancelled, at, &effects)
            settle(at: at, &effects)
            return []
        }
        guard let postponement = postponement(of: unit, results.compactMap(\.until), turn: turn ?? at) else {
            if lacksLocks(unit) { throw FactMismatch("\(path(of: unit)) was judged without its locks") }
            if case .group = node(unit).kind {
                open(unit, at, &effects)
                settle(at: at, &effects)
            } else {
                units[unit].phase = .ready
                units[unit].probing = .done
                units[unit].isCleared = true
            }
            return countedRates(of: unit)
        }
        if case .window = postponement, units[unit].locks == .held(isUsed: false) {
            // Others may have what it locked until the window opens.
            units[unit].locks = .none
            units[unit].isPrepared = false
            releasing.append(Int32(unit))
        }
        units[unit].phase = .postponed(postponement)
        effects.append(.changed(id(unit), at: at, errors: []))
        effects.append(.postponed(id(unit), postponement))
        return []
    }

    /// The limits under which a start counts, each key once with its largest count.
    private func countedRates(of unit: Int) -> [RateLimit] {
        var rates: [RateLimit] = []
        for limit in countedLimits(of: unit) {
            if let known = rates.firstIndex(where: { $0.key == limit.key }) {
                rates[known].count = max(rates[known].count, limit.count)
            } else {
                rates.append(limit)
            }
        }
        return rates
    }

    /// Newer verdicts take the place of older ones of the same conditions.
    mutating func note(_ new: [Verdict], _ unit: Int) {
        var kept = verdicts[Int32(unit)] ?? []
        for verdict in new {
            if let index = kept.firstIndex(where: { $0.condition >= verdict.condition }) {
                if kept[index].condition == verdict.condition { kept[index] = verdict } else { kept.insert(verdict, at: index) }
            } else {
                kept.append(verdict)
            }
        }
        verdicts[Int32(unit)] = kept
    }

    /// Since when the unit waits for its turn under a rate limit; nil: it does not. Who is asked about when its turn comes
    /// keeps its place while it is: else it would find itself behind those who came meanwhile, and they behind it.
    func turnSince(of unit: Int) -> Int64? {
        if case .postponed(.turn(let since)) = units[unit].phase { return since }
        guard units[unit].probing != .due else { return nil }
        return verdictsOfLimits(of: unit).first?.verdict.at
    }

    /// The limits that keep the unit from starting, as it was judged last: also those under which its start does not count, as
    /// they stand under a `not`.
    func awaitedLimits(of unit: Int) -> [RateLimit] { verdictsOfLimits(of: unit).map(\.limit) }

    private func verdictsOfLimits(of unit: Int) -> [(verdict: Verdict, limit: RateLimit)] {
        let conditions = conditions(of: unit)
        return (verdicts[Int32(unit)] ?? []).compactMap { verdict in
            guard case .notNow = verdict.finding, case .rateLimit(let limit) = conditions[verdict.condition].kind else { return nil }
            return (verdict, limit)
        }
    }

    /// What the unit waits for if nothing has failed; nil: for nothing.
    ///
    /// - Parameter turn: Since when it would wait for its turn.
    private func postponement(of unit: Int, _ verdicts: [Verdict], turn: Int64) -> Unit.Postponement? {
        let conditions = conditions(of: unit)
        var found: Unit.Postponement?
        for verdict in verdicts {
            guard case .notNow(let until) = verdict.finding else { continue }
            switch (conditions[verdict.condition].kind, found) {
            case (.timeWindow, .window(let other)?): found = .window(until: max(until, other))
            case (.timeWindow, _): found = .window(until: until)
            case (_, .window?), (.rateLimit, .turn?), (.rateLimit, .later?): break
            case (.probe, .later(let other)?): found = .later(until: max(until, other))
            case (.probe, _): found = .later(until: until)
            case (.rateLimit, nil): found = .turn(since: turn)
            case (.noFailedDependencies, _), (.noCancelledDependencies, _): break
            }
        }
        return found
    }

    /// A condition failed: that attempt is over. What is in a group that does not begin again ends as cancelled.
    private mutating func failConditions(_ unit: Int, _ failures: [Failure], _ at: Int64, _ effects: inout [Effect]) {
        let isLast =
            (Int(units[unit].failedAttempts) >= node(unit).retries || worthRetry(unit, failures) == nil) && openTail(of: unit) == nil
        guard isLast, units[unit].openChildren > 0 else { return failAttempt(unit, failures, at, &effects) }
        units[unit].stop = .conditionFailed
        awaitChildren(of: unit, stoppedBy: .siblingFailed)
    }

    /// The errors of conditions that failed when they were judged last.
    func conditionFailures(_ unit: Int) -> [Failure] {
        results(of: unit, verdicts[Int32(unit)] ?? []).compactMap(\.failure)
    }

    func conditionFailure(_ unit: Int, _ condition: Condition, _ verdict: Verdict) -> Failure {
        if let failure = preparationFailure(verdict.condition, of: unit) { return failure }
        var failure =
            Failure.whole(in: verdict.image)
            ?? Failure(code: .condition, message: "", typeName: "\(condition.key).Error", image: verdict.image)
        // Whatever it is elsewhere, here a condition did not hold; but a program may ask whether something was cancelled.
        if failure.code != .cancelled, failure.code != .receivedValueIsNil { failure.code = .condition }
        failure.isCondition = true
        failure.message = verdict.reason
        if failure.publisher.isEmpty { failure.publisher = condition.key }
        failure.host = verdict.evaluator
        failure.origin = path(of: unit)
        return failure
    }

    @inline(__always)  // else the submission is copied for the call
    func conditionViews(of unit: Int) -> [ConditionView] {
        guard !verdicts.isEmpty, let verdicts = verdicts[Int32(unit)] else { return [] }
        let conditions = conditions(of: unit)
        return verdicts.map { ConditionView(key: conditions[$0.condition].key, verdict: $0) }
    }
}

extension DurableState {
    mutating func judge(_ unit: UnitID, _ verdicts: [Verdict], at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        let index = try self.index(of: unit)
        for limit in try submissions[index].judge(unit.index, verdicts, at: at, &effects) {
            rates.start(limit, at: at)
            effects.append(.counted(limit))
        }
        passLocksOn(from: index, at: at, &effects)
    }
}
