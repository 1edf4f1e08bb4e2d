import Foundation
import Testing

@testable import AOperation

/// A serial queue goes on while an operation waits to be tried again, and never runs two at once.
@Suite(.timeLimit(Load.patience))
struct RetrySlotTests {
    let queue = AOperationQueue()

    init() { queue.maxConcurrentOperationCount = 1 }

    @Test func slot_isGivenUpWhileTheDecisionIsOpen() async {
        let asked = Signal()
        let kept = Log<Retry>()
        let operation = Attempted(.failing("a", 1)).retryOnFailure { _, _, retry in
            kept.append(retry)
            asked.fire()
        }
        let next = Step()
        operation.add(to: queue)
        next.add(to: queue)
        await asked.wait()
        await next.ended()
        #expect(operation.outcome == nil)
        kept.entries.first?(true)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func slot_isGivenUpDuringTheBackoff() async {
        let operation = Attempted(.failing("a", 1)).retry(RetryPolicy(attempts: 2, backoff: .constant(.seconds(3_600))))
        let next = Step()
        operation.add(to: queue)
        next.add(to: queue)
        await next.ended()
        #expect(operation.outcome == nil)
        operation.cancel()
        await queue.idle()
    }

    @Test(arguments: [1, 2, 3])
    func slots_areNeitherLostNorDoubled(limit: Int) async {
        queue.maxConcurrentOperationCount = limit
        let gauge = Gauge()
        let operations = (0..<60).map { index in
            let script = Script("\(index)") { run in
                gauge.enter()
                DispatchQueue.global().async {
                    gauge.leave()
                    run.number <= index % 4 ? run.fail() : run.succeed()
                }
            }
            return Attempted(script).retryOnFailure { retries, _, retry in
                retries.isMultiple(of: 2) ? retry(true) : DispatchQueue.global().async { retry(true) }
            }
        }
        for operation in operations { operation.add(to: queue) }
        await queue.idle()
        #expect(operations.allSatisfy { $0.outcome?.isSuccess == true })
        #expect(gauge.most <= limit)
        await expectSlots(limit)
    }

    /// Groups lend their slot; given up between attempts it must be given back once.
    @Test(arguments: [1, 2], [false, true])
    func groupsThatAreTriedAgain_neitherLoseNorDoubleSlots(limit: Int, isNested: Bool) async {
        queue.maxConcurrentOperationCount = limit
        let gauge = Gauge()
        for round in 0..<10 {
            let attempts = Log<Int>()
            let group = GroupOperation {
                attempts.append(1)
                let number = attempts.count
                return (0..<4).map { index in
                    Script("\(index)") { run in
                        gauge.enter()
                        DispatchQueue.global().async {
                            gauge.leave()
                            number < 3 && index == round % 4 ? run.fail() : run.succeed()
                        }
                    }
                }.map { Attempted($0) }
            }
            group.retry(.times(5))
            let outer = isNested ? GroupOperation(GroupOperation(group)) : group
            outer.add(to: queue)
            await outer.ended()
            #expect(outer.outcome?.isSuccess == true)
        }
        await queue.idle()
        #expect(gauge.most <= limit)
        await expectSlots(limit)
    }

    @Test func groupWhoseSlotIsWithOthers_whenItFails_doesNotDoubleIt() async {
        // The child waits for something outside, so that the group gives its slot back, and fails without one.
        let gate = Gate()
        let attempts = Log<Int>()
        let group = GroupOperation { [gate] in
            attempts.append(1)
            let child = Attempted(.failing("child", attempts.count == 1 ? 1 : 0))
            child.addDependency(gate)
            return [child]
        }
        group.retry(.times(2))
        group.add(to: queue)
        gate.add(to: queue)
        await gate.started.wait()
        gate.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        await expectSlots(1)
    }

    /// What the children of a group that never starts are: they are only cancelled.
    enum Child: CaseIterable {
        case leaf, plain, group, groupInGroup, orderedGroup, composed, composedPlain, wrapper, leafAndGroup, deaf

        func make() -> [Foundation.Operation] {
            switch self {
            case .leaf: [Step()]
            case .plain: [BlockOperation {}]
            case .group: [GroupOperation(Step())]
            case .groupInGroup: [GroupOperation(GroupOperation(Step()))]
            case .orderedGroup: [OrderedGroupOperation(GroupOperation(Step()), Step())]
            case .composed: [ComposedOperation(operation: Step())]
            case .composedPlain: [ComposedOperation(operation: BlockOperation {})]
            case .wrapper: [WrapperOperation<Void, Int> { _ in Value(1) }]
            case .leafAndGroup: [Step(), GroupOperation(Step())]
            case .deaf: [Deaf()]
            }
        }
    }

    /// Is not to be cancelled: it runs although its group has failed.
    private final class Deaf: VoidOperation, @unchecked Sendable {
        override func cancel() {}
        override func execute() { finish() }
    }

    @Test(arguments: Child.allCases, [false, true])
    func groupThatFailedBeforeItsStart_isTriedAgain_andHoldsNoSlotMeanwhile(child: Child, isOrdered: Bool) async {
        let (asked, kept, evaluations) = (Signal(), Log<Retry>(), Log<Int>())
        let group: GroupOperation = isOrdered ? OrderedGroupOperation { child.make() } : GroupOperation { child.make() }
        group.condition { decide in
            evaluations.append(1)
            decide(evaluations.count == 1 ? .failure(AOperationError(Failed(text: "not yet"))) : .success)
        }
        group.retryOnFailure { _, _, retry in
            kept.append(retry)
            asked.fire()
        }
        group.add(to: queue)
        await asked.wait()
        let next = Step()
        next.add(to: queue)
        await next.ended()
        #expect(group.outcome == nil)
        kept.entries.first?(true)
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        await expectSlots(1)
    }

    @Test(arguments: Child.allCases)
    func groupThatAlwaysFailsBeforeItsStart_inAGroup_keepsNoSlot(child: Child) async {
        let group = GroupOperation { child.make() }
        group.condition { $0(.failure(AOperationError(Failed(text: "never")))) }
        group.retry(RetryPolicy(attempts: 3))
        let outer = GroupOperation(group, Step())
        outer.add(to: queue)
        await outer.ended()
        #expect(group.outcome?.isFailure == true)
        #expect(group.publishedErrors.first?.localizedDescription == "never")
        await expectSlots(1)
    }

    /// Whether exactly `limit` operations run at once.
    private func expectSlots(_ limit: Int, _ location: SourceLocation = #_sourceLocation) async {
        await queue.idle()
        let gates = (0..<limit).map { _ in Gate() }
        let others = (0..<limit).map { _ in Gate() }
        for gate in gates + others { gate.add(to: queue) }
        for gate in gates { await gate.started.wait() }
        #expect(!others.contains { $0.started.hasFired }, sourceLocation: location)
        for gate in gates { gate.open() }
        for gate in others {
            await gate.started.wait()
            gate.open()
        }
        await queue.idle()
    }
}
