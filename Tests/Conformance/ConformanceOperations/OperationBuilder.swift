import AOperation
import Conformance
import Foundation
import Synchronization

/// Makes a planned graph's operations.
struct OperationBuilder {
    let plan: GraphPlan
    let place: String
    let salt: String
    let limits: GraphRun.Limits

    /// One operation for each node that is there from the beginning.
    func make() -> [Int: AOperation] { make(plan.nodes.indices.filter(plan.isPresent)) }

    /// One operation for each of these nodes, among which is all that is in one of them.
    private func make(_ nodes: [Int]) -> [Int: AOperation] {
        var made: [Int: AOperation] = [:]
        // Children come after their groups.
        for node in nodes.reversed() {
            let operation: AOperation
            switch plan.nodes[node].kind {
            case .operation: operation = leaf(node)
            case .group(let group) where group.decides:
                operation = decider(node, group)
                for (child, operation) in firstChildren(of: operation, node) { made[child] = operation }
            case .group(let group) where group.sequence != nil: operation = sequence(node, group)
            case .wrapper: operation = wrapper(node)
            case .group(let group) where plan.mayBeginAnew(node) && !plan.isMadeAnewByItself(node):
                operation = retriedGroup(node, group, first: plan.children(of: node).compactMap { made[$0] })
            case .group(let group): operation = self.group(group, plan.children(of: node).compactMap { made[$0] })
            }
            operation.name = GraphPlan.name(of: node)
            operation.grace = limits.grace
            made[node] = operation
        }
        for node in made.keys.sorted() { configure(node, made) }
        return made
    }

    /// Those that a group that decides has from the beginning.
    func firstChildren(of group: Int) -> [AOperation] {
        plan.children(of: group).filter { plan.nodes[$0].cause == nil }.map(makeLeaf)
    }

    /// What it adds after the end of a child.
    func additions(after child: Int, hasFailed: Bool) -> [(node: Int, operation: AOperation)] {
        plan.additions(after: child, hasFailed: hasFailed).map { ($0, added($0)) }
    }

    /// One that comes to a graph that runs.
    func added(_ node: Int) -> AOperation {
        let operation = makeLeaf(node)
        configure(node, [node: operation])
        return operation
    }

    /// What a wrapper makes.
    func parts(of wrapper: Int) -> [Int: AOperation] {
        let parts = Dictionary(uniqueKeysWithValues: plan.children(of: wrapper).map { ($0, makeLeaf($0)) })
        for node in parts.keys.sorted() { configure(node, parts) }
        return parts
    }

    private func makeLeaf(_ node: Int) -> AOperation {
        let operation = leaf(node)
        operation.name = GraphPlan.name(of: node)
        operation.grace = limits.grace
        return operation
    }

    private func decider(_ node: Int, _ planned: GroupPlan) -> GroupOperation {
        let parameters = parameters(of: node)
        let group = plan.nodes[node].isHosted ? HostedDecider(parameters) : ScriptedDecider(parameters)
        set(planned, group)
        return group
    }

    private func parameters(of node: Int) -> DeciderParameters {
        DeciderParameters(plan: plan, node: node, place: place, salt: salt, limits: limits)
    }

    private func sequence(_ node: Int, _ planned: GroupPlan) -> GroupOperation {
        let made = parameters(of: node).makeSequence(planned.sequence ?? .steps, isHosted: plan.nodes[node].isHosted)
        set(planned, made)
        return made
    }

    private func wrapper(_ node: Int) -> AOperation {
        receivesList(node)
            ? ScriptedWrapper<[String]>(parameters(of: node)) { .values($0) }
            : ScriptedWrapper<String>(parameters(of: node)) { .value($0) }
    }

    /// Whether it receives from several, or from the children of a group.
    private func receivesList(_ node: Int) -> Bool {
        let producers = plan.nodes[node].producers
        return producers.count > 1 || producers.contains { plan.nodes[$0].group != nil }
    }

