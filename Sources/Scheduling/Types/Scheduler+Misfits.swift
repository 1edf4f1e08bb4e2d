/// Graphs that were admitted before workers had registered their operations: what has been registered since is checked.
extension Scheduler {
    /// Operations have been registered. What does not fit them fails, also if its turn has not come; what has been handed out is
    /// its worker's to judge. An operation whose version nobody has waits on: a worker with that version may come.
    ///
    /// - Complexity: O(units of the submissions that were admitted like that and have not ended).
    mutating func refuseMisfits(_ outputs: inout Outputs) {
        for index in durable.submissions.indices {
            findMisfits(index)
            let number = durable.submissions[index].number
            guard let faults = misfits[number] else { continue }
            for unit in 0..<durable.submissions[index].units.count {
                // The end of one may have ended others.
                let state = durable.submissions[index].units[unit]
                guard state.mayBeRefused, durable.submissions[index].node(unit).isOperation, let fault = faults[state.node] else {
                    continue
                }
                emit(.misfitFound(UnitID(number, unit), fault, at: now.wall), &outputs)
            }
        }
    }

    /// What is known to be wrong with the nodes of a submission.
    mutating func findMisfits(_ index: Int) {
        let number = durable.submissions[index].number
        guard durable.submissions[index].waitsForWorkers, durable.submissions[index].outcome == nil else {
            return misfits[number] = nil
        }
        let faults = typeFaults(durable.submissions[index].layout.graph, withVersions: false)
        misfits[number] = faults.isEmpty ? nil : Dictionary(faults.map { (Int32($0.node), $0.message) }) { first, _ in first }
    }

    /// Ends the unit, which was not there when its fault was found.
    ///
    /// - Returns: whether it does not fit.
    mutating func endMisfit(_ unit: UnitID, _ outputs: inout Outputs) -> Bool {
        guard !misfits.isEmpty, let faults = misfits[unit.submission] else { return false }
        let index = durable.index(of: unit.submission)
        // What decides for a group fails as that, by its worker's word.
        guard durable.submissions[index].node(unit.index).isOperation,
            let fault = faults[durable.submissions[index].units[unit.index].node]
        else { return false }
        emit(.misfitFound(unit, fault, at: now.wall), &outputs)
        return true
    }
}

extension Unit {
    /// Whether it may end without having been tried.
    fileprivate var mayBeRefused: Bool {
        guard stop == nil else { return false }
        return switch phase {
        case .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .ready, .postponed, .retryWait: true
        case .assigned, .provisional, .open, .ended, .lingering, .dropped: false
        }
    }
}

extension Submission {
    /// The unit was admitted before anybody knew its type, and does not fit what was registered.
    mutating func refuse(_ unit: Int, _ fault: String, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard waitsForWorkers, node(unit).isOperation, units[unit].mayBeRefused else {
            throw FactMismatch("\(path(of: unit)) was found not to fit, and could not end for that")
        }
        misfits[Int32(unit)] = fault
        requestStop(unit, .unfit, hurried: false, at: at, &effects)
    }

    func unfitFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .parameters, publisher: path, message: misfits[Int32(unit)] ?? "does not fit what workers have registered",
            typeName: "TypeMismatch", origin: path)
    }
}
