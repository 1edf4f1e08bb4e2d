import Foundation
import Testing

@testable import AOperation

/// Traps of Linux for operations in Foundation's own queue, and for processes whose main thread is busy.
@Suite(.timeLimit(Load.patience))
struct LinuxTrapTests {
    let plain = OperationQueue()

    enum Runner: CaseIterable {
        case queue, plainQueue, group, hand, cancelledBefore, cancelledInAPlainQueue
    }

    @Test(arguments: Runner.allCases)
    func L1_completionBlock_isCalledOnce_whoeverRunsTheOperation(runner: Runner) async {
        let queue = AOperationQueue()
        let calls = Log<Int>()
        for round in 0..<100 {
            let called = Signal()
            let operation = Step()
            operation.completionBlock = {
                calls.append(round)
                called.fire()
            }
            switch runner {
            case .queue: queue.addOperation(operation)
            case .plainQueue: plain.addOperation(operation)
            case .group: queue.addOperation(GroupOperation(operation))
            case .hand: operation.start()
            case .cancelledBefore:
                operation.cancel()
                queue.addOperation(operation)
            case .cancelledInAPlainQueue:
                plain.isSuspended = true
                plain.addOperation(operation)
                operation.cancel()
                plain.isSuspended = false
            }
            await called.wait()
        }
        await queue.idle()
        await plain.idle()
        #expect(calls.entries == Array(0..<100))
    }

    @Test(arguments: [1, 3, OperationQueue.defaultMaxConcurrentOperationCount])
    func L2_asynchronousConditions_inAPlainQueue_letEveryOperationStart(slots: Int) async {
        plain.maxConcurrentOperationCount = slots
        let executed = Log<Int>()
        let elsewhere = Rule { _, answer in DispatchQueue.global().async { answer(.success) } }
        let operations = (0..<300).map { number in
            let operation = Step { executed.append(number) }
            return operation.conditions(elsewhere, Rule(.success), elsewhere)
        }
        for operation in operations { plain.addOperation(operation) }
        await plain.idle()
        #expect(executed.entries.sorted() == Array(0..<300))
    }

    @Test func L3_dropped_duplicates_tails_attempts_andGroups_doNotHurtWhatTheyDependedOn() async {
        let queue = AOperationQueue()
        for _ in 0..<50 {
            let dependencies: [Foundation.Operation] = [Step(), BlockOperation {}, BlockOperation {}]
            let first = UniqueGate(freshKey("id"))
            queue.addOperation(first)
            await first.started.wait()
            do {
                let duplicate = UniqueStep(first.uniqueId)
                let tail = Value(1).deliver(to: Keep())
                let child = Step()
                for operation in [duplicate, tail, child, GroupOperation(child)] { operation.addDependencies(dependencies) }
                queue.addOperation(duplicate)
                await duplicate.ended()
                let retried = Dependent(on: dependencies).retry(RetryPolicy(attempts: 3))
                retried.cancel()
            }
            plain.addOperation(dependencies[1])
            queue.addOperations([dependencies[0], dependencies[2]], waitUntilFinished: false)
            first.open()
            await plain.idle()
            await queue.idle()
        }
    }

    /// Depends on operations from its beginning, as each of its attempts does.
    private final class Dependent: VoidOperation, RetryableOperation, @unchecked Sendable {
        private let others: [Foundation.Operation]
        init(on others: [Foundation.Operation]) {
            self.others = others
            super.init()
            addDependencies(others)
        }
        func new() -> Self { Self(on: others) }
        override func execute() { finish(AOperationError(Failed(text: "again"))) }
    }

    @Test func L4_cancelBeforeTheStart_inAPlainQueue_leavesIt_evenIfADependencyNeverEnds() async {
        plain.maxConcurrentOperationCount = 1
        let never = Step()
        let neverPlain = BlockOperation {}
        let executed = Log<Int>()
        for round in 0..<Load.rounds(200) {
            let operation = Step { executed.append(round) }
            operation.addDependency(round.isMultiple(of: 2) ? never : neverPlain)
            let mayCancel = Signal()
            let isCancelled = Signal()
            DispatchQueue.global().async { [plain] in
                if round.isMultiple(of: 3) { plain.addOperation(operation) }
                mayCancel.fire()
                operation.cancel()
                isCancelled.fire()
            }
            await mayCancel.wait()
            if !round.isMultiple(of: 3) { plain.addOperation(operation) }
            await isCancelled.wait()
            await plain.idle()
            #expect(operation.outcome?.isCancelled == true, "round \(round)")
            #expect(operation.isFinished, "round \(round)")
        }
        #expect(executed.entries.isEmpty)
    }

    @Test func L4_timeoutOrFinishBeforeTheStart_inAPlainQueue_leavesIt_evenIfADependencyNeverEnds() async {
        let never = Step()
        let timedOut = Step()
        let finished = Step()
        for operation in [timedOut, finished] {
            operation.addDependency(never)
            plain.addOperation(operation)
        }
        timedOut.timeOut(with: AOperationError(Failed(text: "too late")))
        finished.finish()
        await plain.idle()
        #expect(timedOut.publishedTexts == ["too late"])
        #expect(finished.outcome?.isSuccess == true)
    }

    @Test func L6_timersConditionsDelaysAndGroups_run_inAProcessWhoseMainThreadIsBlocked() async {
        await #expect(processExitsWith: .success) {
            DispatchQueue.main.async { while true { Thread.sleep(forTimeInterval: 3_600) } }
            Thread.detachNewThread {
                let queue = AOperationQueue()
                let condition = Rule { _, answer in DispatchQueue.global().async { answer(.success) } }
                let delayed = Value(1).deliver(to: DelayOperation<Int>(0.001)).deliver(to: PassOn())
                let group = OrderedGroupOperation(delayed, Step().conditions(condition), GroupOperation(Step()))
                let timer = Guarded<AOperationTimer?>(nil)
                group.didFinish { result in
                    guard result.error == nil else { exit(1) }
                    timer.withLock { $0 = AOperationTimer(interval: 0.001) { exit(0) } }
                }
                queue.addOperations([group], waitUntilFinished: true)
                DispatchSemaphore(value: 0).wait()
            }
            await MainActor.run { while true { Thread.sleep(forTimeInterval: 3_600) } }
        }
    }
}