    private func firstChildren(of group: AOperation, _ node: Int) -> [(Int, AOperation)] {
        let children = plan.children(of: node).filter { plan.nodes[$0].cause == nil }
        return zip(children, (group as? GroupOperation)?.operations.compactMap { $0 as? AOperation } ?? []).map { ($0, $1) }
    }

    func leaf(_ node: Int) -> AOperation {
        let parameters = ScriptParameters(plan, node, place: place, salt: salt, limits: limits)
        if plan.nodes[node].unique != nil { return ScriptedOnly(parameters) }
        let isHosted = plan.nodes[node].isHosted
        if plan.nodes[node].source != nil { return isHosted ? HostedSink(parameters) : ScriptedSink(parameters) }
        if parameters.script.elements != nil { return isHosted ? HostedSource(parameters) : ScriptedSource(parameters) }
        guard !plan.nodes[node].producers.isEmpty else {
            return isHosted ? HostedScripted(parameters) : Scripted(parameters)
        }
        if receivesList(node) { return isHosted ? HostedJoin(parameters) : ScriptedJoin(parameters) }
        return isHosted ? HostedReceiver(parameters) : ScriptedReceiver(parameters)
    }

    private func group(_ group: GroupPlan, _ children: [AOperation]) -> GroupOperation {
        let made = group.isOrdered ? OrderedGroupOperation(children) : GroupOperation(children)
        set(group, made)
        return made
    }

    /// A group whose children are made for each of its attempts in this process; those of the first one are there.
    private func retriedGroup(_ node: Int, _ group: GroupPlan, first: [AOperation]) -> GroupOperation {
        let attempts = AttemptChildren(first: first) { makeAgain(node) }
        let next: @Sendable () -> [Foundation.Operation] = { attempts.next() }
        let made: GroupOperation = group.isOrdered ? OrderedGroupOperation(making: next) : GroupOperation(making: next)
        set(group, made)
        return made
    }

    /// The children of a group for another attempt, with all that is in them.
    private func makeAgain(_ group: Int) -> [AOperation] {
        let made = make(plan.nodes.indices.filter { $0 != group && plan.isInside($0, group) && plan.isPresent($0) })
        Places.making(made, at: place)
        return plan.children(of: group).compactMap { made[$0] }
    }

    private func set(_ group: GroupPlan, _ made: GroupOperation) {
        made.onFailure = group.stops ? .stop : .continue
        if let limit = group.limit { made.maxConcurrentOperationCount = limit }
    }

    func configure(_ node: Int, _ operations: [Int: AOperation]) {
        guard let operation = operations[node] else { return }
        let planned = plan.nodes[node]
        var conditions = ConditionBuilder(node: node, place: place)
        for (position, condition) in planned.conditions.enumerated() {
            // Of those beside one that the program evaluates it evaluates every other, and workers the rest.
            conditions.isHosted =
                planned.isHosted || condition.isEvaluatedWhole || (plan.evaluatesInTheProgram(node) && position.isMultiple(of: 2))
            operation.addCondition(conditions.make(condition))
        }
        for key in planned.keys { operation.exclusive(salt + key.name, limit: key.limit) }
        for other in planned.after.compactMap({ operations[$0] }) { operation.addDependency(other) }
        if planned.attempts > 1, !planned.asksAboutRetry { operation.retry(RetryPolicy(attempts: planned.attempts)) }
        if planned.hasTimeout { operation.timeout(limits.timeout) }
        if planned.hasDeadline { operation.deadline(limits.deadline) }
        if planned.hasQueueTimeout { operation.queueTimeout(limits.queueTimeout) }
        if planned.isAtMostOnce { operation.atMostOnce() }
        if planned.isRecomputable { operation.recomputable() }
        if let required = planned.requires {
            operation.requires(
                labels: required.label.map { [$0] } ?? [], resources: required.permits > 0 ? ["permits": required.permits] : [:])
        }
        switch planned.start {
        case .delay(let milliseconds)?: operation.delay(.milliseconds(milliseconds))
        case .notBefore(let milliseconds)?:
            operation.notBefore(Places.place(place).date.addingTimeInterval(Double(milliseconds) / 1_000))
        case nil: break
        }
        switch (planned.source.flatMap { operations[$0] } as? SourceBody, operation) {
        case (let source?, let sink as ScriptedSink): source.stream(to: sink)
        case (let source?, let sink as HostedSink): source.stream(to: sink)
        default: break
        }
        connect(planned.producers.compactMap { operations[$0] }, to: operation)
    }

