import DequeModule

/// Judging units, just before they would start: an operation when a slot is there for it, a group when nothing else is in
/// its way.
extension Scheduler {
    enum Judgement {
        case start
        /// A worker is to be asked first.
        case evaluate
        /// It has failed, or waits to be judged again.
        case leave
    }

    mutating func judge(_ unit: UnitID, _ outputs: inout Outputs) -> Judgement {
        let index = durable.index(of: unit.submission)
        // What it held may have gone back since it was to be judged, as nobody is there any more who could run it.
        guard durable.submissions[index].mayBeJudged(unit.index), !durable.submissions[index].lacksLocks(unit.index) else { return .leave }
        let verdicts = durable.submissions[index].conditions(of: unit.index).enumerated()
            .compactMap { verdictOfPreparation(of: $1, at: $0, unit) ?? ($1.isProbe ? nil : verdict(on: $1, at: $0, of: unit)) }
        if durable.submissions[index].needsProbing(unit.index) {
            // Nobody is asked while it could not start in any case; all are evaluated when one has failed.
            let results = durable.submissions[index].results(of: unit.index, verdicts + durable.submissions[index].answered(unit.index))
            let waits = results.contains { $0.until != nil }
            if !waits || results.contains(where: { $0.failure != nil }) { return .evaluate }
        }
        emit(.judged(unit, verdicts, at: now.wall), &outputs)
        return durable.submissions[index].units[unit.index].isCleared ? .start : .leave
    }

    mutating func judgeGroups(_ outputs: inout Outputs) {
        while let unit = groupsToJudge.popFirst() {
            if !isPaused(unit) { _ = judge(unit, &outputs) }
        }
    }

    /// A unit asks for no locks while it would only have to wait for a time of day.
    ///
    /// - Returns: whether it waits for that now.
    mutating func waitsForWindow(_ unit: UnitID, _ outputs: inout Outputs) -> Bool {
        let index = durable.index(of: unit.submission)
        guard durable.submissions[index].hasConditions(unit.index) else { return false }
        var closed: [Verdict] = []
        let node = durable.submissions[index].node(unit.index)
        for (position, condition) in durable.submissions[index].conditions(of: unit.index).enumerated()
        where node.requiresAlone(position) {
            switch condition.kind {
            case .timeWindow: break
            case .noFailedDependencies, .noCancelledDependencies:
                // What fails in any case need not wait.
                if verdict(on: condition, at: position, of: unit).finding == .failed { return false }
                continue
            case .rateLimit, .probe: continue
            }
            let verdict = verdict(on: condition, at: position, of: unit)
            if verdict.finding != .satisfied { closed.append(verdict) }
        }
        // Nor need what fails by what is made of them.
        guard !closed.isEmpty, !durable.submissions[index].results(of: unit.index, closed).contains(where: { $0.failure != nil }) else {
            return false
        }
        emit(.judged(unit, closed, at: now.wall), &outputs)
        return true
    }

    private func verdict(on condition: Condition, at position: Int, of unit: UnitID) -> Verdict {
        var verdict = Verdict(condition: position, finding: .satisfied, at: now.wall)
        switch condition.kind {
        case .noFailedDependencies: judgeDependencies(condition, ofFailed: true, of: unit, &verdict)
        case .noCancelledDependencies: judgeDependencies(condition, ofFailed: false, of: unit, &verdict)
        case .timeWindow(let window): judge(window, condition, &verdict)
        case .rateLimit(let limit): judge(limit, condition, of: unit, &verdict)
        // Workers say.
        case .probe: break
        }
        if condition.isNegated, verdict.finding == .failed { verdict.image = Failure.image(of: .negated(condition.kind.key)) }
        return verdict
    }

    /// Of failed dependencies that a verdict names all; of more it has the first ones in its text.
    private static let dependencyNamesBytesMax = 8 * 1_024

