/// Operations that follow one another on one worker before the value between them is on the disk.
///
/// Only between those that may run again without harm (``NodeOptions/recomputable``). What a worker may begin by itself is a **link**: it is
/// journaled before it is sent, as an attempt that may go on somewhere (a ``Stray``), so that nobody is told that the operation
/// is cancelled while it runs. It becomes the unit's attempt when the one before has succeeded, for good, on that worker.
extension Submission {
    /// What may begin as soon as `unit` has succeeded, on its worker; nil: nothing.
    ///
    /// - Complexity: O(those that wait for it), of which it looks at the first few.
    func link(after unit: Int) -> Int? {
        guard mayBeLinked(unit), !holdsSuccess(unit) else { return nil }
        let node = Int(units[unit].node)
        for dependent in layout.dependents[node].prefix(Self.linkCandidatesMax) {
            guard layout.template[Int(dependent)] == layout.template[node] else { continue }
            let candidate = self.unit(ofNode: Int(dependent), seenFrom: unit)
            if isLink(candidate, after: unit) { return candidate }
        }
        return nil
    }

    private static let linkCandidatesMax = 8

    /// Whether it waits for `unit` alone, and needs nothing when that has succeeded but a slot.
    private func isLink(_ candidate: Int, after unit: Int) -> Bool {
        guard mayBeLinked(candidate), units[candidate].parent == units[unit].parent, units[candidate].phase == .blocked,
            units[candidate].unmet == 1, units[candidate].stop == nil, !units[candidate].isSuspect, !isPaused(candidate)
        else { return false }
        let node = node(candidate)
        guard node.timeoutMilliseconds == 0, node.receives.allSatisfy({ $0 == Int(units[unit].node) }) else { return false }
        return !node.hasOptions || node.options.letsBeginAtOnce
    }

    private func mayBeLinked(_ unit: Int) -> Bool {
        guard let policies = layout.policies, policies.recomputable[Int(units[unit].node)], layout.scopes == nil else { return false }
        // Who receives its stream begins with it, and that is not known in time.
        guard layout.streams?.receivers(of: units[unit].node).isEmpty ?? true else { return false }
        return node(unit).isOperation && !node(unit).isHosted && !isPreparation(unit) && !isUnderKey(unit)
    }

    /// A worker is about to be told of it. Until it is the unit's attempt nobody waits for it but who cancels the unit.
    mutating func noteLink(
        _ unit: Int, _ attempt: Attempt, _ worker: WorkerNumber, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        guard units[unit].phase == .blocked else {
            throw FactMismatch("\(path(of: unit)) was linked to what it waits for, and does not wait")
        }
        // What it prints and sends is kept under its number, whether it counts or not.
        units[unit].attempts += 1
        strays.append(Stray(unit: Int32(unit), attempt: attempt, number: units[unit].attempts, worker: worker))
        effects.append(.strayed(id(unit), attempt, worker))
    }

    /// The attempt is the unit's from here on.
    ///
    /// - Returns: whether it was linked, and has its number.
    mutating func takeLink(_ unit: Int, _ attempt: Attempt) -> Bool {
        guard !strays.isEmpty, let place = strays.firstIndex(where: { Int($0.unit) == unit && $0.attempt == attempt }) else { return false }
        strays.remove(at: place)
        return true
    }
}

extension NodeOptions {
    /// Whether it begins when all it depends on has ended, wherever there is a slot.
    fileprivate var letsBeginAtOnce: Bool {
        delayMilliseconds == 0 && notBefore == 0 && deadlineMilliseconds == 0 && deadline == 0 && queueTimeoutMilliseconds == 0
            && exclusive.isEmpty && conditions.isEmpty && conditionTrees.isEmpty && unique == nil && stream == nil && requires.isEmpty
    }
}

extension AttemptOutcome {
    /// Whether a worker begins what is linked to the attempt.
    var beginsLinks: Bool {
        guard case .success(let payload) = self, case .inline = payload.storage else { return false }
        return true
    }
}
