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

    package init(_ plan: GraphPlan, _ node: Int, place: String, salt: String) {
        self.place = place
        self.node = node
        script = plan.nodes[node].script ?? Script()
        keys = plan.nodes[node].keys.map(\.name)
        self.salt = salt
        unique = plan.nodes[node].unique
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
        place.note(
            .started(
                node, run: number, process: place.process, received: received,
                tokens: Dictionary(tokens) { first, _ in first }))
        do {
            failure = try await beginning(number, place) ?? failure
            try await work(at: place)
        } catch {
            guard let lingers = script.lingers else {
                place.note(.ended(node, run: number, .stopped))
                throw error
            }
            await Task.detached { for _ in 0..<lingers { try? await place.tick() } }.value
        }
        if number <= script.failures {
            let error = ScriptError(text: Texts.failure(of: node, run: number))
            place.note(.ended(node, run: number, .failure(Fault(.own(error.text), by: GraphPlan.name(of: node)))))
            throw error
        }
        if script.forwardsFailure, let failure {
            place.note(.ended(node, run: number, .failure(Fault(failure))))
            throw failure
        }
        let value = Texts.value(of: node, run: number, from: received)
        place.note(.ended(node, run: number, .value(value)))
        return value
    }

    private func work(at place: any Place) async throws {
        var left = script.isEndless ? Int.max : script.ticks
        while left > 0 {
            left -= 1
            try await place.tick()
        }
    }
}

/// Says what its script says, one evaluation after the other.
package struct ScriptedCondition: ClusterCondition {
    package var place: String
    package var node: Int
    package var condition: Int
    package var verdicts: [Verdict]

    package func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        let place = Places.place(place)
        let index = place.ask(node, condition: condition)
        let verdict = verdicts.indices.contains(index) ? verdicts[index] : verdicts.last ?? .yes
        place.note(.judged(node, condition: condition, verdict))
        switch verdict {
        case .yes: completion(.success)
        case .no: completion(.failure(AOperationError(ScriptError(text: Texts.no(of: node, condition: condition)))))
        case .notNow: completion(.retry(after: .milliseconds(2), because: "the script says so"))
        }
    }
}

/// The same in the program, of a type that no worker knows.
package struct HostedCondition: AOperationCondition, Sendable {
    package var condition: ScriptedCondition

    package static var key: String { ScriptedCondition.key }

    package func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) { condition.evaluateForOperation(operation, completion: completion) }
}

/// What a worker registers to run graphs.
package enum ConformanceTypes {
    package static let operations: [any ClusterOperation.Type] = [
        Scripted.self, ScriptedOnly.self, ScriptedReceiver.self, ScriptedJoin.self, ScriptedSource.self,
        ScriptedSink.self, ScriptedDecider.self,
    ]
    package static let conditions: [any ClusterCondition.Type] = [ScriptedCondition.self]
    package static let errors: [any PortableError.Type] = [ScriptError.self]
}
