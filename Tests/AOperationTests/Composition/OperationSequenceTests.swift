import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct OperationSequenceTests {
    let queue = AOperationQueue()

    @Test func errorsOfWhatBelongsToAStep_areThoseOfTheStepOnly() async {
        let queue = AOperationQueue()
        let count = Log<Int>()
        let sequence = OperationSequence { _ in
            count.append(1)
            switch count.count {
            case 1:  // deals with the failure of its producer
                return Failing<Int>("dealt with").deliver(to: MapOperationBlock<Int, Int> { _, finish in finish(.success(2)) })
            case 2: return Failing<Int>("passed on").deliver(to: PassOn())
            default: return nil
            }
        }
        sequence.add(to: queue)
        await sequence.ended()
        #expect(sequence.publishedErrors.map { $0.publishedError as? Failed } == [Failed(text: "passed on")])
    }

    @Test func withoutASingleStep_itSucceeds() async {
        let sequence = OperationSequence { _ in nil }
        #expect(await sequence.result(on: queue).error == nil)
        #expect(await OperationSequence().result(on: queue).error == nil)
        #expect(sequence.outcomes.isEmpty)
    }

    @Test func eachStep_isDecidedFromTheOneBefore() async {
        let sequence = OperationSequence { previous -> AOperation? in
            guard let previous else { return Value(1) }
            guard let number = previous.value(as: Int.self), number < 5 else { return nil }
            return Value(number + 1)
        }
        #expect(await sequence.result(on: queue).error == nil)
        #expect(sequence.results(of: Int.self) == [1, 2, 3, 4, 5])
    }

    @Test func success_ofTheLastStep_meansThatEarlierFailuresWereDealtWith() async {
        let sequence = OperationSequence { previous -> AOperation? in
            guard let previous else { return Failing<Int>("a") }
            return previous.publishedErrors.isEmpty ? nil : Value("b")
        }
        #expect(await sequence.result(on: queue).error == nil)
        #expect(sequence.outcomes.map(\.isSuccess) == [false, true])
        #expect(sequence.errorsByChild.map { $0.map(\.localizedDescription) } == [["a"], []])
        #expect(sequence.results.map { $0 as? String } == [nil, "b"])
    }

    @Test func failure_ofTheLastStep_comesWithTheErrorsOfAll() async {
        let steps = Backing([Failing<Int>("1"), Value(2), GroupOperation(Failing<Int>("3a"), Failing<Int>("3b"))])
        let sequence = OperationSequence { _ in steps.next() }
        _ = await sequence.result(on: queue)
        #expect(sequence.errorTexts == ["1", "3a", "3b"])
        #expect(sequence.outcome?.isFailure == true)
    }

    @Test func cancelledStep_isShownToTheSequence_andIsNoCancellationOfIt() async {
        let gate = Gate("gate")
        let seen = Log<Bool>()
        let sequence = OperationSequence { previous -> AOperation? in
            guard let previous else { return gate }
            seen.append(previous.isCancelled)
            return nil
        }
        sequence.add(to: queue)
        await gate.started.wait()
        gate.cancel()
        await sequence.ended()
        #expect(seen.entries == [true])
        #expect(sequence.outcome?.isFailure == true)
        #expect(sequence.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
    }

    @Test func nextStep_comesWhenTheBodyOfTheOneBeforeHasEnded() async {
        let deaf = Gate("deaf", isDeaf: true)
        let log = Log<String>()
        let sequence = OperationSequence { previous -> AOperation? in
            guard previous == nil else {
                log.append("asked")
                return nil
            }
            return deaf
        }
        sequence.add(to: queue)
        await deaf.started.wait()
        deaf.cancel()
        #expect(log.count == 0)
        log.append("opened")
        deaf.open()
        await sequence.ended()
        #expect(log.entries == ["opened", "asked"])
    }

    @Test func stepWithAChain_isJudgedByTheOperationThatWasReturned() async {
        let recovering = OperationSequence { previous -> AOperation? in
            previous == nil ? Failing<Int>("producer").deliver(to: Keep<Int>()) : nil
        }
        #expect(await recovering.result(on: queue).error == nil)
        #expect(recovering.outcomes.count == 2)

        let forwarding = OperationSequence { previous -> AOperation? in
            previous == nil ? Failing<Int>("producer").deliver(to: PassOn<Int>()) : nil
        }
        #expect(await forwarding.result(on: queue).error?.publisher == "producer")
    }

    @Test func dependencies_ofAStep_runToo_andAreAwaited() async {
        let log = Log<String>()
        let sequence = OperationSequence { previous -> AOperation? in
            guard previous == nil else {
                log.append("asked")
                return nil
            }
            let step = Step { log.append("step") }
            step.addDependency(Step { log.append("dependency") })
            return step
        }
        #expect(await sequence.result(on: queue).error == nil)
        #expect(log.entries == ["dependency", "step", "asked"])
    }

    @Test func stepsThatHaveEndedBefore_needNoStack() async {
        let count = Log<Int>()
        let sequence = OperationSequence { _ -> AOperation? in
            guard count.count < Load.count(10_000) else { return nil }
            count.append(1)
            let step = Step()
            step.cancel()
            return step
        }
        _ = await sequence.result(on: queue)
        #expect(sequence.outcomes.count == Load.count(10_000))
    }

    @Test func stepThatWasOneBefore_endsTheSequenceWithATypedError() async {
        let step = Step("again")
        let sequence = OperationSequence { _ in step }
        sequence.name = "sequence"
        _ = await sequence.result(on: queue)
        #expect(
            sequence.errorTexts
                == ["The sequence sequence was given the Operation again twice: an operation runs once, return a new one"])
        #expect(sequence.publishedErrors.first?.publishedError is AOperationError.StepRepeated)
    }

    @Test func stepThatTheSequenceIsInsideOf_endsIt() async {
        let groups = Log<GroupOperation>()
        let sequence = OperationSequence { _ in groups.entries.first }
        let group = GroupOperation(sequence)
        groups.append(group)
        queue.addOperation(group)
        await group.ended()
        #expect(sequence.publishedErrors.first?.publishedError is AOperationError.WaitsForItself)
    }

    @Test func otherChildren_runBesideTheSteps_andTheirFailuresCount() async {
        let gate = Gate("beside")
        let steps = Backing([Value(1), Value(2)])
        let asked = Signal()
        let sequence = OperationSequence { _ -> AOperation? in
            let next = steps.next()
            if next == nil { asked.fire() }
            return next
        }
        sequence.addOperations([gate, Failing<Int>("beside")])
        sequence.add(to: queue)
        await asked.wait()
        #expect(sequence.outcome == nil, "it waits for all children")
        gate.open()
        await sequence.ended()
        #expect(sequence.errorTexts == ["beside"])
    }

    @Test func withStop_theFirstFailureIsTheEnd() async {
        let steps = Backing([Failing<Int>("1"), Value(2)])
        let sequence = OperationSequence { _ in steps.next() }
        sequence.onFailure = .stop
        _ = await sequence.result(on: queue)
        #expect(sequence.errorTexts == ["1"])
        #expect(sequence.outcomes.count == 1)
    }

    @Test func delivers_asAGroupDoes() async throws {
        let steps = Backing([Value(1), Value(2)])
        let values = try await OperationSequence { _ in steps.next() }.deliver(to: Keep<[Int]>()).value(on: queue)
        #expect(try values?.get() == [1, 2])

        let failing = Backing([Failing<Int>("1"), Value(2)])
        let outcomes = try await OperationSequence { _ in failing.next() }.deliver(to: Keep<GroupOutcomes>()).value(on: queue)
        #expect(try outcomes?.get().map(\.isSuccess) == [false, true])
    }

    /// The documents' example: the second step is a parallel group that is made from what the first one found.
    final class UserIssues: OperationSequence, @unchecked Sendable {
        override func nextOperation(after previous: AOperation?) -> AOperation? {
            guard let previous else { return Value(["swift", "foundation"], name: "repositories") }
            guard let repositories = previous.value(as: [String].self) else { return nil }
            return GroupOperation(repositories.map { Value("\($0) #1") }).onFailure(.stop)
        }
    }

    @Test func secondStep_canBeAParallelGroup_madeFromTheFirstResult() async {
        queue.maxConcurrentOperationCount = 1
        let sequence = UserIssues()
        #expect(await sequence.result(on: queue).error == nil)
        let issues = (sequence.operations.last as? GroupOperation)?.results(of: String.self)
        #expect(issues == ["swift #1", "foundation #1"])
    }

    @Test func sequenceInSequence_inAnOrderedGroup_onOneSlot() async {
        queue.maxConcurrentOperationCount = 1
        let log = Log<String>()
        func sequence(_ name: String) -> OperationSequence {
            let outer = Backing(
                (0..<3).map { index -> AOperation in
                    let inner = Backing((0..<2).map { step in Step { log.append("\(name)\(index)\(step)") } })
                    return OperationSequence { _ in inner.next() }
                })
            return OperationSequence { _ in outer.next() }
        }
        let group = OrderedGroupOperation(sequence("a"), sequence("b"), onFailure: .stop)
        _ = await group.result(on: queue)
        #expect(log.entries == ["a00", "a01", "a10", "a11", "a20", "a21", "b00", "b01", "b10", "b11", "b20", "b21"])
    }

    @Test func stepThatWaitsForASiblingOnASerialQueue_givesTheSlotAway() async {
        queue.maxConcurrentOperationCount = 1
        let outside = Step()
        let sequence = OperationSequence { previous -> AOperation? in
            guard previous == nil else { return nil }
            let step = Step()
            step.addDependency(outside)
            return step
        }
        queue.isSuspended = true
        queue.addOperations([sequence, outside], waitUntilFinished: false)
        queue.isSuspended = false
        await queue.idle()
        #expect(sequence.outcome?.isSuccess == true)
    }

    @Test func waitBetweenTwoSteps_holdsNoSlot_andEndsWithACancellation() async {
        queue.maxConcurrentOperationCount = 1
        let steps = Backing([Step("first"), Step("second")])
        let asked = Signal()
        let sequence = OperationSequence(wait: .constant(3_600)) { previous -> AOperation? in
            if previous != nil { asked.fire() }
            return steps.next()
        }
        sequence.add(to: queue)
        await asked.wait()
        #expect(await Step("other").result(on: queue).error == nil)
        #expect(sequence.outcome == nil)
        sequence.cancel()
        await sequence.ended()
        #expect(sequence.outcomes.map(\.isSuccess) == [true, false])
        await queue.idle()
    }

    @Test func shortWaits_keepTheOrder() async {
        let steps = Backing((0..<4).map { Value($0) })
        let sequence = OperationSequence(wait: .constant(0.001)) { _ in steps.next() }
        #expect(await sequence.result(on: queue).error == nil)
        #expect(sequence.results(of: Int.self) == [0, 1, 2, 3])
    }
}

/// Operations that are handed out one by one.
final class Backing: Sendable {
    private let rest: Guarded<[AOperation]>
    init(_ operations: [AOperation]) { rest = Guarded(operations.reversed()) }
    func next() -> AOperation? { rest.withLock { $0.popLast() } }
}
