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

    var builder: OperationBuilder { OperationBuilder(plan: plan, place: place, salt: salt, limits: limits) }

    fileprivate var children: [AOperation] { builder.firstChildren(of: node) }

    /// Adds what the end of a child adds.
    fileprivate func decide(for group: GroupOperation, after child: Operation, hasFailed: Bool) {
        guard let ended = self.child(child) else { return }
        for (node, operation) in builder.additions(after: ended, hasFailed: hasFailed) {
            Places.adding(operation, as: node, at: place)
            group.addOperation(operation)
        }
    }

    /// Which of its children that is.
    func child(_ operation: Operation) -> Int? {
        // One that was made again is known by its path; what was added has the number of the addition in that.
        let path = (operation as? AOperation)?.clusterPath?.split(separator: "/").last
        let name = path?.split(separator: "+").first.map(String.init) ?? operation.name
        return plan.children(of: node).first { GraphPlan.name(of: $0) == name }
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
