/// Options that a node hands on to everything inside of it, as they hold for each node.
struct NodePolicies {
    /// By node.
    private(set) var atMostOnce: [Bool]
    private(set) var recomputable: [Bool]
    private(set) var priority: [Int]
    /// nil: the coordinator's default.
    private(set) var crashLimit: [Int?]
    /// nil: the worker's default.
    private(set) var graceMilliseconds: [Int64?]

    /// nil: no node asks for any.
    init?(_ graph: Graph) {
        guard graph.nodes.contains(where: \.hasPolicies) else { return nil }
        self.init(nodes: 0)
        grow(graph, from: 0)
    }

    /// Of so many nodes that ask for none.
    init(nodes: Int) {
        atMostOnce = Array(repeating: false, count: nodes)
        recomputable = Array(repeating: false, count: nodes)
        priority = Array(repeating: 0, count: nodes)
        crashLimit = Array(repeating: nil, count: nodes)
        graceMilliseconds = Array(repeating: nil, count: nodes)
    }

    /// Takes in the nodes from `first` on. Parents stand before their children.
    mutating func grow(_ graph: Graph, from first: Int) {
        for index in first..<graph.nodes.count {
            let node = graph.nodes[index]
            // A decision that was lost has done nothing, and a dependent operation is done anew.
            atMostOnce.append(index > 0 && atMostOnce[node.parent] && !node.isDecider && !node.isPreparation)
            recomputable.append(index > 0 && recomputable[node.parent])
            priority.append(index > 0 ? priority[node.parent] : 0)
            crashLimit.append(index > 0 ? crashLimit[node.parent] : nil)
            graceMilliseconds.append(node.graceMilliseconds ?? (index > 0 ? graceMilliseconds[node.parent] : nil))
            guard node.hasOptions else { continue }
            if node.options.atMostOnce { atMostOnce[index] = true }
            if node.options.recomputable { recomputable[index] = true }
            if let own = node.options.priority { priority[index] = own }
            if let own = node.options.crashLimit { crashLimit[index] = own }
        }
    }
}

extension Node {
    /// Whether it asks for something that holds for all inside of it.
    var hasPolicies: Bool {
        graceMilliseconds != nil
            || hasOptions
                && (options.atMostOnce || options.recomputable || options.priority != nil || options.crashLimit != nil)
    }
}

extension Submission {
    /// Whether the unit is never started again once it may have begun.
    @inline(__always)  // else the submission is copied for the call
    func isAtMostOnce(_ unit: Int) -> Bool { layout.policies?.atMostOnce[Int(units[unit].node)] ?? false }

    /// What it has to say when it is somebody's turn.
    func standing(_ unit: Int) -> ReadyUnits.Standing { ReadyUnits.Standing(priority: priority(unit), weight: weight) }

    /// So many of its units are handed out before the next submission's turn.
    var weight: Int { layout.graph.nodes[0].hasOptions ? max(1, layout.graph.nodes[0].options.weight) : 1 }

    @inline(__always)  // else the submission is copied for the call
    func priority(_ unit: Int) -> Int { layout.policies?.priority[Int(units[unit].node)] ?? 0 }

    /// So many processes may die under the unit before it fails.
    ///
    /// - Parameter standard: the coordinator's default.
    @inline(__always)  // else the submission is copied for the call
    func crashLimit(_ unit: Int, standard: Int) -> Int { layout.policies?.crashLimit[Int(units[unit].node)] ?? standard }

    /// How long it may take to end by itself when it is stopped; nil: as the worker says.
    func graceMilliseconds(_ unit: Int) -> Int64? { layout.policies?.graceMilliseconds[Int(units[unit].node)] }

    /// Whether an executor that is not answered ends it before the lock lease is over.
    func endsWithLockLease(_ unit: Int) -> Bool { isUnderKey(unit) || isAtMostOnce(unit) }

    /// Whether the unit must not be started again after such a loss: it may have begun.
    func isFinal(_ cause: LossCause, _ unit: Int) -> Bool {
        guard isAtMostOnce(unit) else { return false }
        switch cause {
        // The worker said itself that it had not.
        case .released, .neverArrived: return false
        case .leaseOver, .crashed, .processEnded, .orphanLimitOver, .suspected, .lockLeaseOver, .revoked, .limited: return true
        }
    }

    func lostOnceFailure(_ unit: Int, _ cause: LossCause) -> Failure {
        let path = path(of: unit)
        let loss =
            switch cause {
            case .revoked: "its worker's key was revoked"
            case .limited: "its worker's key could not do any more what it needs"
            default: "its worker was lost"
            }
        return Failure(
            code: .workerLost, publisher: path,
            message: "\(loss) when it may have begun, and `atMostOnce` does not let it run again;"
                + " find out what it has done before you submit it again",
            typeName: "WorkerLost", origin: path)
    }
}
