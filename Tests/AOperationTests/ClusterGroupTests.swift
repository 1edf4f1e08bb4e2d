import AOperation
import Foundation
import Testing

/// Groups that can decide anywhere: here, and made again for each decision.
@Suite struct ClusterGroupTests {
    final class Step: ResultableOperation<Int>, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var value: Int }
        let parameters: Parameters

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }

        override func execute() {
            finish(with: parameters.value < 0 ? .failure(AOperationError(Failed())) : .success(parameters.value))
        }
    }

    struct Failed: Error {}

    class Counting: GroupOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var values: [Int] }
        struct State: Codable, Sendable, Equatable { var seen: [String] = [] }
        let parameters: Parameters
        var state = State()

        required init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init(parameters.values.map { Step(.init(value: $0)) })
            onFailure = .continue
        }

        override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
            guard let step = operation as? Step else { return }
            state.seen.append("\(step.parameters.value):\((try? step.result?.get()).map { "\($0)" } ?? "\(errors.count) errors")")
            if step.parameters.value == 1 { addOperation(Step(.init(value: 10))) }
        }
    }

    final class Each: Counting, ClusterGroup, @unchecked Sendable {}

    final class OfFailures: Counting, ClusterGroup, @unchecked Sendable {
        static let decidesAfter = DecisionOccasion.failures
    }

    final class Never: Counting, ClusterGroup, @unchecked Sendable {
        static let decidesAfter = DecisionOccasion.never
    }

    private func run(_ group: Counting) async -> [String] {
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = 1
        _ = try? await group.value(on: queue)
        return group.state.seen.sorted()
    }

    @Test func itIsAskedAfterTheEndsThatItDeclares() async {
        let parameters = Counting.Parameters(values: [1, -2])
        #expect(await run(Each(parameters)) == ["-2:1 errors", "10:10", "1:1"])
        #expect(await run(OfFailures(parameters)) == ["-2:1 errors"])
        #expect(await run(Never(parameters)) == [])
    }

    @Test func itIsAnOperationToThoseWhoRegisterIt_andCanBeTriedAgain() async throws {
        let interface = try Each.clusterInterface()
        #expect(interface.name == "Each" && interface.version == 1 && !interface.receives)
        #expect(interface.output.name == String(reflecting: Void.self))
        let made = try Each.make(parameters: Data(#"{"values":[3]}"#.utf8))
        #expect(made.operations.count == 1)
        #expect(made.new().parameters.values == [3])
    }

    @Test func madeAgain_itDecidesFromItsState_andTheChildsOutcome_andNothingRuns() throws {
        let group = Each(.init(values: [1]))
        try group.restore(state: Data(#"{"seen":["before"]}"#.utf8))
        let child = Step(.init(value: 1))
        child.recall(.success(.json(Data("7".utf8))), path: "group/Step")
        #expect(try child.result?.get() == 7 && child.errors.isEmpty && child.clusterPath == "group/Step")
        let decided = group.decide(after: child)
        #expect(decided.operations.map { ($0 as? Step)?.parameters.value } == [10])
        #expect(group.state.seen == ["before", "1:7"])
        #expect(try group.encodedState().map { try JSONDecoder().decode(Counting.State.self, from: $0) } == group.state)
        let failed = Step(.init(value: 1))
        failed.recall(.failure([AOperationError(Failed())]), path: "group/Step")
        #expect(failed.errors.count == 1)
        #expect(group.operations.count == 1)
        let group2 = Each(.init(values: []))
        let cancelled = Step(.init(value: 5))
        cancelled.recall(.cancelled, path: "x")
        #expect(cancelled.outcome?.isCancelled == true)
        _ = group2.decide(after: cancelled)
        #expect(group2.state.seen == ["5:1 errors"])
    }
}
