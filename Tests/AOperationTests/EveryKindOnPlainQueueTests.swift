import Foundation
import Testing

@testable import AOperation

/// Every kind of operation in one queue of Foundation's, in any order.
@Suite(.timeLimit(Load.patience))
struct EveryKindOnPlainQueueTests {
    @Test(arguments: Stress.seeds)
    func allEnd_asInAQueueOfOurs(seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = seed.isMultiple(of: 2) ? 1 : 4
        let key = freshKey()
        let unique = Unique(key)
        let (ignored, joining) = (Unique(key), Unique(key, .join))
        let exclusive = (0..<3).map { _ in Step().exclusive(key) }
        let retried = Flaky(failures: Guarded(2)).retry(RetryPolicy(attempts: 3))
        let wrapper = WrapperOperation<Void, Int> { _ in Value(3).deliver(to: PassOn<Int>()) }
        let nothing = WrapperOperation<Void, Int> { _ in nil }
        let group = OrderedGroupOperation(
            Step(), BlockOperation {}, GroupOperation(Step().exclusive(key), Step().conditions(Rule(after: { Step() }))))
        let sequence = LinearSequence([{ _ in Step() }, { _ in Step() }])
        let repeated = RepeatOperation(max: 3) { Step() }
        let timed = Gate()
        timed.timeout(.milliseconds(2))
        let late = Gate()
        late.deadline(.milliseconds(3))
        let delayed = Step().delay(.milliseconds(1)).notBefore(Date(timeIntervalSinceNow: 0.001)).queueTimeout(.seconds(60))
        let held = Step().willFinish { _, finish in DispatchQueue.global().async { finish() } }
        let (head, tail) = (Value(4), Keep<Int>())
        head.deliver(to: tail)
        let refused = Step().conditions(Rule(.failed("no")))
        let plain = BlockOperation {}
        plain.addDependency(group)
        let dependent = Step().dependencies([plain, ignored])
        let all: [Foundation.Operation] =
            [
                unique, ignored, joining, retried, wrapper, nothing, group, sequence, repeated, timed, late, delayed, held, head,
                tail, refused, plain, dependent,
            ] + exclusive
        for operation in all.shuffled(using: &random) { queue.addOperation(operation) }
        await queue.idle()
        #expect(all.allSatisfy { $0.isFinished })
        let successes = [unique, ignored, joining].filter { $0.outcome?.isSuccess == true }
        #expect(!successes.isEmpty)
        let succeeding: [VoidOperation] = [retried, group, sequence, repeated, delayed, held, dependent] + exclusive
        for operation in succeeding {
            #expect(operation.outcome?.isSuccess == true, "\(operation.publishedTexts)")
        }
        #expect(try wrapper.result?.get() == 3)
        #expect(nothing.publishedErrors.first?.publishedError is AOperationError.NothingToRun)
        #expect(timed.publishedErrors.first?.publishedError is TimeoutObserver.Error)
        #expect(late.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
        #expect(refused.publishedTexts == ["no"])
        #expect(try tail.receivedValue?.get() == 4)
    }

    private final class Unique: VoidOperation, UniqueOperation, @unchecked Sendable {
        let uniqueId: String
        let onDuplicate: DuplicatePolicy

        init(_ id: String, _ policy: DuplicatePolicy = .ignore) {
            uniqueId = id
            onDuplicate = policy
            super.init()
        }

        override func execute() { DispatchQueue.global().async { self.finish() } }
    }
}
