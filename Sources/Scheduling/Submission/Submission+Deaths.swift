/// Processes that died under units: what that means for these.
extension Submission {
    /// Names that are kept of the workers on which a unit's process died: of the last ones.
    private static let deathPlacesMax = 5

    /// The unit's attempt is lost for this reason, or was before that was known.
    mutating func blame(_ unit: Int, _ cause: LossCause, worker: String) {
        switch cause {
        case .crashed:
            units[unit].crashes += 1
            units[unit].isSuspect = true
            guard !worker.isEmpty else { return }
            var places = deathPlaces[Int32(unit)] ?? []
            places.removeAll { $0 == worker }
            places.append(worker)
            deathPlaces[Int32(unit)] = places.suffix(Self.deathPlacesMax)
        case .suspected:
            units[unit].isSuspect = true
        case .leaseOver, .processEnded, .neverArrived, .released, .orphanLimitOver, .lockLeaseOver, .revoked:
            break
        }
    }

    /// What it did has succeeded; what it does next begins with nothing against it.
    mutating func clearBlame(of unit: Int) {
        units[unit].crashes = 0
        units[unit].isSuspect = false
        if !deathPlaces.isEmpty { deathPlaces[Int32(unit)] = nil }
    }

    /// Whether what becomes known of an earlier attempt still means something for the unit.
    func mayCountDeath(under unit: Int) -> Bool {
        switch units[unit].phase {
        case .ended, .lingering, .dropped: false
        case .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .ready, .postponed, .assigned, .provisional,
            .retryWait, .open:
            true
        }
    }

    /// The worker's process is proven to have died by itself under an attempt that was lost before. What runs now goes on, and the
    /// death counts when that is lost, too.
    ///
    /// - Parameter crashLimit: the coordinator's, for what has none of its own.
    /// - Returns: whether a process has died under it so often that nobody is to try the same.
    mutating func countDeath(
        under unit: Int, _ cause: LossCause, isEvaluation: Bool, worker: String, crashLimit: Int, at: Int64,
        _ effects: inout [Effect]
    ) throws(FactMismatch) -> Bool {
        guard mayCountDeath(under: unit) else {
            throw FactMismatch("\(path(of: unit)): a process died under it, and it has ended")
        }
        blame(unit, cause, worker: worker)
        let standard = crashLimit
        let crashLimit = self.crashLimit(unit, standard: standard)
        if isDecider(unit) {
            endDecisionIfExhausted(unit, crashLimit: crashLimit, at: at, &effects)
            settle(at: at, &effects)
            return false
        }
        noteDeath(under: unit, isEvaluation: isEvaluation, worker: worker, at: at)
        guard Int(units[unit].crashes) >= crashLimit, units[unit].stop == nil, isWaitingToStart(unit) else { return false }
        endLost(unit, [workerLostFailure(unit)], at, &effects)
        settle(at: at, &effects)
        return !isEvaluation && Int(units[unit].crashes) >= standard
    }

    /// Whether its next attempt is what comes next, and nothing of it runs.
    private func isWaitingToStart(_ unit: Int) -> Bool {
        switch units[unit].phase {
        case .ready, .postponed: true
        case .paused, .wanting, .locking: units[unit].openChildren == 0
        // A group begins anew first.
        case .retryWait: node(unit).isOperation
        case .blocked, .delayed, .held, .preparing, .assigned, .provisional, .open, .ended, .lingering, .dropped: false
        }
    }

    func workerLostFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        let places = deathPlaces[Int32(unit)] ?? []
        let times = units[unit].crashes == 1 ? "once" : "\(units[unit].crashes) times"
        return Failure(
            code: .workerLost, publisher: path,
            message: "its worker process died under it \(times)"
                + (places.isEmpty
                    ? "; see the worker's log for the cause" : ", on \(Self.listed(places)); see the log there for the cause"),
            typeName: "WorkerLost", origin: path)
    }

    /// "a", "a and b", "a, b and c"
    private static func listed(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
