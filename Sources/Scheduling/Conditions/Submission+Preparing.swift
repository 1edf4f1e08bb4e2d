/// Dependent operations of conditions: they run when the unit could start but for its conditions, under its locks and anew
/// for each attempt; when all of them have ended the conditions are evaluated.
///
/// They stand in the node whose conditions they belong to and are none of its children: they have no place among their
/// number, their values and their outcomes, and nobody refers to them. While they run the unit is `preparing`.
extension Submission {
    func isPreparation(_ unit: Int) -> Bool { !layout.preparations.isEmpty && node(unit).isPreparation }

    /// The dependent operations of the unit's conditions, in the order of these.
    func preparations(of unit: Int) -> [Int] {
        guard !layout.preparations.isEmpty, let nodes = layout.preparations[units[unit].node] else { return [] }
        return nodes.map { Int(units[unit].base) + Int(layout.offset[Int($0)]) }
    }

    /// Whether they have to run before the unit's next attempt.
    func lacksPreparation(_ unit: Int) -> Bool {
        !layout.preparations.isEmpty && !units[unit].isPrepared && layout.preparations[units[unit].node] != nil
    }

    /// Whether `parent` lets what stands in it begin: a group its children, any unit what is done before its conditions.
    func hasCalled(_ parent: Int, _ unit: Int) -> Bool { units[parent].phase == (isPreparation(unit) ? .preparing : .open) }

    /// What was cancelled before they were called for the first time stays cancelled.
    mutating func prepare(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        let preparations = preparations(of: unit)
        if units[unit].hasCalledPreparations {
            for preparation in preparations {
                renew(preparation..<(preparation + Int(layout.subtreeUnits[Int(units[preparation].node)])))
            }
        }
        units[unit].hasCalledPreparations = true
        units[unit].phase = .preparing
        effects.append(.changed(id(unit), at: at, errors: []))
        let open = preparations.filter { !units[$0].hasEnded }
        if open.isEmpty { work.append(.prepared(Int32(unit))) }
        for preparation in open {
            startDeadline(preparation, at, &effects)
            activate(preparation)
        }
    }

    /// The unit has waited to be tried again.
    mutating func prepareAgain(_ unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard case .retryWait = units[unit].phase, node(unit).isOperation, lacksPreparation(unit) else {
            throw FactMismatch("\(path(of: unit)) was prepared while it did not wait to be tried again")
        }
        startWaiting(unit, at, &effects)
        makeReady(unit, at, &effects)
        settle(at: at, &effects)
    }