    private func connect(_ producers: [AOperation], to receiver: AOperation) {
        switch receiver {
        case let receiver as JoinBody: deliver(producers, toList: receiver)
        case let receiver as ScriptedWrapper<[String]>: deliver(producers, toList: receiver)
        case let receiver as ReceiverBody: (producers.first as? ResultableOperation<String>)?.deliver(to: receiver)
        case let receiver as ScriptedWrapper<String>: (producers.first as? ResultableOperation<String>)?.deliver(to: receiver)
        default: break
        }
    }

    private func deliver<Receiver: ReceiverOperation>(_ producers: [AOperation], toList receiver: Receiver)
    where Receiver.Input == [String] {
        guard !producers.isEmpty else { return }
        if let group = producers.first as? GroupOperation {
            group.deliver(to: receiver)
        } else {
            producers.compactMap { $0 as? ResultableOperation<String> }.deliver(to: receiver)
        }
    }
}

/// The children of a group that is tried again, attempt by attempt.
private final class AttemptChildren: Sendable {
    private let first: Mutex<[AOperation]?>
    private let again: @Sendable () -> [AOperation]

    init(first: [AOperation], again: @escaping @Sendable () -> [AOperation]) {
        self.first = Mutex(first)
        self.again = again
    }

    func next() -> [AOperation] { first.withLock { $0.take() } ?? again() }
}

/// Makes a node's conditions.
struct ConditionBuilder {
    let node: Int
    let place: String
    /// Whether what is scripted is evaluated in the program: one place evaluates all that a condition is made of.
    var isHosted = false
    private var next = 0

    init(node: Int, place: String) { (self.node, self.place) = (node, place) }

    mutating func make(_ planned: ConditionPlan) -> any AOperationCondition {
        switch planned {
        case .noFailedDependencies: return NoFailedDependencies()
        case .noCancelledDependencies: return NoCancelledDependencies()
        case .scripted(let verdicts, let isNegated): return scripted(verdicts, isPrepared: false, isNegated)
        case .prepared(let verdicts, let isNegated): return scripted(verdicts, isPrepared: true, isNegated)
        case .all(let parts): return AndCondition(parts.map { make($0) })
        case .any(let parts): return OrCondition(parts.map { make($0) })
        case .not(let part): return Self.negated(make(part))
        case .silent(let part): return Self.silent(make(part))
        case .ignored(let part): return Self.ignored(make(part))
        }
    }

    private mutating func scripted(_ verdicts: [Verdict], isPrepared: Bool, _ isNegated: Bool) -> any AOperationCondition {
        let condition = ScriptedCondition(place: place, node: node, condition: next, verdicts: verdicts, isPrepared: isPrepared)
        next += 1
        let made: any AOperationCondition = isHosted ? HostedCondition(condition: condition) : condition
        return isNegated ? Self.negated(made) : made
    }

    private static func negated(_ condition: some AOperationCondition) -> any AOperationCondition { NegatedCondition(condition) }
    private static func silent(_ condition: some AOperationCondition) -> any AOperationCondition { SilentCondition(condition) }
    private static func ignored(_ condition: some AOperationCondition) -> any AOperationCondition { IgnoredCondition(condition) }
}
