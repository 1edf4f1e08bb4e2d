import Foundation
import Testing

@testable import AOperation

/// Duplicates that are ignored.
@Suite(.timeLimit(Load.patience))
struct UniquenessTests {
    let id = freshKey("id")
    let queue = AOperationQueue()

    private func running() async -> UniqueGate {
        let first = UniqueGate(id, "first")
        queue.addOperation(first)
        await first.started.wait()
        return first
    }

    @Test func duplicate_endsAtOnce_withIgnoredDuplicate_andTellsItsListeners() async throws {
        let first = await running()
        let log = Log<String>()
        let duplicate = UniqueGate(id, "second")
            .conditions(Rule(.success) { log.append("evaluated") })
            .exclusive(id)
            .observers(
                BlockObserver(
                    startHandler: { _ in log.append("start") }, cancelHandler: { _ in log.append("cancel") },
                    finishHandler: { _, _ in log.append("finish") })
            )
            .didFinish { _ in log.append("didFinish") }
        let suspended = AOperationQueue(slots: 1)
        suspended.isSuspended = true  // it takes neither slot nor condition nor lock
        suspended.addOperation(duplicate)
        await duplicate.ended()
        await callbacksDelivered()
        #expect(log.entries == ["finish", "didFinish"])
        let error = try #require(duplicate.publishedErrors.first)
        let ignored = try #require(error.publishedError as? AOperationError.IgnoredDuplicate)
        #expect(ignored == AOperationError.IgnoredDuplicate(of: id, operation: "second"))
        #expect(error.publisher == "second")
        #expect(error.localizedDescription == "The Operation second is ignored: another one with the unique id \(id) is active")
        #expect(duplicate.outcome?.isFailure == true)
        #expect(suspended.operationCount == 0 || duplicate.isFinished)
        suspended.isSuspended = false
        await suspended.idle()
        first.open()
    }

    @Test func id_isUniqueAcrossQueuesAndTypes() async {
        let first = await running()
        let other = UniqueStep(id)
        await AOperationQueue().run(all: [other])
        #expect(other.isIgnoredDuplicate)
        first.open()
    }

    @Test func id_isFreeOnlyAfterTheFinalEnd_theBodyIncluded() async {
        let first = await running()
        first.cancel()  // deaf: its body goes on
        let early = UniqueStep(id)
        await queue.run(all: [early])
        #expect(early.isIgnoredDuplicate)
        first.open()
        await first.ended()
        let late = UniqueStep(id)
        await queue.run(all: [late])
        #expect(late.outcome?.isSuccess == true)
    }

    @Test func id_isClaimedWhenItIsAdded_notBefore_andFreeAfterACancellation() async {
        let unadded = UniqueStep(id)
        queue.isSuspended = true
        let waiting = UniqueStep(id)
        queue.addOperation(waiting)
        let duplicate = UniqueStep(id)
        queue.addOperation(duplicate)
        await duplicate.ended()
        #expect(duplicate.isIgnoredDuplicate)
        waiting.cancel()
        await waiting.ended()
        queue.isSuspended = false
        await queue.run(all: [unadded])
        #expect(unadded.outcome?.isSuccess == true)
    }

    @Test func addingItTwice_makesNoDuplicateOfItself() async {
        let first = await running()
        queue.addOperation(first)
        AOperationQueue().addOperation(first)
        first.open(3)
        await first.ended()
        #expect(first.outcome == .success(3))
    }

    @Test func D8_duplicateInAnOrderedGroup_doesNotHoldItsSuccessors() async {
        let first = await running()
        let log = Log<Int>()
        let duplicate = UniqueStep(id) { log.append(2) }
        let group = OrderedGroupOperation(Step { log.append(1) }, duplicate, Step { log.append(3) })
        await queue.run(all: [group])
        #expect(log.entries == [1, 3])
        #expect(group.outcome?.isFailure == true)
        #expect(duplicate.isIgnoredDuplicate)
        first.open()
    }

    @Test func D8_duplicateInAGroup_comesAfterTheFailures_inItsErrors() async {
        let first = await running()
        let group = GroupOperation(UniqueStep(id), Failing<Int>("failure"))
        await queue.run(all: [group])
        #expect(group.publishedErrors.count == 2)
        #expect(group.publishedTexts.first == "failure")
        #expect(group.publishedErrors.last?.publishedError is AOperationError.IgnoredDuplicate)
        first.open()
    }

    @Test func D8_duplicateInADeliveryChain_deliversItsFailure() async {
        let first = await running()
        let tail = Keep<Int>()
        let duplicate = UniquePass(id)
        Value(1).deliver(to: duplicate).deliver(to: tail).add(to: queue)
        await tail.ended()
        #expect(tail.outcome?.value??.error?.publishedError is AOperationError.IgnoredDuplicate)
        first.open()
    }

    @Test func D8_dependentsOfADuplicate_run_andItsOwnDependencyIsNotWaitedFor() async {
        let first = await running()
        let gate = Gate()
        let duplicate = UniqueStep(id)
        duplicate.addDependency(gate)
        let after = Step()
        after.addDependency(duplicate)
        queue.addOperations([gate, duplicate, after], waitUntilFinished: false)
        await after.ended()
        #expect(after.outcome?.isSuccess == true)
        #expect(gate.outcome == nil)
        gate.open()
        first.open()
    }

    @Test func duplicateGroup_endsItsChildrenAsCancelled() async {
        let first = UniqueGroup(id, [Gate()])
        queue.addOperation(first)
        let child = Step()
        let duplicate = UniqueGroup(id, [child])
        await queue.run(all: [duplicate])
        #expect(duplicate.isIgnoredDuplicate)
        #expect(child.outcome?.isCancelled == true)
        first.cancel()
        await first.ended()
    }

