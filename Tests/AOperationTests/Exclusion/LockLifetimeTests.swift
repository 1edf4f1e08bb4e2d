import Foundation
import Testing

@testable import AOperation

/// From when to when a lock is held.
@Suite(.timeLimit(Load.patience))
struct LockLifetimeTests {
    let key = freshKey()
    let queue = AOperationQueue()
    let serial = AOperationQueue(slots: 1)

    /// A rival that waits for the lock; returns when it has asked.
    private func rival() async -> Step {
        let rival = Step("rival").exclusive(key)
        serial.addOperation(rival)
        await serial.settled()
        return rival
    }

    @Test func heldFromBeforeTheDependent_throughTheEvaluation_toTheEnd() async {
        let dependent = Gate("dependent")
        let question = Question()
        let operation = Gate().exclusive(key).conditions(Rule(after: { dependent }), question)
        queue.addOperation(operation)
        await dependent.started.wait()
        let rival = await rival()
        #expect(rival.outcome == nil)
        dependent.open()
        await question.asked.wait()
        await serial.settled()
        #expect(rival.outcome == nil)
        question.answer(.success)
        await operation.started.wait()
        await serial.settled()
        #expect(rival.outcome == nil)
        operation.open()
        await rival.ended()
    }

    @Test func releasedWhenTheConditionFails_orIsIgnored_orTheDependentFails() async {
        let failing = Step().exclusive(key).conditions(Rule(.failed("no")))
        let ignored = Step().exclusive(key).conditions(Rule(.ignored))
        let dependent = Step().exclusive(key).conditions(Rule(after: { Failing<Int>("no") }))
        await queue.run(all: [failing, ignored, dependent])
        await serial.run(all: [Step().exclusive(key)])
    }

    @Test func heldUntilTheBodyEnds_afterACancellation() async {
        let deaf = Gate(isDeaf: true).exclusive(key)
        queue.addOperation(deaf)
        await deaf.started.wait()
        let rival = await rival()
        deaf.cancel()
        await serial.settled()
        #expect(deaf.outcome?.isCancelled == true)
        #expect(rival.outcome == nil)
        deaf.open()
        await rival.ended()
        #expect(rival.outcome?.isSuccess == true)
    }

    @Test func heldWhileWillFinishHoldsBack() async {
        let held = Signal()
        let letGo = Guarded<(@Sendable () -> Void)?>(nil)
        let operation = Step().exclusive(key).willFinish { _, finish in
            letGo.withLock { $0 = finish }
            held.fire()
        }
        queue.addOperation(operation)
        await held.wait()
        let rival = await rival()
        #expect(rival.outcome == nil)
        letGo.withLock { $0 }?()
        await rival.ended()
    }

    final class Attempt: VoidOperation, RetryableOperation, @unchecked Sendable {
        let log: Log<String>
        let failures: Int
        init(_ log: Log<String>, failures: Int) {
            self.log = log
            self.failures = failures
            super.init()
        }
        override func execute() {
            log.append("attempt")
            let count = log.entries.count { $0 == "attempt" }
            finish(count <= failures ? AOperationError(Failed(text: "\(count)")) : nil)
        }
        func new() -> Self { Self(log: log, failures: failures) }
        required convenience init(log: Log<String>, failures: Int) { self.init(log, failures: failures) }
    }