    /// One of them has ended. Its conditions are evaluated when all have, unless the unit was stopped meanwhile.
    mutating func endPreparation(of unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard units[unit].phase == .preparing, preparations(of: unit).allSatisfy({ units[$0].hasEnded }) else { return }
        units[unit].isPrepared = true
        guard !endStopped(unit, at, &effects) else { return }
        makeReady(unit, at, &effects)
        if isPaused(unit) || lacksStream(unit) { giveBackWhilePaused(unit) }
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    /// Whether an executor has something of them.
    func hasRunningPreparations(_ unit: Int) -> Bool {
        preparations(of: unit).contains { preparation in
            units[preparation..<(preparation + Int(layout.subtreeUnits[Int(units[preparation].node)]))].contains { inner in
                if case .assigned = inner.phase { true } else { false }
            }
        }
    }

    /// What has not ended of them is not needed any more.
    mutating func stopPreparations(of unit: Int, _ reason: Unit.Stop) {
        let inner: Unit.Stop = reason == .cancelled ? .cancelled : .siblingFailed
        for preparation in preparations(of: unit) where !units[preparation].hasEnded { work.append(.stop(Int32(preparation), inner)) }
    }

    /// Whether its failure is that of the condition, and not only of a part of that.
    func preparesWhole(_ preparation: Int, of condition: Int? = nil) -> Bool {
        let options = node(preparation).options
        return options.preparesPart == nil && (condition ?? options.prepares) == options.prepares
    }

    /// The error of the dependent operation of one of the unit's conditions, which is that of the condition; nil: it has
    /// none, or that succeeded.
    func preparationFailure(_ condition: Int, of unit: Int) -> Failure? {
        guard let preparation = preparations(of: unit).first(where: { preparesWhole($0, of: condition) }) else { return nil }
        var failure = failure(ofPreparation: preparation)
        failure?.isCondition = true
        return failure
    }

    /// The parts of one of the unit's conditions whose dependent operations failed, in their order.
    func failedParts(_ condition: Int, of unit: Int) -> [FailedPart] {
        preparations(of: unit).compactMap { preparation in
            let options = node(preparation).options
            guard options.prepares == condition, let part = options.preparesPart else { return nil }
            return failure(ofPreparation: preparation).map { FailedPart(part: part, failure: $0) }
        }
    }

    private func failure(ofPreparation preparation: Int) -> Failure? {
        switch units[preparation].outcome {
        case .failure?: failures(of: preparation).first
        case .cancelled?: cancelledFailure(preparation)
        case .success?, nil: nil
        }
    }

    func preparationViolations(_ unit: Int) -> [String] {
        let preparations = preparations(of: unit)
        var found: [String] = []
        let open = preparations.count { !units[$0].hasEnded }
        if units[unit].phase == .preparing, open == 0 { found.append("is prepared by nobody") }
        if units[unit].hasEnded, open > 0 { found.append("has ended though \(open) dependent operations have not") }
        for preparation in preparations where units[unit].phase != .preparing {
            switch units[preparation].phase {
            case .blocked, .ended: break
            default: found.append("has a dependent operation that runs at the wrong time")
            }
        }
        return found
    }
}

extension Scheduler {
    /// What a condition says whose dependent operation failed; nil: it is to be evaluated.
    func verdictOfPreparation(of condition: Condition, at position: Int, _ unit: UnitID) -> Verdict? {
        let index = durable.index(of: unit.submission)
        guard let failure = durable.submissions[index].preparationFailure(position, of: unit.index) else { return nil }
        return Verdict(
            condition: position, finding: condition.isNegated ? .satisfied : .failed,
            reason: "its dependent operation failed: \(failure.message)", at: now.wall)
    }
}

extension Node {
    var isPreparation: Bool { hasOptions && options.prepares != nil }
}

extension Graph {
    /// Why a node cannot be the dependent operation of a condition; nil: it can, or is none.
    func problem(withPreparation node: Node) -> String? {
        guard let condition = node.isPreparation ? node.options.prepares : nil else {
            guard let part = node.hasOptions ? node.options.preparesPart : nil else { return nil }
            return "is the dependent operation of part \(part) of a condition, and does not say of which condition"
        }
        if node.isDecider { return "is a decider and the dependent operation of a condition; it cannot be both" }
        let conditions = nodes[node.parent].conditions
        guard conditions.indices.contains(condition) else {
            return "is the dependent operation of condition \(condition) of node \(node.parent), which has no such condition"
        }
        if let part = node.options.preparesPart, !conditions[condition].isHosted {
            return "is the dependent operation of part \(part) of condition \(condition) of node \(node.parent)"
                + ", which its submitter does not evaluate; only such a condition has parts"
        }
        if case .forEach = nodes[node.parent].kind {
            return "is the dependent operation of a condition of a forEach; its body has conditions"
        }
        return nil
    }

    /// Conditions, and parts of conditions, that have more than one dependent operation.
    func preparationFaults(_ layout: GraphLayout) -> [AdmissionError] {
        guard !layout.preparations.isEmpty else { return [] }
        var faults: [AdmissionError] = []
        for index in nodes.indices {
            // By condition: for which parts there is one; nil: for all of it.
            var parts: [Int: Set<Int?>] = [:]
            for preparation in layout.preparations[Int32(index)] ?? [] {
                let options = nodes[Int(preparation)].options
                guard let condition = options.prepares else { continue }
                let isFirst = parts[condition, default: []].insert(options.preparesPart).inserted
                let all = parts[condition] ?? []
                guard !isFirst || all.count > 1 && all.contains(nil) else { continue }
                faults.append(
                    fault(
                        Int(preparation),
                        "is another dependent operation of condition \(condition) of `\(path(of: index))`, or of a part of it"
                            + ", that has one; make a group of them"))
            }
        }
        return faults
    }

    /// The dependent operation that `node` is, or is in; nil: none.
    func preparation(around node: Int) -> Int? {
        var current = node
        while current != 0 {
            if nodes[current].isPreparation { return current }
            current = nodes[current].parent
        }
        return nil
    }
}
