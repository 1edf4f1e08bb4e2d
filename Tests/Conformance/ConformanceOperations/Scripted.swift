import AOperation
import Conformance
import Foundation

/// What a scripted body fails with.
package struct ScriptError: PortableError, LocalizedError, Hashable {
    package var text: String

    package init(text: String) { self.text = text }

    package static var errorName: String { "ScriptError" }
    package var errorDescription: String? { text }
}

/// What a scripted operation is made of.
package struct ScriptParameters: Codable, Sendable {
    package var place: String
    package var node: Int
    package var script: Script
    /// The keys whose tokens it notes, without the salt that makes them the graph's own.
    package var keys: [String]
    package var salt: String
    package var unique: UniquePlan?
    package var requires: RequirementPlan?
    /// What it makes others of; nil: it makes none.
    private var maker: DeciderParameters?

    init(_ plan: GraphPlan, _ node: Int, place: String, salt: String, limits: GraphRun.Limits) {
        if !plan.products(of: node).isEmpty {
            maker = DeciderParameters(plan: plan, node: node, place: place, salt: salt, limits: limits)
        }
        self.place = place
        self.node = node
        script = plan.nodes[node].script ?? Script()
        keys = plan.nodes[node].keys.map(\.name)
        self.salt = salt
        unique = plan.nodes[node].unique
        requires = plan.nodes[node].requires
    }

    /// Does what the script says, and notes it.
    ///
    /// - Parameter beginning: what it does first; returns a failure that it has received with that.
    func run(
        on operation: AOperation, received: Received?, failure: AOperationError?,
        beginning: (_ run: Int, any Place) async throws -> AOperationError? = { _, _ in nil }
    ) async throws -> String {
        var failure = failure
        let place = Places.place(place)
        let tokens = keys.compactMap { key in operation.fencingToken(for: salt + key).map { (key, $0) } }
        let number = place.begin(node)
        place.noteTimed(
            .started(
                node, run: number, process: place.process, received: received,
                tokens: Dictionary(tokens) { first, _ in first }))
        if let maker {
            for product in maker.plan.products(of: node) { operation.produce(maker.builder.added(product)) }
        }
        if requires != nil, let host = Self.host {
            place.note(.placed(node, run: number, host: host, permits: operation.assignedResource("permits")?.indices ?? []))
        }
        do {
            failure = try await beginning(number, place) ?? failure
            try await work(at: place)
        } catch {
            guard let lingers = script.lingers else {
                place.noteTimed(.ended(node, run: number, .stopped))
                throw error
            }
            await Task.detached { for _ in 0..<lingers { try? await place.tick() } }.value
        }
        if number <= script.failures {
            let error = ScriptError(text: Texts.failure(of: node, run: number))
            place.noteTimed(.ended(node, run: number, .failure(Fault(.own(error.text), by: GraphPlan.name(of: node)))))
            throw error
        }
        if script.forwardsFailure, let failure {
            place.noteTimed(.ended(node, run: number, .failure(Fault(failure))))
            throw failure
        }
        let value = Texts.value(of: node, run: number, from: received)
        place.noteTimed(.ended(node, run: number, .value(value)))
        return value
    }

    /// The name of a worker's host, if who has started it has told it.
    private static let host = ProcessInfo.processInfo.environment["AOP_TRIAL_HOST"]

    private func work(at place: any Place) async throws {
        var left = script.isEndless ? Int.max : script.ticks
        while left > 0 {
            left -= 1
            try await place.tick()
        }
    }
}

/// Says what its script says, one evaluation after the other; or leaves that to its dependent operations.
package struct ScriptedCondition: ClusterCondition {
    package var place: String
    package var node: Int
    package var condition: Int
    package var verdicts: [Verdict]
    package var isPrepared = false

    package var dependentOperation: AOperation? { isPrepared ? ScriptedPreparation(self) : nil }

    package func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        guard !isPrepared else { return Mute().evaluateForOperation(operation, completion: completion) }
        switch say() {
        case .yes: completion(.success)
        case .no: completion(.failure(AOperationError(refusal)))
        case .notNow: completion(.retry(after: .milliseconds(2), because: "the script says so"))
        }
    }

    fileprivate func say() -> Verdict {
        let place = Places.place(place)
        let index = place.ask(node, condition: condition)
        let verdict = verdicts.indices.contains(index) ? verdicts[index] : verdicts.last ?? .yes
        place.note(.judged(node, condition: condition, verdict))
        return verdict
    }

    fileprivate var refusal: ScriptError { ScriptError(text: Texts.no(of: node, condition: condition)) }

    /// Holds unless its dependent operation has failed.
    private struct Mute: AOperationCondition {}
}

/// The same in the program, of a type that no worker knows.
package struct HostedCondition: AOperationCondition, Sendable {
    package var condition: ScriptedCondition

    package static var key: String { ScriptedCondition.key }

    package var dependentOperation: AOperation? {
        guard condition.isPrepared else { return nil }
        return condition.condition.isMultiple(of: 2) ? ScriptedPreparation(condition) : HostedPreparation(condition)
    }

    package func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) { condition.evaluateForOperation(operation, completion: completion) }
}

/// Says what a condition says whose dependent operation it is, as whose name its error is published.
package class PreparationBody: AsyncOperation<String>, @unchecked Sendable {
    package let parameters: ScriptedCondition

    package init(_ parameters: ScriptedCondition) {
        self.parameters = parameters
        super.init()
        name = Texts.scriptedCondition
    }

    package override func run() async throws -> String {
        try await Places.place(parameters.place).tick()
        guard parameters.say() == .yes else { throw parameters.refusal }
        return ""
    }
}

package final class ScriptedPreparation: PreparationBody, ClusterOperation, @unchecked Sendable {}
package final class HostedPreparation: PreparationBody, @unchecked Sendable {}

/// What a worker registers to run graphs.
package enum ConformanceTypes {
    package static let operations: [any ClusterOperation.Type] = [
        Scripted.self, ScriptedList.self, ScriptedOnly.self, ScriptedReceiver.self, ScriptedJoin.self, ScriptedSource.self,
        ScriptedSink.self, ScriptedDecider.self, ScriptedPreparation.self, ScriptedSequence.self, ScriptedLine.self,
        ScriptedAttempts.self, ScriptedAttempt.self,
    ]
    package static let conditions: [any ClusterCondition.Type] = [ScriptedCondition.self]
    package static let errors: [any PortableError.Type] = [ScriptError.self]
}
