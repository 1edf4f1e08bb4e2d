import AOperation
import Conformance
import Foundation

/// What a group that decides is made of.
package struct DeciderParameters: Codable, Sendable {
    var plan: GraphPlan
    var node: Int
    var place: String
    var salt: String
    var limits: GraphRun.Limits

    fileprivate var builder: OperationBuilder { OperationBuilder(plan: plan, place: place, salt: salt, limits: limits) }

    fileprivate var children: [AOperation] { builder.firstChildren(of: node) }

    /// Adds what the end of a child adds.
    fileprivate func decide(for group: GroupOperation, after child: Operation, hasFailed: Bool) {
        // One that was made again is known by its path; what was added has the number of the addition in that.
        let name =
            (child as? AOperation)?.clusterPath?.split(separator: "/").last?.split(separator: "+").first.map(String.init) ?? child.name
        guard let ended = plan.children(of: node).first(where: { GraphPlan.name(of: $0) == name }) else { return }
        for (node, operation) in builder.additions(after: ended, hasFailed: hasFailed) {
            Places.adding(operation, as: node, at: place)
            group.addOperation(operation)
        }
    }
}

/// Decides on any worker.
package final class ScriptedDecider: GroupOperation, ClusterGroup, @unchecked Sendable {
    package let parameters: DeciderParameters

    package init(_ parameters: DeciderParameters) {
        self.parameters = parameters
        super.init(parameters.children)
    }

    package override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        parameters.decide(for: self, after: operation, hasFailed: !errors.isEmpty)
    }
}

/// Decides in the program.
package final class HostedDecider: GroupOperation, @unchecked Sendable {
    private let parameters: DeciderParameters

    package init(_ parameters: DeciderParameters) {
        self.parameters = parameters
        super.init(parameters.children)
    }

    package override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        parameters.decide(for: self, after: operation, hasFailed: !errors.isEmpty)
    }
}