    private func judgeDependencies(_ condition: Condition, ofFailed: Bool, of unit: UnitID, _ verdict: inout Verdict) {
        let index = durable.index(of: unit.submission)
        let before = durable.submissions[index].node(unit.index).options.endedBefore
        var failed = ofFailed ? before.failed : []
        var cancelled = before.cancelled
        for dependency in durable.submissions[index].declaredDependencies(of: unit.index) {
            switch durable.submissions[index].knownOutcome(dependency) {
            case .failure?: if ofFailed { failed.append(durable.submissions[index].path(of: dependency)) }
            case .cancelled?: cancelled.append(durable.submissions[index].path(of: dependency))
            case .success?, nil: break
            }
        }
        let holds = failed.isEmpty && cancelled.isEmpty
        guard holds == condition.isNegated else { return }
        verdict.finding = .failed
        if condition.isNegated {
            verdict.reason = ofFailed ? "all dependencies succeeded" : "no dependency was cancelled"
        } else {
            verdict.reason = [("failed", failed), ("cancelled", cancelled)].filter { !$0.1.isEmpty }
                .map { "\($0.0): \($0.1.prefix(10).joined(separator: ", "))\($0.1.count > 10 ? ", …" : "")" }.joined(separator: "; ")
            verdict.reason = "not all dependencies succeeded; \(verdict.reason)"
            if (failed + cancelled).reduce(0, { $0 + $1.utf8.count }) <= Self.dependencyNamesBytesMax {
                verdict.image = Failure.image(of: .dependencies(failed: failed, cancelled: cancelled))
            }
        }
    }

    private func judge(_ window: TimeWindow, _ condition: Condition, _ verdict: inout Verdict) {
        guard let zone = window.zone.isEmpty ? .utc : durable.zones[window.zone] else {
            preconditionFailure("a graph with the time zone \(window.zone) was admitted without its table")
        }
        let opening = window.next(from: now.wall, open: !condition.isNegated, in: zone)
        guard opening > now.wall else { return }
        verdict.finding = .notNow(until: opening)
        verdict.reason = condition.isNegated ? "it is \(window.text)" : "it is not \(window.text)"
    }

    private func judge(_ limit: RateLimit, _ condition: Condition, of unit: UnitID, _ verdict: inout Verdict) {
        let opening = opening(of: limit, for: unit)
        if condition.isNegated {
            guard opening <= now.boot else { return }
            verdict.finding = .failed
            verdict.reason = "the rate limit \(limit.text) is not used up"
        } else if opening > now.boot {
            verdict.finding = .notNow(until: now.wall + (opening - now.boot))
            verdict.reason = "the rate limit \(limit.text) is used up"
        }
    }

    // MARK: Rate limits

    /// Boot time at which the unit may start under the limit: now, or when the line before it has moved.
    private func opening(of limit: RateLimit, for unit: UnitID) -> Int64 {
        guard let number = rateLines.numbers[limit.key] else { return now.boot }
        let line = rateLines.lines[Int(number)]
        let opening = line.opening(limit, at: now.boot)
        guard opening <= now.boot, line.waiting.contains(where: { isInTurn($0.unit) }) else { return opening }
        guard durable.submissions[durable.index(of: unit.submission)].turnSince(of: unit.index) == nil else { return opening }
        return now.boot + limit.perMilliseconds
    }

    /// Whether it stands in a line, or did and was just called. Who is paused has no turn: it keeps its place by the time since
    /// which it waits, and stands there again when it goes on.
    func isInTurn(_ unit: UnitID) -> Bool {
        if case .postponed(.turn) = durable.phase(unit) { !isPaused(unit) } else { false }
    }

    mutating func noteStart(_ limit: RateLimit) {
        rateLines.start(limit.key, at: now.boot, kept: durable.rates.records[limit.key]?.kept ?? limit.count)
        watchLine(rateLines.number(of: limit.key))
    }

    /// The unit waits for its turn; who was called too early, or was paused, has its place again.
    mutating func standInLine(_ unit: UnitID, since: Int64) {
        let index = durable.index(of: unit.submission)
        let limits = durable.submissions[index].awaitedLimits(of: unit.index)
        guard let limit = limits.first(where: { opening(of: $0, for: unit) > now.boot }) ?? limits.first else { return }
        let number = rateLines.number(of: limit.key)
        // A newcomer goes behind all others, also after a step of the clock.
        let last = since == now.wall ? rateLines.lines[Int(number)].waiting.last?.since : nil
        rateLines.lines[Int(number)].stand(unit, since: max(since, last ?? since))
        watchLine(number)
    }

