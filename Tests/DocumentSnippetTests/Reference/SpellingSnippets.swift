// The spellings that the documents promise and that no snippet above uses.

import AOperation
import Foundation
import Testing

@Suite("Promised spellings", .timeLimit(.minutes(1)))
struct SpellingSnippets {
    let heard = Heard()
    let queue = AOperationQueue()

    /// 1.16 2.
    @Test func timeoutObserver_isTakenWithoutBrackets() async throws {
        let operation = Endless()
        operation.observers(TimeoutObserver(0.02))
        let result = await operation.result(on: queue)
        #expect(try #require(result.error).publishedError is TimeoutObserver.Error)
    }

    /// 1.16 3.
    @Test func noCancelledDependencies_hasBothSpellings() async {
        let cancelled = SampleOperation()
        cancelled.cancel()
        let operation = SampleOperation().dependencies([cancelled]).conditions(NoCancelledDependencies())
        let american = SampleOperation().dependencies([cancelled]).conditions(NoCanceledDependencies())
        for operation in [operation, american] {
            let result = await operation.result(on: queue)
            #expect(result.error?.state == .condition)
        }
    }

    /// 1.16 4.
    @Test func remainedDelay_takesItsTimeWithoutALabel() async {
        let result = await RemainedDelayOperation<Void>(0.01).result(on: queue)
        #expect(result.error == nil)
    }

    /// 1.16 6.
    @Test func willFinish_mayFinishLater() async {
        let operation = SampleOperation()
        operation.willFinish { (result, finish) in
            DispatchQueue.global().async {
                heard("later")
                finish()
            }
        }
        operation.didFinish { _ in heard("finished") }.add(to: queue)
        await heard.wait(for: "finished")
        #expect(heard.words == ["later", "finished"])
    }

    /// 1.16 6.
    @Test func condition_mayCompleteLater() async {
        let operation = SampleOperation()
        operation.condition { completion in
            DispatchQueue.global().async { completion(.failure(AOperationError(AccessError.accessDenied))) }
        }
        let result = await operation.result(on: queue)
        #expect(result.error?.localizedDescription == "access denied")
    }

    @Test func blocks_haveTheirForms() async throws {
        let block = AOperationBlock { finish in
            heard("block")
            finish()
        }
        #expect(await block.result(on: queue).error == nil)
        let map = MapOperationBlock<Void, Int> { _, finish in finish(.success(3)) }
        let delayed = map.deliver(to: DelayOperation<Int>(0.001))
        #expect(try await delayed.value(on: queue) == 3)
        #expect(await DelayOperation<Void>(until: Date()).result(on: queue).error == nil)
    }

    /// 3.1.
    @Test func blockObserver_namesItsEvents() async {
        let operation = SampleOperation()
        operation.addObserver(
            BlockObserver(
                didStart: { _ in heard("start") }, didCancel: { _ in heard("cancel") }, didProduce: { _, _ in heard("produce") },
                didFinish: { _, errors in heard("finish \(errors.count)") }))
        operation.add(to: queue)
        await heard.wait(for: "finish 0")
        #expect(heard.words == ["start", "finish 0"])
    }

    /// 3.1.
    @Test func delays_takeALeeway_andTimeoutsALabel() async {
        #expect(await DelayOperation<Void>(interval: 0.001, leeway: 0.001).result(on: queue).error == nil)
        #expect(await DelayOperation<Void>(date: Date(), leeway: 0.001).result(on: queue).error == nil)
        let operation = Endless()
        operation.addObserver(TimeoutObserver(timeout: 0.02))
        #expect(await operation.result(on: queue).error?.publishedError is TimeoutObserver.Error)
    }

    /// 3.1.
    @Test func cancelWithError_recordsIt_andTheGroupAggregatesIt() async {
        let child = Endless()
        let group = GroupOperation(operations: child)
        child.didStart { child.cancelWithError(AOperationError(AccessError.accessDenied)) }
        _ = await group.result(on: queue)
        #expect(group.aggregateErrors.map { $0.localizedDescription } == ["access denied"])
    }

    /// 1.6.
    @Test func group_isAQueuesDelegate() {
        let group = GroupOperation()
        queue.delegate = group
        let delegate: AOperationQueueDelegate = group
        #expect(queue.delegate === delegate)
    }

    private final class Endless: VoidOperation, @unchecked Sendable {
        override func execute() {}

        override func cancel() {
            super.cancel()
            finish()
        }
    }
}
