import Foundation
import Testing

@testable import AOperation

/// Conditions of operations in Foundation's own queue.
@Suite(.timeLimit(Load.patience))
struct EngineFoundationTests {
    let queue = OperationQueue()

    init() { queue.maxConcurrentOperationCount = 1 }

    @Test func conditions_areEvaluated_withDependents_andLocks() async {
        let key = freshKey()
        let log = Log<String>()
        let holds = Step { log.append("executed") }
            .conditions(
                Rule(after: { Step { log.append("dependent") } }),
                Rule { _, answer in DispatchQueue.global().async { answer(.success) } }
            )
            .exclusive(key)
        let fails = Step { log.append("never") }.conditions(Rule { _, answer in DispatchQueue.global().async { answer(.failed("no")) } })
        let ignored = Step { log.append("never") }.conditions(Rule(.ignored))
        let group = GroupOperation(Step().conditions(Rule(.success)).exclusive(key))
        for operation in [holds, fails, ignored, group] { queue.addOperation(operation) }
        await queue.idle()
        #expect(log.entries == ["dependent", "executed"])
        #expect(fails.publishedTexts == ["no"])
        #expect(ignored.isCancelled)
        #expect(group.outcome?.isSuccess == true)
        #expect(queue.operationCount == 0)
    }

    @Test func cancelWhileEvaluating_leavesTheQueue() async {
        let question = Question()
        let operation = Step().conditions(question)
        queue.addOperation(operation)
        await question.asked.wait()
        operation.cancel()
        await queue.idle()
        #expect(operation.outcome?.isCancelled == true)
        #expect(operation.isFinished)
    }

    @Test func startByHand_evaluatesConditions() async {
        let log = Log<String>()
        let holds = Step { log.append("executed") }.conditions(Rule(.success))
        holds.start()
        #expect(log.count == 1, "all conditions answered at once: so it ran at once")
        let question = Question()
        let later = Step { log.append("later") }.conditions(question)
        later.start()
        #expect(log.count == 1)
        question.answer(.success)
        await later.ended()
        #expect(log.count == 2)
    }
}
