import Foundation
import Testing

@testable import AOperation

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

    // MARK: Sequences

    final class Sum: OperationSequence, ClusterGroup, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var values: [Int] }
        struct State: Codable, Sendable, Equatable { var sum = 0 }
        let parameters: Parameters
        var state = State()

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init(wait: .incrementing(initial: 1, increment: 1))
        }

        override func nextOperation(after previous: AOperation?) -> AOperation? {
            state.sum += previous?.value(as: Int.self) ?? 0
            let done = (previous as? Step).flatMap { parameters.values.firstIndex(of: $0.parameters.value) }.map { $0 + 1 } ?? 0
            return done < parameters.values.count ? Step(.init(value: parameters.values[done])) : nil
        }

        override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) { state.sum = .min }
    }

    final class Receiving: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<Int, AOperationError>?
    }

    /// Adds an operation that another one delivers to, and one besides.
    final class Netting: OperationSequence, ClusterGroup, @unchecked Sendable {
        struct Parameters: Codable, Sendable {}
        let parameters: Parameters

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }

        override func nextOperation(after previous: AOperation?) -> AOperation? {
            addOperation(Step(.init(value: 9)))
            let receiving = Receiving()
            Step(.init(value: 1)).deliver(to: receiving)
            return receiving
        }
    }

    @Test func madeAgain_aSequenceGivesTheNetOfItsStep_ofWhichItIsNoPart() throws {
        let decided = Netting(.init()).decide(after: nil)
        #expect(decided.operations.map { ($0 as? Step)?.parameters.value } == [9, 1, nil])
        #expect(decided.step is Receiving && decided.step === decided.operations.last)
        #expect(decided.forgiven.count == 1 && decided.forgiven.first === decided.operations[1])
        #expect(decided.step?.netInNoQueue().count == 2)
    }

    final class Adding: RetrySequence, ClusterGroup, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var count: Int }
        let parameters: Parameters

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init(Step(.init(value: -1)), numberOfRetries: parameters.count)
        }
    }

    @Test func sequence_isAskedOnlyWhatComesNext_andGoesOnAfterAFailure() async {
        let sum = Sum(.init(values: [1, -2, 3]))
        sum.draw(waitsFrom: [].makeIterator())
        #expect(await sum.result(on: AOperationQueue()).error == nil)
        #expect(sum.state.sum == 4)
        #expect(sum.outcomes.map(\.isSuccess) == [true, false, true])
    }

    @Test func madeAgain_aSequenceGivesOneStep_whichWaits_andForgivesTheOneBefore() throws {
        let first = Sum(.init(values: [1, -2, 3])).decide(after: nil)
        #expect(first.step === first.operations.first && first.operations.count == 1 && first.forgiven.isEmpty)
        #expect(first.step?.manifest().delay == nil)
        let failed = Step(.init(value: -2))
        failed.recall(.failure([AOperationError(Failed())]), path: "sum/Step+2")
        let sum = Sum(.init(values: [1, -2, 3]))
        try sum.restore(state: Data(#"{"sum":1}"#.utf8))
        let third = sum.decide(after: failed, number: 3)
        #expect((third.step as? Step)?.parameters.value == 3)
        #expect(third.forgiven.count == 1 && third.forgiven.first === failed)
        #expect(third.step?.manifest().delay == .seconds(2))
        let last = Step(.init(value: 3))
        last.recall(.success(.json(Data("3".utf8))), path: "sum/Step+3")
        let end = Sum(.init(values: [1, -2, 3]))
        try end.restore(state: Data(#"{"sum":1}"#.utf8))
        let over = end.decide(after: last, number: 4)
        #expect(over.step == nil && over.operations.isEmpty && over.forgiven.isEmpty && end.state.sum == 4)
    }

    @Test func madeAgain_aRetryCountsItsAttempts_alsoOfWhatIsNotKnownHere() {
        for child in [Step(.init(value: -1)), EndedOperation(operationType: "Step")] as [AOperation] {
            child.recall(.failure([AOperationError(Failed())]), path: "adding/Step")
            #expect((Adding(.init(count: 3)).decide(after: child, number: 3).step as? Step)?.parameters.value == -1)
            #expect(Adding(.init(count: 3)).decide(after: child, number: 4).step == nil)
        }
        let done = Step(.init(value: -1))
        done.recall(.success(.json(Data("1".utf8))), path: "adding/Step")
        #expect(Adding(.init(count: 3)).decide(after: done, number: 2).step == nil)
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
