/// Locks that are released under those who hold them: these fail at once, and what still comes of them is refused.
extension Submission {
    /// - Returns: the attempts that are nobody's any more.
    mutating func fence(
        _ unit: Int, key: String, reason: String, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) -> [ResourceTable.Orphan] {
        guard case .held = units[unit].locks else { throw FactMismatch("\(path(of: unit)) was to lose locks that it does not hold") }
        seizures[Int32(unit)] =
            "the lock `\(key)`, which it held, was released with `aop locks release --now`\(reason.isEmpty ? "" : " (\(reason))")"
        isHurrying = true
        stop(unit, .fenced, at, &effects)
        var fenced: [ResourceTable.Orphan] = []
        for inner in inside(unit, withPaused: true) {
            guard case .assigned(let attempt, let worker) = units[inner].phase else { continue }
            fenced.append(ResourceTable.Orphan(unit: id(inner), attempt: attempt, worker: worker))
            fencedAttempts.insert(attempt)
            if inner != unit {
                effects.append(.stop(id(inner), attempt, worker, .siblingFailed, now: true))
                _ = note(.siblingFailed, inner)
            }
            effects.append(.freed(id(inner), worker))
            endFenced(inner, at, &effects)
        }
        settle(at: at, &effects)
        isHurrying = false
        return fenced
    }

    /// The unit has no attempt any more, whatever that does.
    private mutating func endFenced(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        if isDecider(unit) {
            units[unit].isRunning = false
            return endStoppedDecider(unit, at, &effects)
        }
        let what = units[unit].isEvaluating ? "the evaluation of its conditions" : "attempt \(units[unit].attempts)"
        histories[Int32(unit), default: []].append(
            HistoryEntry(at: at, event: .fenced, text: "what \(what) still reports is refused"))
        if units[unit].isEvaluating {
            units[unit].isEvaluating = false
            _ = endStopped(unit, at, &effects)
        } else {
            finish(unit, stoppedOutcome(unit), at, &effects)
        }
    }

    mutating func refuseLateResult(_ unit: Int, _ attempt: Attempt, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard fencedAttempts.remove(attempt) != nil else {
            throw FactMismatch("\(path(of: unit)): attempt \(attempt.rawValue) was refused, and no lock was released under it")
        }
        // The unit may have begun anew since: the number of the attempt was said when the lock was released.
        histories[Int32(unit), default: []].append(
            HistoryEntry(at: at, event: .lateResultRefused, text: "what an attempt reported after its lock was released is refused"))
        effects.append(.kept(id(unit), at: at))
    }

    func fencedFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .fenced, publisher: path,
            message: "\(seizures[Int32(unit)] ?? "a lock that it held was released under it"); what it reports is refused",
            typeName: "Fenced", origin: path)
    }
}

extension Scheduler {
    /// Whether a lock was released under the attempt, and nothing has come of it since: nothing is taken from it any more.
    public func isFenced(_ unit: UnitID, _ attempt: Attempt) -> Bool {
        durable.holds(unit) && durable.submissions[durable.index(of: unit.submission)].fencedAttempts.contains(attempt)
    }

    /// Likewise, or it has resources, though its submission is forgotten.
    func isOrphan(_ unit: UnitID, _ attempt: Attempt) -> Bool {
        isFenced(unit, attempt) || durable.resources.hasOrphan(unit, attempt)
    }

    /// Nothing but these runs on the executor: what else was nobody's any more there is over.
    mutating func endOrphans(on number: WorkerNumber, besides held: [ExecutorAttachment.Held], _ outputs: inout Outputs) {
        for orphan in durable.resources.orphans(on: number)
        where !held.contains(where: { $0.unit == orphan.unit && $0.attempt == orphan.attempt && $0.state == .running }) {
            emit(.orphanEnded(orphan.unit, orphan.attempt, at: now.wall), &outputs)
        }
    }
}
