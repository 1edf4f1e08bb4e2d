/// Operation names, and what else a worker must have for an operation, as small numbers, so that nothing on the hot path
/// hashes text.
struct OperationClasses {
    /// Operations, or groups (`decide`), that ask more of a worker than that it knows the operation.
    struct Combined {
        let number: Int32
        let operation: Int32
        /// 0: whichever the worker has.
        let version: Int
        /// Conditions that the same worker is to evaluate.
        let conditions: [String]
        let requirements: Requirements
    }

    private struct Key: Hashable {
        let operation: Int32
        let version: Int
        let conditions: [String]
        let requirements: Requirements
    }

    /// Splitting a list for a forEach: every worker can.
    static let decide: Int32 = 0
    private var last: Int32 = 0
    private var numbers: [String: Int32] = [:]
    private var submitters: [Incarnation: Int32] = [:]
    private var combinedNumbers: [Key: Int32] = [:]
    private(set) var combined: [Combined] = []
    /// By class: its place in `combined` if it takes resources; -1: it takes none.
    private var demands: [Int32] = []

    mutating func number(of name: String) -> Int32 {
        if let known = numbers[name] { return known }
        last += 1
        numbers[name] = last
        return last
    }

    /// What only the process of this submitter can do. No name stands for it: a worker cannot claim it.
    mutating func number(ofSubmitter submitter: Incarnation) -> Int32 {
        if let known = submitters[submitter] { return known }
        last += 1
        submitters[submitter] = last
        return last
    }

    mutating func number(
        of operation: Int32, version: Int, with conditions: [String], requiring requirements: Requirements
    ) -> Int32 {
        guard version != 0 || !conditions.isEmpty || !requirements.isEmpty else { return operation }
        let key = Key(operation: operation, version: version, conditions: conditions, requirements: requirements)
        if let known = combinedNumbers[key] { return known }
        last += 1
        combinedNumbers[key] = last
        if !requirements.resources.isEmpty {
            while demands.count <= Int(last) { demands.append(-1) }
            demands[Int(last)] = Int32(combined.count)
        }
        combined.append(
            Combined(number: last, operation: operation, version: version, conditions: conditions, requirements: requirements))
        return last
    }

    /// Whether units of the class take resources.
    func takesResources(_ lane: Int) -> Bool { lane < demands.count && demands[lane] >= 0 }

    /// What a unit of the class takes.
    func need(of lane: Int) -> [ResourceAmount] { takesResources(lane) ? combined[Int(demands[lane])].requirements.resources : [] }

    /// How a condition type is remembered among the known types.
    static func knownName(_ condition: String) -> String { "?" + condition }
    static func isCondition(_ knownName: String) -> Bool { knownName.hasPrefix("?") }
}

extension Scheduler {
    mutating func classesOfNodes(_ graph: Graph, from first: Int = 0, _ plan: RequirementPlan?, submitter: Int32) -> [Int32] {
        let before = classes.combined.count
        var found: [Int32] = []
        found.reserveCapacity(graph.nodes.count - first)
        for index in first..<graph.nodes.count {
            let node = graph.nodes[index]
            if node.isHosted {
                found.append(submitter)
                continue
            }
            var (number, version) = (OperationClasses.decide, 0)
            if let registered = node.registered {
                (number, version) = (classes.number(of: registered.type), registered.version)
            }
            let requirements = plan?.requirements(of: index)
            guard node.hasOptions || requirements != nil || version != 0 else {
                found.append(number)
                continue
            }
            found.append(
                classes.number(
                    of: number, version: version, with: node.hasOptions ? node.probeTypes : [],
                    requiring: requirements ?? Requirements()))
        }
        if classes.combined.count > before { addLanes(from: before) }
        return found
    }

    func operationClass(of unit: UnitID) -> Int {
        let index = durable.index(of: unit.submission)
        if submitterClasses[index] != 0, durable.submissions[index].isForSubmitter(unit.index) { return Int(submitterClasses[index]) }
        return Int(nodeClasses[index][Int(durable.submissions[index].units[unit.index].node)])
    }

    /// The classes that an executor can take are those of its operations and those that it has everything for.
    mutating func giveLanes(to worker: Int) {
        if durable.workers[worker].identity.isSubmitter {
            workers.sessions[worker].lanes = [Int(classes.number(ofSubmitter: durable.workers[worker].identity.incarnation))]
            return
        }
        workers.sessions[worker].lanes = [Int(OperationClasses.decide)]
        workers.sessions[worker].demandingLanes = LaneSet()
        workers.sessions[worker].versions = [:]
        for operation in workers.sessions[worker].operations {
            let number = classes.number(of: operation.name)
            workers.sessions[worker].lanes.append(Int(number))
            workers.sessions[worker].versions[number] = operation.oldestVersion...operation.version
        }
        addLanes(from: 0, to: worker)
    }

    /// A graph asked for something together that nobody asked for before.
    private mutating func addLanes(from first: Int) {
        for worker in workers.sessions.indices where workers.sessions[worker].isAttached { addLanes(from: first, to: worker) }
        lockIntake.haveWorkersChanged = true
    }

    private mutating func addLanes(from first: Int, to worker: Int) {
        guard first < classes.combined.count, !durable.workers[worker].identity.isSubmitter else { return }
        let session = workers.sessions[worker]
        let offer = Offer(labels: session.labels, resources: workers.hosts[host(of: worker)].capacity)
        let operations = Set(session.lanes)
        for combined in classes.combined[first...] where operations.contains(Int(combined.operation)) {
            guard combined.version == 0 || session.versions[combined.operation]?.contains(combined.version) == true else { continue }
            guard combined.conditions.allSatisfy(session.conditions.contains), offer.satisfies(combined.requirements) else { continue }
            if combined.requirements.resources.isEmpty {
                workers.sessions[worker].lanes.append(Int(combined.number))
            } else {
                workers.sessions[worker].demandingLanes.insert(Int(combined.number))
            }
        }
    }
}
