/// What operations produce while they run.
extension Scheduler {
    /// Something is new in a submission. One fact may have added to several groups, and all of that is there by now.
    mutating func take(_ first: UnitID, count: Int) {
        let index = durable.index(of: first.submission)
        nodeClasses[index] += classesOfNodes(
            durable.submissions[index].graph, from: nodeClasses[index].count, durable.submissions[index].layout.requirements,
            submitter: submitterClasses[index])
        guard followers.wantsDetails(of: first.submission) else { return pending.touch(first.submission) }
        for unit in first.index..<(first.index + count) {
            // A duplicate has ended with the fact that added it.
            let errors = if case .failure(let errors)? = durable.submissions[index].units[unit].outcome { errors } else { [Failure]() }
            noteChange(UnitID(first.submission, unit), at: now.wall, errors: errors, isNew: true)
        }
    }

    /// The outcome as it is committed: what was produced gets its names. What cannot be part of the group makes the attempt
    /// fail; nothing of it is there then.
    func admitted(_ outcome: AttemptOutcome, _ unit: UnitID) -> AttemptOutcome {
        if case .decided(let decision) = outcome { return admitted(decision, unit) }
        guard case .production(let payload, let addition) = outcome else { return outcome }
        let index = durable.index(of: unit.submission)
        // It ends otherwise in any case.
        guard durable.submissions[index].units[unit.index].stop == nil else { return .success(payload) }
        if let problem = problem(with: addition, by: unit) { return .failure([refusal(problem)]) }
        // It gets its names when it counts.
        if durable.submissions[index].isProvisional(outcome, of: unit.index) || durable.submissions[index].holdsSuccess(unit.index) {
            return outcome
        }
        return .production(
            payload,
            durable.submissions[index].named(addition, in: durable.submissions[index].growingGroup(around: unit.index)))
    }

    private func refusal(_ problem: String) -> Failure {
        Failure(
            code: .operation, message: "produced what cannot become part of its group: \(problem)", typeName: "ProductRefused")
    }

    mutating func acceptProduct(
        _ peer: PeerID, _ unit: UnitID, _ attempt: Attempt, _ number: UInt64, _ addition: Addition, _ outputs: inout Outputs
    ) {
        guard let worker = workers.number(of: peer) else { return }
        var receipt = ProductReceipt(unit: unit, attempt: attempt, number: number, problem: nil, isNew: false)
        defer { pending.productReceipts[worker.index, default: []].append(receipt) }
        guard durable.holds(unit) else { return }
        let index = durable.index(of: unit.submission)
        let group = durable.submissions[index].growingGroup(around: unit.index)
        if let id = addition.id, let first = durable.submissions[index].produced(id, in: group) {
            // Sent again because the receipt was lost; what has become of its producer meanwhile changes nothing.
            receipt.isNew = durable.submissions[index].origin(of: first)?.attempt == attempt
            return
        }
        guard isCurrent(unit, attempt, worker), !durable.submissions[index].units[unit.index].isEvaluating,
            !durable.submissions[index].isConcluding(unit.index),
            durable.submissions[index].units[unit.index].stop == nil
        else { return }
        if let problem = problem(with: addition, by: unit) {
            receipt.problem = refusal(problem).message
            return
        }
        receipt.isNew = true
        emit(.produced(unit, attempt, durable.submissions[index].named(addition, in: group), at: now.wall), &outputs)
    }

    /// What keeps an addition from becoming part of its group; nil: nothing.
    func problem(with addition: Addition, by unit: UnitID) -> String? {
        let index = durable.index(of: unit.submission)
        let group = durable.submissions[index].growingGroup(around: unit.index)
        guard durable.submissions[index].takesMore(group) else { return "the group takes no more" }
        if let full = lackOfKeys(for: addition.graph) { return full }
        let producer = durable.submissions[index].node(unit.index)
        guard producer.isOperation || producer.isDecider else { return "only operations produce others" }
        var graph = addition.graph
        guard case .group? = graph.nodes.first?.kind, graph.nodes.count > 1,
            addition.products.allSatisfy({ graph.nodes.indices.contains($0) && $0 > 0 }),
            !addition.tops.isEmpty, !graph.nodes.contains(where: { $0.isDecider && $0.parent == 0 })
        else { return "it is malformed" }
        graph.nodes[0] = durable.submissions[index].standIn(forGroup: group)
        let errors =
            admissionErrors(
                ExaminedGraph(graph), waitForWorkers: durable.submissions[index].waitsForWorkers,
                limitedTo: durable.submissions[index].operations)
            + (graph.faults(limits: configuration.graphLimits).isEmpty
                ? durable.submissions[index].growthFaults(graph, by: unit.index) : [])
        if !errors.isEmpty { return errors.prefix(Self.problemsMax).map(\.text).joined(separator: "; ") }
        // With its own root, too, whose place the group had above: what cannot be read again must not come into the journal.
        do throws(DecodingFailure) { try addition.graph.checkStructure() } catch { return "\(error)" }
        let more = GraphLayout(graph).expandedUnits[0] - 1
        let count = durable.submissions[index].units.count
        guard count + more <= configuration.graphLimits.unitsMax else {
            return "the submission has \(count) units, and \(more) more would exceed the limit of"
                + " \(configuration.graphLimits.unitsMax); submit them by themselves"
        }
        return nil
    }

    /// More of them are not told.
    private static let problemsMax = 8

    func addedView(of unit: Int, _ index: Int) -> AddedView {
        let state = durable.submissions[index].units[unit]
        let node = durable.submissions[index].node(unit)
        let (kind, type): (OperationView.Kind, String) =
            switch node.kind {
            case .operation(let operation): (.operation, operation.type)
            case .group(let group): (group.isOrdered ? .ordered : .group, "")
            case .forEach: (.forEach, "")
            case .decider(let decider): (.decider, decider.type)
            }
        let origin = durable.submissions[index].origin(of: unit)
        return AddedView(
            parent: Int(state.parent), kind: kind, type: type, isHosted: node.isHosted, isPreparation: node.isPreparation,
            producer: durable.submissions[index].producers[Int32(unit)].map(Int.init),
            attempt: origin?.attempt ?? Attempt(rawValue: 0), node: origin?.node ?? 0, id: origin?.id)
    }
}

extension AdmissionError {
    fileprivate var text: String { path.isEmpty ? message : "`\(path)` \(message)" }
}
