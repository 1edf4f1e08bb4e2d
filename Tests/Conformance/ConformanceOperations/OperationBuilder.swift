import AOperation
import Conformance
import Foundation

/// Makes a planned graph's operations.
struct OperationBuilder {
    let plan: GraphPlan
    let place: String
    let salt: String
    let limits: GraphRun.Limits

    /// One operation for each node.
    func make() -> [AOperation] {
        var made: [Int: AOperation] = [:]
        // Children come after their groups.
        for node in plan.nodes.indices.reversed() {
            let operation: AOperation
            switch plan.nodes[node].kind {
            case .operation: operation = leaf(node)
            case .group(let group): operation = self.group(group, plan.children(of: node).compactMap { made[$0] })
            }
            operation.name = GraphPlan.name(of: node)
            operation.grace = limits.grace
            made[node] = operation
        }
        let operations = plan.nodes.indices.compactMap { made[$0] }
        for node in plan.nodes.indices { configure(node, operations) }
        return operations
    }

    private func leaf(_ node: Int) -> AOperation {
        let parameters = ScriptParameters(plan, node, place: place, salt: salt)
        if plan.nodes[node].unique != nil { return ScriptedOnly(parameters) }
        guard let producer = plan.nodes[node].producers.first else { return Scripted(parameters) }
        let isJoin = plan.nodes[node].producers.count > 1 || plan.nodes[producer].group != nil
        return isJoin ? ScriptedJoin(parameters) : ScriptedReceiver(parameters)
    }

    private func group(_ group: GroupPlan, _ children: [AOperation]) -> GroupOperation {
        let made = group.isOrdered ? OrderedGroupOperation(children) : GroupOperation(children)
        made.onFailure = group.stops ? .stop : .continue
        if let limit = group.limit { made.maxConcurrentOperationCount = limit }
        return made
    }

    private func configure(_ node: Int, _ operations: [AOperation]) {
        let (planned, operation) = (plan.nodes[node], operations[node])
        for condition in planned.conditions.enumerated().map({ self.condition($0.element, of: node, $0.offset) }) {
            operation.addCondition(condition)
        }
        for key in planned.keys { operation.exclusive(salt + key.name, limit: key.limit) }
        for other in planned.after { operation.addDependency(operations[other]) }
        if planned.attempts > 1 { operation.retry(RetryPolicy(attempts: planned.attempts)) }
        if planned.hasTimeout { operation.timeout(limits.timeout) }
        if planned.hasDeadline { operation.deadline(limits.deadline) }
        connect(planned.producers.map { operations[$0] }, to: operation)
    }

    private func connect(_ producers: [AOperation], to receiver: AOperation) {
        if let receiver = receiver as? ScriptedJoin {
            if let group = producers.first as? GroupOperation {
                group.deliver(to: receiver)
            } else {
                producers.compactMap { $0 as? ResultableOperation<String> }.deliver(to: receiver)
            }
        } else if let receiver = receiver as? ScriptedReceiver {
            (producers.first as? ResultableOperation<String>)?.deliver(to: receiver)
        }
    }

    private func condition(_ planned: ConditionPlan, of node: Int, _ index: Int) -> any AOperationCondition {
        switch planned {
        case .noFailedDependencies: return NoFailedDependencies()
        case .noCancelledDependencies: return NoCancelledDependencies()
        case .scripted(let verdicts, let isNegated):
            let condition = ScriptedCondition(place: place, node: node, condition: index, verdicts: verdicts)
            return isNegated ? NegatedCondition(condition) : condition
        }
    }
}