    /// Boot time at which one in line may start, if `woken` others do so now; nil: it is not in line any more.
    private func opening(for unit: UnitID, line number: Int32, woken: Int = 0) -> Int64? {
        guard isInTurn(unit) else { return nil }
        let line = rateLines.lines[Int(number)]
        return durable.submissions[durable.index(of: unit.submission)].awaitedLimits(of: unit.index)
            .filter { rateLines.numbers[$0.key] == number }
            .map { line.opening($0, at: now.boot, woken: woken) }.max()
    }

    /// Looks at the front of the line when it may start.
    private mutating func watchLine(_ number: Int32, notBefore: Int64 = 0) {
        let index = Int(number)
        while let first = rateLines.lines[index].waiting.first {
            guard let opening = opening(for: first.unit, line: number) else {
                rateLines.lines[index].waiting.removeFirst()
                continue
            }
            rateLines.watch(number, for: first.unit)
            let due = max(notBefore, opening)
            if let earlier = rateLines.lines[index].wakeAt, earlier <= due { return }
            rateLines.lines[index].wakeAt = due
            return timers.insert(.turn(number), due: due)
        }
        rateLines.watch(number, for: nil)
    }

    /// Something has become of the unit: if it stood at the front of a line and has left it, that need not wait as long as it had to.
    mutating func leaveLine(_ unit: UnitID) {
        guard !rateLines.heads.isEmpty, let numbers = rateLines.heads[unit], !isInTurn(unit) else { return }
        for number in numbers {
            rateLines.lines[Int(number)].wakeAt = nil
            watchLine(number, notBefore: rateLines.lines[Int(number)].restsUntil)
        }
    }

    /// Calls as many from the front of the line as may start. Who is called takes its turn when it gets a slot; those
    /// behind it are called a little later if it does not.
    mutating func turnDue(_ number: Int32) {
        let index = Int(number)
        guard let wakeAt = rateLines.lines[index].wakeAt, wakeAt <= now.boot else { return }
        rateLines.lines[index].wakeAt = nil
        var woken = 0
        while let first = rateLines.lines[index].waiting.first {
            if let opening = opening(for: first.unit, line: number, woken: woken) {
                guard opening <= now.boot else { break }
                woken += 1
                queue(first.unit)
            }
            rateLines.lines[index].waiting.removeFirst()
        }
        if woken > 0 { rateLines.lines[index].restsUntil = now.boot + Self.lineLookMilliseconds }
        watchLine(number, notBefore: rateLines.lines[index].restsUntil)
    }

    private static let lineLookMilliseconds: Int64 = 1_000

    // MARK: Waiting

    mutating func register(_ tables: [ZoneTable], _ outputs: inout Outputs) {
        let new = tables.filter { durable.zones[$0.name] != $0 }
        if !new.isEmpty { emit(.zonesRegistered(new), &outputs) }
    }

    mutating func watchPostponement(of unit: UnitID, _ postponement: Unit.Postponement) {
        switch postponement {
        case .window(let until): wallTimers.insert(.postponement(unit, until), due: until)
        case .later(let until): timers.insert(.postponement(unit, until), due: now.boot + max(0, until - now.wall))
        case .turn(let since): standInLine(unit, since: since)
        }
    }

    mutating func postponementDue(_ unit: UnitID, _ until: Int64) {
        guard [.postponed(.window(until: until)), .postponed(.later(until: until))].contains(durable.phase(unit)), !isPaused(unit) else {
            return
        }
        if durable.submissions[durable.index(of: unit.submission)].lacksLocks(unit.index) {
            lockIntake.wanting.append(unit)
        } else {
            queue(unit)
        }
    }

    /// After a start: lines are as they were, and starts are as long ago as they were.
    mutating func rebuildLines() {
        for key in durable.rates.records.keys.sorted() {
            guard let record = durable.rates.records[key] else { continue }
            let line = Int(rateLines.number(of: key))
            for start in record.starts { rateLines.lines[line].starts.append(now.boot - max(0, now.wall - start)) }
        }
        var waiting: [(since: Int64, unit: UnitID)] = []
        for submission in durable.submissions where submission.outcome == nil && !submission.verdicts.isEmpty {
            for unit in submission.units.indices {
                guard case .postponed(.turn(let since)) = submission.units[unit].phase else { continue }
                waiting.append((since, UnitID(submission.number, unit)))
            }
        }
        for (since, unit) in waiting.sorted(by: { ($0.since, $0.unit) < ($1.since, $1.unit) }) { standInLine(unit, since: since) }
    }
}