    @Test func heldThroughAllAttempts_conditionsAreEvaluatedAnewForEach() async {
        let log = Log<String>()
        let operation = Attempt(log, failures: 3)
            .exclusive(key)
            .conditions(
                Rule(
                    dependent: { _ in Step { log.append("dependent") } },
                    evaluation: { _, answer in
                        log.append("evaluated")
                        answer(.success)
                    })
            )
            .retryOnFailure { _, _, retry in
                let rival = Step { log.append("rival") }.exclusive(key)
                serial.addOperation(rival)
                let marker = Step("marker")
                serial.addOperation(marker)
                marker.onEnd { _ in retry(true) }
            }
        await queue.run(all: [operation])
        await serial.idle()
        let attempt = ["dependent", "evaluated", "attempt"]
        #expect(log.entries == attempt + attempt + attempt + attempt + ["rival", "rival", "rival"])
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func conditionThatFails_isEvaluatedAnew_forAnotherAttempt_underTheSameLock() async {
        let log = Log<String>()
        let gauge = Gauge()
        let operation = Attempt(log, failures: 0)
            .exclusive(key)
            .conditions(
                Rule { _, answer in
                    log.append("evaluated")
                    answer(log.count < 3 ? .failed("not yet") : .success)
                }
            )
            .retry(RetryPolicy(attempts: 5))
        operation.add(to: queue)
        for _ in 0..<20 { LockTests.worker(gauge, key).add(to: queue) }
        await queue.idle()
        #expect(log.entries == ["evaluated", "evaluated", "evaluated", "attempt"])
        #expect(gauge.most == 1)
    }

    @Test func cancelledWhileItWaitsForAnotherAttempt_releases() async {
        let asked = Signal()
        let operation = Attempt(Log(), failures: 9).exclusive(key).retryOnFailure { _, _, _ in asked.fire() }
        queue.addOperation(operation)
        await asked.wait()
        let rival = await rival()
        #expect(rival.outcome == nil)
        operation.cancel()
        await rival.ended()
    }

    /// An operation on a suspended queue holds no lock: it could not be started.
    @Test func D33_suspendedQueue_asksForNothing() async {
        queue.isSuspended = true
        let waiting = Step().exclusive(key)
        queue.addOperation(waiting)
        await serial.run(all: [Step().exclusive(key)])
        queue.isSuspended = false
        await waiting.ended()
    }

    @Test func D33_lockIsGivenBack_whenTheQueueIsSuspendedBeforeTheStart() async {
        let gate = Gate()
        let log = Log<String>()
        let operation = Step { log.append("operation") }.exclusive(key).conditions(Rule(.success) { log.append("evaluated") })
        let holder = Gate().exclusive(key)
        queue.addOperation(holder)
        await holder.started.wait()
        serial.addOperations([operation, gate], waitUntilFinished: false)
        await gate.started.wait()
        holder.open()  // the operation gets the lock; its slot is taken
        await holder.ended()
        await until { log.entries.contains("evaluated") }
        serial.isSuspended = true
        await queue.run(all: [Step { log.append("other") }.exclusive(key)])
        serial.isSuspended = false
        gate.open()
        await operation.ended()
        #expect(log.entries == ["evaluated", "other", "evaluated", "operation"])
    }

    @Test func D33_lockIsGivenBack_whileConditionsAreEvaluated() async {
        let question = Question()
        let operation = Step().exclusive(key).conditions(question)
        serial.addOperation(operation)
        await question.asked.wait()
        serial.isSuspended = true
        await queue.run(all: [Step().exclusive(key)])
        question.answer(.failed("of no interest any more"))
        serial.isSuspended = false
        await serial.settled()
        #expect(question.count == 2)
        question.answer(.success)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func D33_waitingForTheLock_onAQueueThatIsSuspended_doesNotGetIt() async {
        let holder = Gate().exclusive(key)
        queue.addOperation(holder)
        await holder.started.wait()
        let waiting = Step().exclusive(key)
        let group = GroupOperation(Step().exclusive(key))
        serial.addOperations([waiting, group], waitUntilFinished: false)
        await serial.settled()
        serial.isSuspended = true
        holder.open()
        await queue.run(all: [Step().exclusive(key), Step().exclusive(key)])
        #expect(waiting.outcome == nil && group.outcome == nil)
        serial.isSuspended = false
        await waiting.ended()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func D33_queueWithoutSlots_holdsNoLock() async {
        let question = Question()
        let operation = Step().exclusive(key).conditions(question)
        serial.addOperation(operation)
        await question.asked.wait()
        serial.maxConcurrentOperationCount = 0
        await queue.run(all: [Step().exclusive(key)])
        serial.maxConcurrentOperationCount = 1
        await serial.settled()
        question.answer(.success)
        await operation.ended()
    }

    @Test func suspendedAndResumed_atRandom_losesNoOperation() async {
        let gauge = Gauge()
        let queues = [AOperationQueue(slots: 2), AOperationQueue()]
        for index in 0..<600 {
            let operation = LockTests.worker(gauge, key)
            if index.isMultiple(of: 3) { operation.conditions(Rule { _, answer in DispatchQueue.global().async { answer(.success) } }) }
            if index.isMultiple(of: 5) {
                GroupOperation(operation).add(to: queues[index % 2])
            } else {
                operation.add(to: queues[index % 2])
            }
        }
        await onThread {
            for round in 0..<400 { queues[round % 2].isSuspended.toggle() }
            for queue in queues { queue.isSuspended = false }
        }
        for queue in queues { await queue.idle() }
        #expect(gauge.most == 1)
    }

    @Test func nothingIsLeft_whenTheOperationHasEnded_orWasWithdrawn() async {
        let released = Signal()
        let holder = Gate().exclusive(key)
        queue.addOperation(holder)
        await holder.started.wait()
        await {
            let tracer = Tracer(released)
            let waiting = Step { _ = tracer }.exclusive(key).conditions(
                Rule { _, answer in withExtendedLifetime(tracer) { answer(.success) } })
            serial.addOperation(waiting)
            await serial.settled()
            waiting.cancel()
            await waiting.ended()
        }()
        await serial.idle()
        await released.wait()  // although the lock is held, and was waited for
        holder.open()
        await holder.ended()
        #expect(!LockTable.shared.knows(key))
    }
}

/// Beyond the grace; the error handler is the process's.
extension DebuggerTests.ErrorLineTests {
    @Test func deafBody_losesItsLocksAfterGrace_withAnErrorLine() async {
        let key = freshKey()
        let queue = AOperationQueue()
        let deaf = Gate("deaf-\(UUID())", isDeaf: true).exclusive(key)
        deaf.grace = .milliseconds(20)
        queue.addOperation(deaf)
        await deaf.started.wait()
        let next = Step().exclusive(key)
        queue.addOperation(next)
        let lines = Log<String>()
        AOperation.Debugger.errorHandler = { lines.append($0) }
        deaf.cancel()
        await next.ended()
        AOperation.Debugger.errorHandler = nil
        #expect(lines.entries.contains { $0.contains(deaf.publisherName) })
        #expect(next.outcome?.isSuccess == true)
        deaf.open()
    }
}
