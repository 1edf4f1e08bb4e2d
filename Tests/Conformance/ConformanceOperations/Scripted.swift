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
    func run(on operation: AOperation, received: Received?, failure: AOperationError?) async throws -> String {
        let place = Places.place(place)
        let tokens = keys.compactMap { key in operation.fencingToken(for: salt + key).map { (key, $0) } }
        let number = place.begin(node)
        place.note(
            .started(
                node, run: number, process: place.process, received: received,
                tokens: Dictionary(tokens) { first, _ in first }))
        do {
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

/// Does what its script says.
package final class Scripted: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    package let parameters: ScriptParameters

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String { try await parameters.run(on: self, received: nil, failure: nil) }
}

/// Is one of which only one is active at a time.
package final class ScriptedOnly: AsyncOperation<String>, ClusterOperation, UniqueOperation, @unchecked Sendable {
    package let parameters: ScriptParameters

    package var uniqueId: String { parameters.salt + (parameters.unique?.id ?? "") }
    package var onDuplicate: DuplicatePolicy { parameters.unique?.joins == true ? .join : .ignore }

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String { try await parameters.run(on: self, received: nil, failure: nil) }
}

/// Receives one value.
package final class ScriptedReceiver: AsyncOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    package let parameters: ScriptParameters
    package var receivedValue: Result<String, AOperationError>?

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String {
        switch receivedValue {
        case nil: return try await parameters.run(on: self, received: nil, failure: nil)
        case .success(let value): return try await parameters.run(on: self, received: .value(value), failure: nil)
        case .failure(let error):
            let fault = Fault(error)
            return try await parameters.run(on: self, received: .failure(fault), failure: error)
        }
    }
}

/// Receives the values of several, or of a group's children.
package final class ScriptedJoin: AsyncOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    package let parameters: ScriptParameters
    package var receivedValue: Result<[String], AOperationError>?

    package init(_ parameters: ScriptParameters) {
        self.parameters = parameters
        super.init()
    }

    package override func run() async throws -> String {
        switch receivedValue {
        case nil: return try await parameters.run(on: self, received: nil, failure: nil)
        case .success(let values): return try await parameters.run(on: self, received: .values(values), failure: nil)
        case .failure(let error):
            let fault = Fault(error)
            return try await parameters.run(on: self, received: .failure(fault), failure: error)
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

/// What a worker registers to run graphs.
package enum ConformanceTypes {
    package static let operations: [any ClusterOperation.Type] = [
        Scripted.self, ScriptedOnly.self, ScriptedReceiver.self, ScriptedJoin.self,
    ]
    package static let conditions: [any ClusterCondition.Type] = [ScriptedCondition.self]
    package static let errors: [any PortableError.Type] = [ScriptError.self]
}
