/// A submission that runs the graph of another one again may keep what has succeeded there.
extension Submission {
    /// Nodes of the graph that need not run again, in their order: they have succeeded, and so has everything that they came after.
    ///
    /// What was made while the graph ran (elements of a forEach, what was produced or decided) is no part of it: a group that
    /// has such parts runs again as a whole, and so does what sends or receives a stream.
    func keptNodes() -> [Int] {
        var isKept = [Bool](repeating: true, count: admittedNodes)
        /// With everything inside of it.
        var isWhollyDropped = [Bool](repeating: false, count: admittedNodes)
        var dropped: [Int] = []
        func drop(_ node: Int) {
            guard !isWhollyDropped[node] else { return }
            isWhollyDropped[node] = true
            for inner in node..<min(node + Int(layout.subtreeNodes[node]), admittedNodes) where isKept[inner] {
                isKept[inner] = false
                dropped.append(inner)
            }
        }
        // What is done before conditions is done anew with what it is done for, however it ended; nobody comes after it.
        var isInPreparation = [Bool](repeating: false, count: admittedNodes)
        for node in 0..<admittedNodes where graph.nodes[node].isPreparation || node > 0 && isInPreparation[graph.nodes[node].parent] {
            isInPreparation[node] = true
        }
        for node in 0..<admittedNodes {
            switch graph.nodes[node].kind {
            case .forEach: drop(node)
            case .decider: drop(graph.nodes[node].parent)
            case .operation, .group: break
            }
            if let producer = graph.nodes[node].streamProducer {
                drop(node)
                drop(producer)
            }
            guard isKept[node], layout.template[node] == 0, !isInPreparation[node] else { continue }
            let unit = Int(layout.offset[node])
            if growths[Int32(unit)] != nil || joinedValues[Int32(unit)] != nil { drop(node) }
            if case .success? = units[unit].outcome { continue }
            isKept[node] = false
            dropped.append(node)
        }
        while let node = dropped.popLast() {
            for dependent in layout.dependents[node] where Int(dependent) < admittedNodes { drop(Int(dependent)) }
            let parent = graph.nodes[node].parent
            guard isKept[parent], !isInPreparation[node] else { continue }
            isKept[parent] = false
            dropped.append(parent)
        }
        for node in 0..<admittedNodes where graph.nodes[node].isPreparation && !isKept[graph.nodes[node].parent] {
            drop(node)
        }
        return isKept.indices.filter { isKept[$0] }
    }

    /// Ends what need not run again, as it did in `first`, of whose graph this one is made.
    mutating func keepOutcomes(of first: Submission, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard first.outcome != nil, isMade(of: first.submittedGraph) else {
            throw FactMismatch("\(id) was to keep outcomes of \(first.id), which has not ended or has another graph")
        }
        // What is inside of a group ends before it.
        for node in first.keptNodes().reversed() {
            let unit = Int(layout.offset[node])
            guard case .success(let payload)? = first.units[unit].outcome, !units[unit].hasEnded else { continue }
            keep(unit, payload, at, &effects)
        }
        settle(at: at, &effects)
    }

    private mutating func keep(_ unit: Int, _ payload: Payload, _ at: Int64, _ effects: inout [Effect]) {
        let before = effects.count
        finish(unit, .success(payload), at, &effects)
        for place in before..<effects.count {
            if case .changed(id(unit), _, _) = effects[place] { effects[place] = .kept(id(unit), at: at) }
        }
    }
}
