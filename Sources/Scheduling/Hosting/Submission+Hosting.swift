/// Units that need the process that submitted them.
extension Submission {
    /// Whether the unit's next step is one for the submitter: to execute it, or to evaluate its conditions.
    func isForSubmitter(_ unit: Int) -> Bool {
        let node = Int(units[unit].node)
        guard layout.graph.nodes[node].hasOptions else { return false }
        if isConcluding(unit) { return true }
        if layout.graph.nodes[node].options.isHosted { return true }
        guard layout.graph.nodes[node].isAskedAtSubmitter else { return false }
        if case .assigned = units[unit].phase { return units[unit].isEvaluating && asksSubmitterNext(unit) }
        return units[unit].probing != .done && asksSubmitterNext(unit)
    }

    /// Whether no worker has to be asked before, or is being asked.
    private func asksSubmitterNext(_ unit: Int) -> Bool {
        guard units[unit].probing == .due, !node(unit).probeTypes.isEmpty else { return true }
        let conditions = conditions(of: unit)
        return dueProbes(of: unit).allSatisfy { conditions[$0].isHosted }
    }

    /// Whether the unit's turn has come, so that it would wait for its submitter for ever.
    func isInTurn(_ unit: Int) -> Bool {
        switch units[unit].phase {
        case .wanting, .locking, .ready, .postponed, .assigned: true
        // A group begins anew first.
        case .retryWait: node(unit).isOperation
        case .provisional: isConcluding(unit)
        case .blocked, .delayed, .held, .paused, .preparing, .open, .ended, .lingering, .dropped: false
        }
    }

    func submitterGoneFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        let isHosted = node(unit).isHosted
        let message =
            isHosted
            ? "the process that submitted it is gone, and it can run nowhere else"
            : "the process that submitted it is gone, and nobody else can evaluate its conditions"
        return Failure(
            code: .submitterGone, isCondition: !isHosted, publisher: path, message: message, typeName: "SubmitterGone", origin: path)
    }
}
