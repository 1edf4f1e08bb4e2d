/// What a submission has kept of another one, whose graph it runs again.
struct KeptOutcomes {
    /// That one's id: it may be forgotten by now.
    let submission: String
    /// Nothing else has ended between these; by number of the end.
    let ends: ClosedRange<Int32>
}

/// A submission that runs the graph of another one again may keep what has succeeded there.
extension Submission {
    /// Nodes of the graph that need not run again, in their order: they have succeeded, and so has everything that they came after.
    ///
    /// What was produced or decided while the graph ran is no part of it: a group that has such parts runs again as a whole, and so
    /// does what sends or receives a stream. A forEach is kept with all its elements, or runs again as a whole.
    ///
    /// - Parameter withElements: false: a forEach runs again whatever it has done.
    /// - Complexity: O(units).
    func keptNodes(withElements: Bool) -> [Int] {
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
            // What is in one that is kept goes with it.
            case .forEach where layout.template[node] == 0 && !(withElements && isWhole(forEach: node)): drop(node)
            case .forEach: break
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
        return isKept.indices.filter { isKept[$0] && layout.template[$0] == 0 }
    }

    /// Whether all that a forEach of the graph has made can be made again as it ended: nothing in it has come but elements, or is
    /// more than an outcome.
    private func isWhole(forEach node: Int) -> Bool {
        for inner in node..<min(node + Int(layout.subtreeNodes[node]), admittedNodes) {
            let part = graph.nodes[inner]
            let isElement = layout.template[inner] != 0
            if part.isDecider || part.isPreparation || part.streamProducer != nil || isElement && part.unique != nil { return false }
            if let streams = layout.streams, !streams.receivers(of: Int32(inner)).isEmpty { return false }
        }
        return (growths.isEmpty && joinedValues.isEmpty) || !hasGrown(Int(layout.offset[node]))
    }

    private func hasGrown(_ unit: Int) -> Bool {
        growths[Int32(unit)] != nil || joinedValues[Int32(unit)] != nil || children(of: unit).contains { hasGrown($0) }
    }

    /// Ends what need not run again, as it did in `first`, of whose graph this one is made.
    mutating func keepOutcomes(
        of first: Submission, withElements: Bool, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        guard first.outcome != nil, isMade(of: first.submittedGraph) else {
            throw FactMismatch("\(id) was to keep outcomes of \(first.id), which has not ended or has another graph")
        }
        let before = endCount
        // What is inside of a group ends before it.
        for node in first.keptNodes(withElements: withElements).reversed() {
            keep(Int(layout.offset[node]), as: Int(layout.offset[node]), of: first, at, &effects)
        }
        if endCount > before { kept = KeptOutcomes(submission: first.id, ends: (before + 1)...endCount) }
        settle(at: at, &effects)
    }

    /// Ends a unit as one of `first` has, and before it all that is in it.
    private mutating func keep(_ unit: Int, as other: Int, of first: Submission, _ at: Int64, _ effects: inout [Effect]) {
        guard case .success(let payload)? = first.units[other].outcome, !units[unit].hasEnded else { return }
        if case .forEach = node(unit).kind { takeElements(unit, from: other, of: first, &effects) }
        for (child, ended) in zip(children(of: unit), first.children(of: other)).reversed() {
            keep(child, as: ended, of: first, at, &effects)
        }
        let before = effects.count
        finish(unit, .success(payload), at, &effects)
        for place in before..<effects.count {
            if case .ended(id(unit), _, _) = effects[place] { effects[place] = .kept(id(unit), at: at) }
        }
    }

    /// The submission that the unit has its success from, without a start in this one; nil: it has none from elsewhere.
    @inline(__always)  // else the submission is copied for the call
    func keptFrom(_ unit: Int) -> String? {
        guard let kept, kept.ends.contains(units[unit].endNumber) else { return nil }
        return kept.submission
    }

    /// Since when the unit has waited to be started, for those who look: what is kept stood in the line for no time.
    @inline(__always)
    func shownQueuedAt(of unit: Int) -> Int64 { keptFrom(unit) == nil ? units[unit].queuedAt : 0 }

    /// One with a list of its own may have begun, and has them.
    private mutating func takeElements(_ unit: Int, from other: Int, of first: Submission, _ effects: inout [Effect]) {
        guard units[unit].instances == 0 else { return }
        elements[Int32(unit)] = first.elements[Int32(other)]
        appendInstances(ofForEach: unit, count: Int(first.units[other].instances), &effects)
    }
}

extension ByteWriter {
    mutating func write(kept: KeptOutcomes) {
        write(kept.submission)
        write(kept.ends.lowerBound)
        write(kept.ends.upperBound)
    }
}

extension ByteReader {
    mutating func keptOutcomes() throws(DecodingFailure) -> KeptOutcomes {
        let (submission, first, last) = (try text(), try signed32(), try signed32())
        guard first > 0, first <= last else { throw DecodingFailure("outcomes were kept from the end \(first) to the end \(last)") }
        return KeptOutcomes(submission: submission, ends: first...last)
    }
}
