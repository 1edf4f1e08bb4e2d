/// Conditions that workers evaluate.
extension Submission {
    /// How long an evaluation may take.
    static let evaluationMilliseconds: Int64 = 60_000

    /// Positions of the unit's conditions that workers evaluate; not of those whose dependent operation has failed.
    func probes(of unit: Int) -> [Int] {
        let conditions = conditions(of: unit)
        return conditions.indices.filter { conditions[$0].isProbe && preparationFailure($0, of: unit) == nil }
    }

    /// Those of them that are asked about next, or are being asked about: all of them are evaluated in one place.
    func dueProbes(of unit: Int) -> [Int] {
        let conditions = conditions(of: unit)
        let probes = probes(of: unit)
        let ofWorkers = units[unit].probing == .due ? probes.filter { !conditions[$0].isHosted } : []
        return ofWorkers.isEmpty ? probes.filter { conditions[$0].isHosted } : ofWorkers
    }

    /// Whether somebody has still to be asked before the unit may start.
    func needsProbing(_ unit: Int) -> Bool {
        guard units[unit].probing != .done, hasConditions(unit) else { return false }
        return !dueProbes(of: unit).isEmpty
    }

    /// What has been said for the attempt that is to start.
    func answered(_ unit: Int) -> [Verdict] {
        guard units[unit].probing != .due else { return [] }
        let conditions = conditions(of: unit)
        let isByAll = units[unit].probing == .done
        let probes = probes(of: unit).filter { isByAll || !conditions[$0].isHosted }
        return (verdicts[Int32(unit)] ?? []).filter { probes.contains($0.condition) }
    }

    func questions(for unit: Int) -> [ConditionQuestion] {
        let conditions = conditions(of: unit)
        return dueProbes(of: unit).compactMap { position in
            let condition = conditions[position]
            guard case .probe(let probe) = condition.kind else { return nil }
            return ConditionQuestion(
                condition: position, type: probe.type, parameters: graph.parameters[probe.parameters], isTemplated: probe.isTemplated,
                isNegated: condition.isNegated, waits: probe.waits, failedParts: failedParts(position, of: unit))
        }
    }

    /// The worker gets the unit to evaluate its conditions: that is no attempt of it yet.
    mutating func beginEvaluation(_ unit: Int, _ attempt: Attempt, _ worker: WorkerNumber) {
        hasBegun = true
        units[unit].phase = .assigned(attempt, worker)
        units[unit].isEvaluating = true
        units[unit].stop = nil
        units[unit].isHurried = false
    }

    /// The evaluation is over. What it says is judged with the other conditions when the unit could start.
    mutating func endEvaluation(_ unit: Int, _ outcome: AttemptOutcome, _ evaluator: String, _ at: Int64, _ effects: inout [Effect]) {
        units[unit].isEvaluating = false
        guard !endStopped(unit, at, &effects) else { return }
        let wasTimedOut = units[unit].stop == .timedOut
        units[unit].stop = nil
        note(verdicts(of: unit, wasTimedOut ? .stopped : outcome, evaluator, at), unit)
        let conditions = conditions(of: unit)
        let wasOfWorkers = dueProbes(of: unit).contains { !conditions[$0].isHosted }
        units[unit].probing = .byWorkers
        if !wasOfWorkers || dueProbes(of: unit).isEmpty { units[unit].probing = .done }
        units[unit].phase = .ready
        if isPaused(unit) || lacksStream(unit) { giveBackWhilePaused(unit) }
        effects.append(.changed(id(unit), at: at, errors: []))
        effects.append(.ready(id(unit)))
    }

    private func verdicts(of unit: Int, _ outcome: AttemptOutcome, _ evaluator: String, _ at: Int64) -> [Verdict] {
        let reason: String
        switch outcome {
        case .answers(let answers):
            return answers.map { answer in
                let finding: Verdict.Finding =
                    switch answer.finding {
                    case .satisfied: .satisfied
                    case .failed: .failed
                    case .ignored: .ignored
                    case .retryAfter(let milliseconds): .notNow(until: at + max(1, milliseconds))
                    }
                return Verdict(
                    condition: answer.condition, finding: finding, reason: answer.reason, evaluator: evaluator, at: at,
                    image: answer.image)
            }
        case .failure(let failures): reason = failures.first?.message ?? "could not be evaluated"
        case .success, .production, .stopped, .elements, .decided, .concluded:
            reason = "was not evaluated within \(Duration.text(milliseconds: stepMilliseconds(unit)))"
        }
        return dueProbes(of: unit).map { Verdict(condition: $0, finding: .failed, reason: reason, evaluator: evaluator, at: at) }
    }

    /// Ends a unit that was stopped while its conditions were being evaluated. A timeout of the evaluation is none of the
    /// unit: it fails the conditions, or is forgotten with the worker that was lost.
    ///
    /// - Returns: whether it was stopped.
    mutating func endStopped(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) -> Bool {
        switch units[unit].stop {
        case nil, .streamVoided?, .timedOut?: return false
        case .cancelled?, .siblingFailed?, .queueTimedOut?, .deadlinePassed?, .conditionFailed?, .duplicate?, .submitterGone?, .lockCycle?,
            .quarantined?, .unfit?, .fenced?:
            break
        }
        if units[unit].openChildren > 0 {
            awaitChildren(of: unit, stoppedBy: units[unit].stop ?? .cancelled)
        } else {
            finish(unit, stoppedOutcome(unit), at, &effects)
        }
        return true
    }

    /// The worker's process died too often under the unit.
    mutating func endLost(_ unit: Int, _ failures: [Failure], _ at: Int64, _ effects: inout [Effect]) {
        guard units[unit].openChildren > 0 else { return finish(unit, .failure(failures), at, &effects) }
        // A group whose conditions do that: their evaluation has failed.
        note(
            probes(of: unit).map { Verdict(condition: $0, finding: .failed, reason: failures.first?.message ?? "", at: at) }, unit)
        units[unit].stop = .conditionFailed
        awaitChildren(of: unit, stoppedBy: .siblingFailed)
    }
}

extension Condition {
    var isProbe: Bool { if case .probe = kind { true } else { false } }

    /// Whether the process that submitted the graph evaluates it.
    var isHosted: Bool { if case .probe(let probe) = kind { probe.isHosted } else { false } }
}

extension Node {
    var isOperation: Bool { if case .operation = kind { true } else { false } }
}

extension Assignment {
    /// Makes it an evaluate unit.
    mutating func ask(_ questions: [ConditionQuestion], within milliseconds: Int64) {
        kind = .evaluate
        attemptNumber += 1
        receivesArray = false
        timeoutMilliseconds = milliseconds
        self.questions = questions
    }
}

extension Scheduler {
    /// What an evaluation brought; nothing else than an answer to each question counts as one.
    func checkedAnswers(_ outcome: AttemptOutcome, _ probes: [Int]) -> AttemptOutcome {
        switch outcome {
        case .answers(let answers) where answers.map(\.condition) == probes: outcome
        case .failure(let failures) where !failures.isEmpty: outcome
        case .stopped: outcome
        case .answers, .failure, .success, .production, .elements, .decided, .concluded:
            .failure([
                Failure(
                    code: .operation, message: "the worker answered with something else than was asked for; check its version",
                    typeName: "ProtocolViolation")
            ])
        }
    }
}
