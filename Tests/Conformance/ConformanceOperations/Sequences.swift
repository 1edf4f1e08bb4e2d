import AOperation
import Conformance
import Foundation

extension DeciderParameters {
    /// The step that comes after `previous`, the first one after nil.
    fileprivate func step(after previous: AOperation?) -> AOperation? {
        guard let previous else { return plan.children(of: node).first.map { step($0) } }
        guard let ended = child(previous) else { return nil }
        return plan.additions(after: ended, hasFailed: !previous.publishedErrors.isEmpty).first.map { step($0) }
    }

    private func step(_ node: Int) -> AOperation {
        let operation = builder.added(node)
        Places.adding(operation, as: node, at: place)
        return operation
    }

    /// All steps, of which each comes after the success of the one before.
    fileprivate var line: [LinearSequence.Step] {
        plan.children(of: node).map { child in { _ in step(child) } }
    }

    /// The first attempt, which makes the others. They are heard of when all are over.
    fileprivate var firstAttempt: ScriptedAttempt {
        let first = ScriptedAttempt(.init(sequence: self, node: plan.children(of: node)[0]))
        builder.configure(first.parameters.node, [first.parameters.node: first])
        return first
    }

    fileprivate var wait: WaitStrategy { node.isMultiple(of: 3) ? .constant(0.001) : .immediate }
}

/// Decides on any worker what comes next.
package final class ScriptedSequence: OperationSequence, ClusterGroup, @unchecked Sendable {
    package let parameters: DeciderParameters

    package init(_ parameters: DeciderParameters) {
        self.parameters = parameters
        super.init(wait: parameters.wait)
    }

    package override func nextOperation(after previous: AOperation?) -> AOperation? { parameters.step(after: previous) }
}

package final class ScriptedLine: LinearSequence, ClusterGroup, @unchecked Sendable {
    package let parameters: DeciderParameters

    package init(_ parameters: DeciderParameters) {
        self.parameters = parameters
        super.init(wait: parameters.wait)
    }

    package override var steps: [Step] { parameters.line }
}

package final class ScriptedAttempts: RetrySequence, ClusterGroup, @unchecked Sendable {
    package let parameters: DeciderParameters

    package init(_ parameters: DeciderParameters) {
        self.parameters = parameters
        super.init(
            parameters.firstAttempt, numberOfRetries: parameters.plan.children(of: parameters.node).count, wait: parameters.wait)
    }
}

/// One attempt of several, each of which is an operation of its own: makes the next one.
package final class ScriptedAttempt: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    package struct Parameters: Codable, Sendable {
        var sequence: DeciderParameters
        var node: Int
    }

    package let parameters: Parameters

    package init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
        name = GraphPlan.name(of: parameters.node)
        grace = parameters.sequence.limits.grace
    }

    package func new() -> ScriptedAttempt {
        let sequence = parameters.sequence
        let next = sequence.plan.children(of: sequence.node).first { $0 > parameters.node }
        return ScriptedAttempt(Parameters(sequence: sequence, node: next ?? parameters.node))
    }

    package override func run() async throws -> String {
        let sequence = parameters.sequence
        let script = ScriptParameters(
            sequence.plan, parameters.node, place: sequence.place, salt: sequence.salt, limits: sequence.limits)
        return try await script.run(on: self, received: nil, failure: nil)
    }
}

extension DeciderParameters {
    /// The same, decided where it is made.
    func makeSequence(_ sequence: SequencePlan, isHosted: Bool) -> OperationSequence {
        switch (sequence, isHosted) {
        case (.steps, false): ScriptedSequence(self)
        case (.linear, false): ScriptedLine(self)
        case (.retry, false): ScriptedAttempts(self)
        case (.steps, true): OperationSequence(wait: wait) { step(after: $0) }
        case (.linear, true): LinearSequence(line, wait: wait)
        case (.retry, true): RetrySequence(firstAttempt, numberOfRetries: plan.children(of: node).count, wait: wait)
        }
    }
}
