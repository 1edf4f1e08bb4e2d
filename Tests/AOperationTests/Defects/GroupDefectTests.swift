import Foundation
import Testing

@testable import AOperation

/// Fails on another thread than the one that executes it.
private final class FailingElsewhere: VoidOperation, @unchecked Sendable {
    private let text: String
    init(_ text: String) {
        self.text = text
        super.init()
    }
    override func execute() {
        DispatchQueue.global().async { [self] in finish(AOperationError(Failed(text: text))) }
    }
}

/// Defects of groups in the reference, each shown not to be here: lost errors, and cancellation that goes astray.
@Suite(.timeLimit(Load.patience))
struct GroupDefectTests {
    @Test(arguments: [1, 2, -1])
    func D1_failuresOfTheLastChildren_areTheGroups_everyTime(slots: Int) async {
        let queue = AOperationQueue(slots: slots)
        for round in 0..<Load.rounds(200) {
            let inner = GroupOperation(FailingElsewhere("2"))
            let group = GroupOperation(FailingElsewhere("1"), inner, Step(), Failing<Int>("3"))
            let told = Log<String>()
            let dependent = Step { told.append("\(group.publishedErrors.count)") }
            dependent.addDependency(group)
            dependent.add(to: queue)
            let result = await group.result(on: queue)
            await dependent.ended()
            #expect(result.error?.localizedDescription == "1", "round \(round)")
            #expect(group.publishedTexts == ["1", "2", "3"], "round \(round)")
            #expect(told.entries == ["3"], "round \(round)")
        }
    }

    /// Adds, for every failure, an operation that runs instead.
    private final class Replacing: GroupOperation, @unchecked Sendable {
        let replaced = Log<String>()
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            for error in errors { addOperation(Step { [replaced] in replaced.append(error.localizedDescription) }) }
        }
    }

    @Test func D1_childrenAddedForTheLastFailure_runBeforeTheGroupEnds_everyTime() async {
        let queue = AOperationQueue()
        for round in 0..<Load.rounds(200) {
            let group = Replacing([FailingElsewhere("1"), FailingElsewhere("2")])
            let result = await group.result(on: queue)
            #expect(group.replaced.entries.sorted() == ["1", "2"], "round \(round)")
            #expect(result.error?.localizedDescription == "1", "round \(round)")
            #expect(group.outcomes.map(\.isSuccess) == [false, false, true, true], "round \(round)")
        }
    }

    @Test(arguments: Stress.seeds)
    func D3_groupCancelledAtARandomMoment_namesItselfOnly_andEndsEveryChild(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queue = AOperationQueue(slots: .random(in: 1...4, using: &random))
        for _ in 0..<8 {
            let steps = (0..<5).map { Step("\($0)") }
            let last = Gate("last")  // so that the group cannot be over before it is cancelled
            last.addDependency(steps[0])
            let inner = GroupOperation(Array(steps[0..<2]))
            let children: [Foundation.Operation] = [inner, BlockOperation {}, last, steps[2], steps[3], steps[4]]
            let group = Bool.random(using: &random) ? OrderedGroupOperation(children) : GroupOperation(children)
            group.name = "group"
            let ears = (steps + [last, group]).map { Ears.on($0) }
            queue.addOperation(group)
            await jitter(.random(in: 0...40, using: &random))
            group.cancel()
            await group.ended()
            await callbacksDelivered()
            #expect(group.outcome?.isCancelled == true, "seed \(seed)")
            #expect(group.publishedTexts == ["The Operation group is Cancelled"], "seed \(seed)")
            for ear in ears { #expect(ear.wereToldOnce, "\(ear.summary), seed \(seed)") }
            for step in steps { #expect(step.isEnded, "\(step.publisherName), seed \(seed)") }
            #expect(last.publishedTexts == ["The Operation last is Cancelled"], "seed \(seed)")
        }
        await queue.idle()
        #expect(!queue.isSuspended)
    }

    @Test func D18_childrenThatFailAtOnce_onManyThreads_areAllAmongTheGroupsErrors() async {
        let queue = AOperationQueue()
        for round in 0..<50 {
            let children = (0..<64).map { Gate("\($0)", isDeaf: true) }
            let group = GroupOperation(children)
            group.add(to: queue)
            for child in children { await child.started.wait() }
            await onThread {
                DispatchQueue.concurrentPerform(iterations: children.count) { index in
                    children[index].finish(AOperationError(Failed(text: "\(index)")))
                }
            }
            await group.ended()
            #expect(group.publishedTexts == (0..<64).map { "\($0)" }, "round \(round)")
        }
    }

    @Test func D18_errorsAggregatedOnManyThreads_whileChildrenFail_areAllKept() async {
        let queue = AOperationQueue()
        for round in 0..<50 {
            let children = (0..<16).map { Gate("\($0)", isDeaf: true) }
            let group = GroupOperation(children)
            group.add(to: queue)
            for child in children { await child.started.wait() }
            await onThread {
                DispatchQueue.concurrentPerform(iterations: 30) { index in
                    let error = AOperationError(Failed(text: "\(index)"))
                    if index < 15 { children[index].finish(error) } else { group.aggregateError(error) }
                }
            }
            children[15].open()
            await group.ended()
            #expect(Array(group.publishedTexts.prefix(15)) == (0..<15).map { "\($0)" }, "round \(round)")
            #expect(Set(group.publishedTexts) == Set((0..<30).map { "\($0)" }), "round \(round)")
            #expect(group.publishedErrors.count == 30, "round \(round)")
        }
    }

    @Test(arguments: [false, true])
    func D28_finishWithAFailure_whileChildrenRun_failsTheGroup_afterThem(isOrdered: Bool) async {
        let gate = Gate()
        let next = Step()
        let group = isOrdered ? OrderedGroupOperation(gate, next) : GroupOperation(gate, next)
        group.add(to: AOperationQueue())
        await gate.started.wait()
        group.finish(with: .failure(AOperationError(Failed(text: "mine"))))
        #expect(group.outcome == nil, "its child still runs")
        gate.open()
        await group.ended()
        #expect(group.outcome?.isFailure == true)
        #expect(group.publishedTexts == ["mine"])
        #expect(group.outcomes.map(\.isSuccess) == [true, true])
    }

    @Test func D28_finishWithAFailure_beforeTheStart_orAfterAChildsFailure_isNotSwallowed() async {
        let early = GroupOperation(Step())
        early.finish(AOperationError(Failed(text: "early")))
        #expect(await early.result(on: AOperationQueue()).error?.localizedDescription == "early")
        let empty = GroupOperation()
        empty.finish(with: AOperationError(Failed(text: "empty")))
        #expect(await empty.result(on: AOperationQueue()).error?.localizedDescription == "empty")
        let gate = Gate()
        let both = GroupOperation(Failing<Int>("child"), gate)
        both.add(to: AOperationQueue())
        await gate.started.wait()
        both.finish(AOperationError(Failed(text: "mine")))
        gate.open()
        await both.ended()
        #expect(both.publishedTexts == ["child", "mine"])
    }
}
