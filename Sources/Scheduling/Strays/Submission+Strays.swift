/// An attempt that was given up because its executor could not be heard: it may go on there.
struct Stray: Hashable {
    let unit: Int32
    let attempt: Attempt
    /// Among those of its unit; 0: not known, in a snapshot from before it was kept.
    let number: Int32
    let worker: WorkerNumber
}

/// Attempts that were given up and may go on: another attempt does not wait for them, but `cancelled` does.
extension Submission {
    /// Those of the unit, and of all in it; also of what had its place, or a place in it, before something around it began anew.
    ///
    /// - Complexity: O(strays of the submission × depth).
    func strays(in unit: Int) -> [Stray] {
        strays.isEmpty ? [] : strays.filter { isInside(Int($0.unit), of: unit) || isInside(successor(of: Int($0.unit)), of: unit) }
    }

    /// What has the place of a unit that nobody sees any more, or the innermost of what is around it there.
    private func successor(of unit: Int) -> Int {
        guard units[unit].phase == .dropped else { return unit }
        var components = path(of: unit).split(separator: "/")
        while !components.isEmpty {
            if let successor = self.unit(atPath: components.joined(separator: "/")) { return successor }
            components.removeLast()
        }
        return 0
    }

    func isStray(_ unit: Int, _ attempt: Attempt) -> Bool {
        !strays.isEmpty && strays.contains { Int($0.unit) == unit && $0.attempt == attempt }
    }

    /// The current attempt of the unit is about to be given up, and nobody knows whether it runs.
    mutating func noteStray(
        _ unit: Int, _ attempt: Attempt, _ worker: WorkerNumber, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        guard units[unit].phase == .assigned(attempt, worker) else {
            throw FactMismatch("\(path(of: unit)): attempt \(attempt.rawValue) may go on, and is not the current one")
        }
        strays.append(Stray(unit: Int32(unit), attempt: attempt, number: units[unit].attempts, worker: worker))
        effects.append(.strayed(id(unit), attempt, worker))
    }

    /// Nothing of the attempt runs any more: what has waited for that alone is cancelled now.
    mutating func endStray(
        _ unit: Int, _ attempt: Attempt, isUnbegun: Bool, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        guard let place = strays.firstIndex(where: { Int($0.unit) == unit && $0.attempt == attempt }) else {
            throw FactMismatch("\(path(of: unit)): attempt \(attempt.rawValue) has ended, and was not known to go on")
        }
        let number = strays.remove(at: place).number
        if isUnbegun, number == units[unit].attempts { giveBackNumber(of: unit) }
        var current = successor(of: unit)
        while current >= 0 {
            if units[current].phase == .lingering, strays(in: current).isEmpty { endLingering(current, at, &effects) }
            current = Int(units[current].parent)
        }
        settle(at: at, &effects)
    }

    /// Whether the unit, which could end as cancelled, has to wait for attempts that were given up.
    func hasToLinger(_ unit: Int) -> Bool {
        guard !strays.isEmpty else { return false }
        // Whose dependent operations these are, or in them, has told its end: nobody waits for theirs.
        var around = Int(units[unit].parent)
        while around >= 0 {
            if units[around].hasEnded { return false }
            around = Int(units[around].parent)
        }
        return !strays(in: unit).isEmpty
    }

    /// It is cancelled as soon as nothing of it can run any more.
    mutating func linger(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        noteNotRunning(unit)
        if units[unit].locks == .asked {
            units[unit].locks = .none
            releasing.append(Int32(unit))
        }
        if !provisional.isEmpty { provisional[Int32(unit)] = nil }
        if !heldEnds.isEmpty { heldEnds[Int32(unit)] = nil }
        units[unit].phase = .lingering
        let reason = units[unit].stop ?? .cancelled
        units[unit].stop = reason
        if node(unit).isOperation, histories[Int32(unit)]?.contains(where: { $0.event == .requested }) != true {
            noteStopRequest(of: unit, reason, isFirst: true, at: at)
        }
        stopStrays(of: unit, &effects)
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    /// Executors that are heard again and have not ended them are told so once more.
    mutating func stopStrays(of unit: Int, _ effects: inout [Effect]) {
        let reason = units[unit].stop ?? .cancelled
        for stray in strays(in: unit) {
            effects.append(.stop(id(Int(stray.unit)), stray.attempt, stray.worker, reason, now: units[unit].isHurried))
        }
    }

    private mutating func endLingering(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        if node(unit).isOperation {
            histories[Int32(unit), default: []] += [
                HistoryEntry(at: at, event: .stopped, text: "nothing runs any more of the attempts that were given up"),
                HistoryEntry(at: at, event: .acknowledged, text: "nothing of it starts or goes on"),
            ]
        }
        finish(unit, .cancelled, at, &effects)
    }

    // MARK: Checks

    func strayViolations() -> [String] {
        var found: [String] = []
        for unit in units.indices where units[unit].phase == .lingering && strays(in: unit).isEmpty {
            found.append("\(id)/\(path(of: unit)): waits for attempts that were given up, and there are none")
        }
        if outcome != nil, !strays.isEmpty { found.append("\(id): attempts that were given up are kept though it has ended") }
        return found
    }
}
