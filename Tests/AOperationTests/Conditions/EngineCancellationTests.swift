import Foundation
import Testing

@testable import AOperation

/// Cancellation at every stage before the start.
@Suite(.timeLimit(Load.patience))
struct EngineCancellationTests {
    let queue = AOperationQueue(slots: 1)

    @Test func whileDependenciesAreOpen_conditionsAreNotEvaluated() async {
        let gate = Gate()
        let question = Question()
        let operation = Step().conditions(question)
        operation.addDependency(gate)
        queue.addOperations([operation, gate], waitUntilFinished: false)
        await gate.started.wait()
        operation.cancel()
        await operation.ended()
        gate.open()
        await queue.idle()
        #expect(operation.outcome?.isCancelled == true)
        #expect(question.count == 0)
    }

    @Test func beforeItIsAdded_conditionsAreNotEvaluated() async {
        let question = Question()
        let operation = Step().conditions(question)
        operation.cancel()
        queue.addOperation(operation)
        await queue.idle()
        #expect(operation.outcome?.isCancelled == true)
        #expect(question.count == 0)
    }

    /// A condition that never answers does not hold a cancelled operation.
    @Test func D15_whileEvaluating_endsAtOnce_andALateAnswerIsIgnored() async {
        let question = Question()
        let log = Log<String>()
        let operation = Step { log.append("executed") }.conditions(question)
            .observers(BlockObserver(finishHandler: { _, _ in log.append("finish") }))
        queue.addOperation(operation)
        await question.asked.wait()
        operation.cancel()
        await operation.ended()
        question.answer(.success)
        question.answer(.failed("late"))
        await queue.idle()
        #expect(log.entries == ["finish"])
        #expect(operation.outcome?.isCancelled == true)
    }

    @Test func conditionThatNeverAnswers_isReleased() async {
        let released = Signal()
        await {
            let tracer = Tracer(released)
            let question = Question()
            let operation = Step().conditions(question, Rule { _, _ in _ = tracer })
            queue.addOperation(operation)
            await question.asked.wait()
            await queue.settled()
            operation.cancel()
            await operation.ended()
        }()
        await released.wait()
    }

    @Test func whileADependentRuns_cancelsItToo_andEndsAfterIt() async {
        let log = Log<String>()
        let deaf = Gate("dependent", isDeaf: true)
        let unstarted = Gate("unstarted")
        let operation = Step { log.append("executed") }
            .conditions(Rule(after: { deaf }), Rule(after: { unstarted }), Rule(.success) { log.append("evaluated") })
        queue.addOperation(operation)
        await deaf.started.wait()
        operation.cancel()
        #expect(operation.outcome?.isCancelled == true, "the outcome is decided at once")
        #expect(!operation.isEnded, "a part of it still runs")
        #expect(deaf.outcome?.isCancelled == true)
        deaf.open()
        await operation.ended()
        await unstarted.ended()
        #expect(unstarted.outcome?.isCancelled == true)
        #expect(log.entries.isEmpty)
    }

    @Test func whileADependentOfSomebodyElseRuns_doesNotWaitForIt() async {
        let gate = Gate("somebody else's", isDeaf: true)
        AOperationQueue().addOperation(gate)
        await gate.started.wait()
        let operation = Step().conditions(Rule(after: { gate }))
        queue.addOperation(operation)
        await queue.settled()
        operation.cancel()
        await operation.ended()
        #expect(gate.outcome == nil, "it is not the operation's own")
        gate.open()
    }

    @Test func whileWaitingForALock_endsAtOnce_andThoseBehindGoOn() async {
        let key = freshKey()
        let holder = Gate().exclusive(key)
        let waiting = Step("waiting").exclusive(key)
        let behind = Step("behind").exclusive(key)
        let other = AOperationQueue(slots: 1)
        other.addOperation(holder)
        await holder.started.wait()
        queue.addOperations([waiting, behind], waitUntilFinished: false)
        await queue.settled()
        waiting.cancel()
        await waiting.ended()
        #expect(waiting.outcome?.isCancelled == true)
        #expect(behind.outcome == nil)
        holder.open()
        await behind.ended()
        #expect(behind.outcome?.isSuccess == true)
    }

    @Test func whileWaitingToBeAskedAgain_endsAtOnce() async {
        let operation = Step().conditions(Rule(.retry(after: .seconds(3_600), because: "never")))
        queue.addOperation(operation)
        await queue.settled()
        operation.cancel()
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
    }

    @Test func afterTheEvaluation_beforeTheStart_doesNotExecute() async {
        let log = Log<String>()
        let question = Question()
        let gate = Gate()
        let operation = Step { log.append("executed") }.conditions(question)
        queue.addOperations([operation, gate], waitUntilFinished: false)
        await gate.started.wait()
        question.answer(.success)
        operation.cancel()
        gate.open()
        await operation.ended()
        await queue.idle()
        #expect(log.entries.isEmpty)
    }

    @Test func cancelAllOperations_endsAllStages() async {
        let queue = AOperationQueue(slots: 2)
        let key = freshKey()
        let (question, locked) = (Question(), Question())
        let (gate, dependent) = (Gate(), Gate())
        let operations = [
            Step().conditions(question), Step().exclusive(key).conditions(locked), Step().exclusive(key),
            Step().conditions(Rule(after: { dependent })), Step().conditions(Rule(.retry(after: .seconds(3_600), because: ""))), gate,
            Step(),
        ]
        queue.addOperations(Array(operations[..<2]), waitUntilFinished: false)
        await question.asked.wait()
        await locked.asked.wait()  // it has the lock
        queue.addOperations(Array(operations[2..<6]), waitUntilFinished: false)
        await gate.started.wait()
        await dependent.started.wait()  // all slots are taken
        queue.addOperations(Array(operations[6...]), waitUntilFinished: false)
        queue.cancelAllOperations()
        for operation in operations { await operation.ended() }
        #expect(operations.map { $0.outcome?.isCancelled } == Array(repeating: true, count: operations.count))
        let after = Step().exclusive(key)
        await queue.run(all: [after])
        #expect(after.outcome?.isSuccess == true)
    }

    /// Whatever wins, there is one end, nothing executes after it, and nothing is stuck.
    @Test(arguments: 0..<4)
    func racesWithEveryStage_endOnce(kind: Int) async {
        let key = freshKey()
        let wide = AOperationQueue(slots: 3)
        for round in 0..<Load.rounds(300) {
            let ends = Gauge()
            let operation = Step("\(kind).\(round)")
            switch kind {
            case 0: operation.conditions(Rule { _, answer in DispatchQueue.global().async { answer(.success) } })
            case 1: operation.exclusive(key)
            case 2: operation.conditions(Rule(after: { Step("dependent") })).exclusive(key)
            default: operation.conditions(Rule { _, answer in DispatchQueue.global().async { answer(.failed("no")) } })
            }
            operation.observers(BlockObserver(finishHandler: { _, _ in ends.enter() }))
            wide.addOperations([Step().exclusive(key), operation, Step().exclusive(key)], waitUntilFinished: false)
            DispatchQueue.global().async { operation.cancel() }
            await operation.ended()
            #expect(ends.most == 1)
        }
        await wide.idle()
        #expect(wide.operationCount == 0)
    }
}
