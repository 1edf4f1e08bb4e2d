import Foundation
import Testing

@testable import AOperation

/// When conditions are evaluated, and what their results lead to.
@Suite(.timeLimit(Load.patience))
struct EngineEvaluationTests {
    let queue = AOperationQueue()

    @Test func satisfied_executes() async {
        let operation = Step().conditions(Rule(.success), Rule { _, answer in DispatchQueue.global().async { answer(.success) } })
        await queue.run(all: [operation])
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func failure_isNeverStartedNorExecuted_andIsNoCancellation() async {
        let log = Log<String>()
        let operation = Step { log.append("executed") }
            .conditions(Rule(.failed("no")))
            .observers(
                BlockObserver(
                    startHandler: { _ in log.append("start") },
                    cancelHandler: { _ in log.append("cancel") },
                    finishHandler: { _, errors in log.append("finish \(errors.map(\.localizedDescription))") })
            )
            .didStart { log.append("didStart") }
            .willFinish { _, finish in
                log.append("willFinish")
                finish()
            }
            .didFinish { log.append("didFinish \($0.error?.localizedDescription ?? "-")") }
        await queue.run(all: [operation])
        await callbacksDelivered()
        #expect(log.entries == ["finish [\"no\"]", "didFinish no"])
        #expect(operation.outcome?.isFailure == true)
        #expect(!operation.isCancelled)
    }

    @Test func allAreEvaluated_errorsAreInConditionOrder_whateverTheOrderOfTheAnswers() async {
        let first = Question()
        let second = Question()
        let evaluated = Log<Int>()
        let operation = Step()
            .conditions(first, Rule(.failed("b")) { evaluated.append(2) }, second, Rule(.success) { evaluated.append(4) })
        queue.addOperation(operation)
        await first.asked.wait()
        await second.asked.wait()
        second.answer(.failed("c"))
        #expect(operation.outcome == nil)
        first.answer(.failed("a"))
        await operation.ended()
        #expect(operation.publishedTexts == ["a", "b", "c"])
        #expect(evaluated.entries == [2, 4])
    }

    @Test func error_hasStateCondition_andTheConditionsKeyAsPublisher() async {
        struct Keyed: AOperationCondition {
            static let key = "a key of its own"
            func evaluateForOperation(_ operation: AOperation, completion: @escaping Rule.Answer) { completion(.failed("no")) }
        }
        let operation = Step().conditions(Keyed(), Rule(.failed("no")))
        await queue.run(all: [operation])
        #expect(operation.publishedErrors.map(\.publisher) == ["a key of its own", "Rule"])
        #expect(operation.publishedErrors.allSatisfy { $0.state == .condition })
    }

    /// The publisher of a forwarded error is not hidden by the condition.
    @Test func D30_forwardedError_keepsItsPublisher() async {
        let born = AOperationError(Failed(text: "no"), state: .condition, publisher: "Somebody")
        let operation = Step().conditions(Rule(.failure(born)))
        await queue.run(all: [operation])
        #expect(operation.publishedErrors == [born])
    }

    @Test func evaluation_comesAfterAllDependencies() async {
        let log = Log<String>()
        let gate = Gate()
        let plain = BlockOperation { log.append("plain") }
        plain.addDependency(gate)
        let operation = Step { log.append("executed") }.conditions(Rule(.success) { log.append("evaluated") })
        operation.addDependency(gate)
        operation.addDependency(plain)
        queue.addOperations([operation, plain, gate], waitUntilFinished: false)
        await gate.started.wait()
        #expect(log.entries.isEmpty)
        log.append("opened")
        gate.open()
        await operation.ended()
        #expect(log.entries == ["opened", "plain", "evaluated", "executed"])
    }

    @Test func evaluation_doesNotComeWhileTheQueueIsSuspended() async {
        let log = Log<String>()
        queue.isSuspended = true
        let operation = Step().conditions(Rule(.success) { log.append("evaluated") })
        queue.addOperation(operation)
        let other = Step()
        await AOperationQueue().run(all: [other])
        log.append("resumed")
        queue.isSuspended = false
        await operation.ended()
        #expect(log.entries == ["resumed", "evaluated"])
    }

    /// Two conditions of one type with different payloads are two conditions.
    @Test func D31_conditionsOfOneType_areAllEvaluated() async {
        struct AtLeast: AOperationCondition {
            let minimum: Int
            func evaluateForOperation(_ operation: AOperation, completion: @escaping Rule.Answer) {
                completion(minimum < 3 ? .success : .failed("less than \(minimum)"))
            }
        }
        let operation = Step().conditions(AtLeast(minimum: 1), AtLeast(minimum: 3))
        operation.addCondition(AtLeast(minimum: 4))
        await queue.run(all: [operation])
        #expect(operation.publishedTexts == ["less than 3", "less than 4"])
    }

    /// What counts is the first answer of each condition, wherever it comes from.
    @Test func D16_answersFromManyThreads_twiceAndMore_countOnce() async {
        for round in 0..<50 {
            let conditions = (0..<8).map { index in
                Rule { _, answer in
                    answer(index.isMultiple(of: 2) ? .failed("\(index)") : .success)
                    for _ in 0..<3 { DispatchQueue.global().async { answer(.failed("late")) } }
                }
            }
            let later = (0..<8).map { index in
                Rule { _, answer in
                    for _ in 0..<3 { DispatchQueue.global().async { answer(.failed("later \(index)")) } }
                }
            }
            let started = Log<Int>()
            let operation = Step { started.append(round) }.conditions(conditions + later)
            await queue.run(all: [operation])
            #expect(operation.publishedTexts == [0, 2, 4, 6].map { "\($0)" } + (0..<8).map { "later \($0)" })
            #expect(started.count == 0)
        }
    }

    /// Nothing is evaluated by asking whether an operation is ready, and a slow condition does not hold the queue.
    @Test func D15_isReady_hasNoSideEffects() async {
        let question = Question()
        let operation = Step().conditions(question)
        for _ in 0..<10 { _ = operation.isReady }
        #expect(question.count == 0)
        let serial = AOperationQueue(slots: 1)
        serial.addOperation(operation)
        await serial.settled()
        for _ in 0..<10 { _ = operation.isReady }
        #expect(question.count == 1)
        question.answer(.success)
        await operation.ended()
    }

    @Test func retryAfter_waitsWithoutASlot_andAsksAgain() async {
        let serial = AOperationQueue(slots: 1)
        let log = Log<String>()
        let other = Step { log.append("other") }
        let operation = Step { log.append("executed") }
            .conditions(
                Rule { _, answer in
                    log.append("evaluated")
                    let count = log.entries.count { $0 == "evaluated" }
                    if count == 3 {
                        // The other one runs on the one slot before the answer can be yes.
                        other.onEnd { _ in answer(.success) }
                    } else {
                        answer(.retry(after: .milliseconds(1), because: "not yet"))
                    }
                })
        serial.addOperations([operation, other], waitUntilFinished: false)
        await operation.ended()
        #expect(log.entries.filter { $0 != "other" } == ["evaluated", "evaluated", "evaluated", "executed"])
        #expect(log.entries.last == "executed")
    }

    @Test func notNow_withATimeThatIsOver_isAskedAgainAtOnce() async {
        let log = Log<String>()
        let operation = Step { log.append("executed") }
            .conditions(
                Rule { _, answer in
                    log.append("evaluated")
                    let isFirst = log.entries.count == 1
                    answer(isFirst ? .retry(after: .milliseconds(-5), because: "it opened a moment ago") : .success)
                })
        await operation.add(to: AOperationQueue()).ended()
        #expect(log.entries == ["evaluated", "evaluated", "executed"])
    }

    @Test func failure_countsMoreThanIgnored_andThatMoreThanNotYet() async {
        let failed = Step().conditions(Rule(.ignored), Rule(.retry(after: .seconds(60), because: "")), Rule(.failed("no")))
        let ignored = Step().conditions(Rule(.retry(after: .seconds(60), because: "")), Rule(.ignored), Rule(.success))
        await queue.run(all: [failed, ignored])
        #expect(failed.publishedTexts == ["no"])
        #expect(ignored.outcome?.isCancelled == true)
    }

    @Test func ignored_cancels() async {
        let log = Log<String>()
        let operation = Step { log.append("executed") }
            .conditions(Rule(.ignored))
            .observers(BlockObserver(cancelHandler: { _ in log.append("cancel") }, finishHandler: { _, _ in log.append("finish") }))
        await queue.run(all: [operation])
        #expect(log.entries == ["cancel", "finish"])
        #expect(operation.isCancelled)
        #expect(operation.outcome?.isCancelled == true)
        #expect(operation.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
    }

    @Test func dependents_ofAnOperationWhoseConditionFails_run() async {
        let failing = Step().conditions(Rule(.failed("no")))
        let after = Step()
        after.addDependency(failing)
        let received = Value(1).conditions(Rule(.failed("no"))).deliver(to: Keep())
        await queue.run(all: [failing, after, received])
        #expect(after.outcome?.isSuccess == true)
        #expect(received.outcome?.value??.error?.state == .condition)
    }

    @Test func conditionAddedTooLate_isLeftOut_butOneAddedBeforeIsNot() async {
        let gate = Gate()
        let question = Question()
        let operation = Step().conditions(question)
        operation.addDependency(gate)
        queue.addOperations([operation, gate], waitUntilFinished: false)
        await gate.started.wait()
        operation.addCondition(Rule(.failed("in time")))
        gate.open()
        await question.asked.wait()
        operation.addCondition(Rule(.failed("too late")))
        question.answer(.success)
        await operation.ended()
        #expect(operation.publishedTexts == ["in time"])
    }

    @Test func conditionsBlock_isACondition() async {
        let operation = Step().condition { answer in answer(.failed("no")) }
        let other = Step().condition { answer in answer(.success) }
        await queue.run(all: [operation, other])
        #expect(operation.publishedErrors.first?.publisher == "BlockCondition")
        #expect(other.outcome?.isSuccess == true)
    }

    /// It was evaluated with a slot in sight; when that is taken away it is evaluated anew.
    @Test func suspension_betweenEvaluationAndStart_hasTheConditionsEvaluatedAgain() async {
        let serial = AOperationQueue(slots: 1)
        let question = Question()
        let log = Log<String>()
        let gate = Gate()
        let operation = Step { log.append("executed") }.conditions(question, Rule(.success) { log.append("evaluated") })
        serial.addOperations([operation, gate], waitUntilFinished: false)
        await gate.started.wait()
        question.answer(.success)
        #expect(question.count == 1)
        serial.isSuspended = true
        gate.open()
        await gate.ended()
        serial.isSuspended = false
        await serial.settled()
        #expect(question.count == 2)
        #expect(log.entries == ["evaluated", "evaluated"])
        question.answer(.success)
        await operation.ended()
        #expect(log.entries.last == "executed")
    }

    @Test func dependencyAdded_afterTheEvaluation_isWaitedFor_andConditionsAreEvaluatedAnew() async {
        let serial = AOperationQueue(slots: 1)
        let question = Question()
        let gate = Gate()
        let operation = Step().conditions(question)
        serial.addOperations([operation, gate], waitUntilFinished: false)
        await gate.started.wait()
        let other = Gate()
        operation.addDependency(other)  // while its conditions are being evaluated
        question.answer(.success)
        gate.open()
        await serial.settled()
        #expect(operation.outcome == nil)
        #expect(question.count == 1)
        serial.addOperation(other)
        await other.started.wait()
        other.open()
        await serial.settled()
        #expect(question.count == 2)
        question.answer(.success)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }
}