    @Test func childsId_isClaimedWhenItsGroupStarts() async {
        let gate = Gate()
        let child = UniqueStep(id)
        let group = OrderedGroupOperation(gate, child)
        let before = UniqueStep(id)
        await queue.run(all: [before])
        #expect(before.outcome?.isSuccess == true)
        queue.addOperation(group)
        await gate.started.wait()
        let duplicate = UniqueStep(id)
        await queue.run(all: [duplicate])
        #expect(duplicate.isIgnoredDuplicate, "the child has not run, but its group has started")
        gate.open()
        await group.ended()
        #expect(child.outcome?.isSuccess == true)
        let after = UniqueStep(id)
        await queue.run(all: [after])
        #expect(after.outcome?.isSuccess == true)
    }

    @Test func childAddedToARunningOrderedGroup_claimsItsIdAtOnce() async {
        let gate = Gate()
        let group = OrderedGroupOperation(gate)
        queue.addOperation(group)
        await gate.started.wait()
        let child = UniqueStep(id)
        group.addOperation(child)
        let duplicate = UniqueStep(id)
        await queue.run(all: [duplicate])
        #expect(duplicate.isIgnoredDuplicate)
        gate.open()
        await group.ended()
        #expect(child.outcome?.isSuccess == true)
    }

    @Test func twoChildrenWithOneId_theFirstInChildOrderRuns() async {
        let log = Log<Int>()
        for index in 0..<20 {
            let id = freshKey("id")
            let children = [UniqueStep(id) { log.append(index) }, UniqueStep(id) { log.append(-1) }]
            let group = index.isMultiple(of: 2) ? GroupOperation(children) : OrderedGroupOperation(children)
            await queue.run(all: [group])
            #expect(children[1].isIgnoredDuplicate)
        }
        #expect(log.entries == Array(0..<20))
    }

    @Test func cancelledGroup_freesTheIdsOfItsChildren() async {
        let gate = Gate()
        let group = OrderedGroupOperation(gate, UniqueStep(id))
        queue.addOperation(group)
        await gate.started.wait()
        group.cancel()
        await group.ended()
        let after = UniqueStep(id)
        await queue.run(all: [after])
        #expect(after.outcome?.isSuccess == true)
    }

    final class UniqueAttempt: VoidOperation, UniqueOperation, RetryableOperation, @unchecked Sendable {
        let uniqueId: String
        let log: Log<Int>
        init(_ id: String, _ log: Log<Int>) {
            uniqueId = id
            self.log = log
            super.init()
        }
        required convenience init(uniqueId: String, log: Log<Int>) { self.init(uniqueId, log) }
        override func execute() {
            log.append(1)
            finish(log.count < 3 ? AOperationError(Failed(text: "\(log.count)")) : nil)
        }
        func new() -> Self { Self(uniqueId: uniqueId, log: log) }
    }

    /// Attempts are no duplicates of the operation that they are attempts of, and its id is not free between them.
    @Test func D9_retryOfAUniqueOperation_isNoDuplicate() async {
        let log = Log<Int>()
        let other = AOperationQueue()
        let duplicates = Log<UniqueStep>()
        let operation = UniqueAttempt(id, log).retryOnFailure { _, _, retry in
            let duplicate = UniqueStep(id)
            duplicates.append(duplicate)
            duplicate.onEnd { _ in retry(true) }
            other.addOperation(duplicate)
        }
        await queue.run(all: [operation])
        #expect(operation.outcome?.isSuccess == true)
        #expect(log.count == 3)
        #expect(duplicates.count == 2)
        #expect(duplicates.entries.allSatisfy { $0.isIgnoredDuplicate })
        let after = UniqueStep(id)
        await queue.run(all: [after])
        #expect(after.outcome?.isSuccess == true)
    }

    @Test func D9_duplicate_isNotTriedAgain() async {
        let first = await running()
        let log = Log<Int>()
        let duplicate = UniqueAttempt(id, log).retry(RetryPolicy(attempts: 3))
        await queue.run(all: [duplicate])
        #expect(duplicate.isIgnoredDuplicate)
        #expect(log.count == 0)
        first.open()
    }

    /// Checking and claiming are one step.
    @Test func D10_sameIdFromSixteenThreads_exactlyOneRuns() async {
        for _ in 0..<40 {
            let id = freshKey("id")
            let gate = Gate()
            let ran = Log<Int>()
            let operations = (0..<16).map { index in
                let operation = UniqueStep(id) { ran.append(index) }
                operation.addDependency(gate)
                return operation
            }
            let queues = (0..<4).map { _ in AOperationQueue() }
            await withTaskGroup(of: Void.self) { group in
                for (index, operation) in operations.enumerated() {
                    group.addTask { await onThread { queues[index % 4].addOperation(operation) } }
                }
            }
            queue.addOperation(gate)
            await gate.started.wait()
            #expect(operations.count { $0.isIgnoredDuplicate } == 15)
            gate.open()
            for operation in operations { await operation.ended() }
            #expect(ran.count == 1)
        }
    }

    @Test func cancelledWhileItIsAdded_freesItsId() async {
        for _ in 0..<Load.rounds(300) {
            let id = freshKey("id")
            let operation = UniqueStep(id)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { operation.cancel() }
                group.addTask { queue.addOperation(operation) }
            }
            await operation.ended()
            let after = UniqueStep(id)
            await queue.run(all: [after])
            #expect(after.outcome?.isSuccess == true)
        }
    }

    @Test func inAFoundationQueue_aDuplicateEnds() async {
        let first = await running()
        let plain = OperationQueue()
        let duplicate = UniqueStep(id)
        plain.addOperation(duplicate)
        await plain.idle()
        #expect(duplicate.isIgnoredDuplicate)
        first.open()
    }
}
