import Foundation
import Testing

@testable import AOperation

/// Another attempt waits for the end of the body before it.
@Suite(.timeLimit(Load.patience))
struct RetryBodyTests {
    let queue = AOperationQueue()
    /// Longer than a busy machine keeps a test waiting.
    let longGrace = Duration.seconds(3_600)

    /// Bodies that end when they are told to.
    private final class Bodies: Sendable {
        let started = Log<Script.Run>()
        func begun(_ count: Int) async { await until { [started] in started.count >= count } }
        func end(_ number: Int) { started.entries[number - 1].succeed() }
        var script: Script { Script("a") { [started] run in started.append(run) } }
    }

    @Test func timedOutBodyThatIsDeaf_holdsTheNextAttemptBack() async {
        let bodies = Bodies()
        let asked = Log<Int>()
        let isCancelledLater = Log<Bool>()
        let script = Script("a") { run in
            bodies.started.append(run)
            guard run.number > 1 else { return }
            isCancelledLater.append(run.operation.isCancelled)
            run.succeed()
        }
        let operation = Attempted(script).observers(TimeoutObserver(0.01)).retryOnFailure { retries, _, retry in
            asked.append(retries)
            retry(retries < 50)
        }
        operation.grace = longGrace
        operation.add(to: queue)
        await until { asked.count == 1 }
        #expect(bodies.started.count == 1)
        #expect(operation.isCancelled, "the body is to stop")
        #expect(operation.outcome == nil)
        bodies.end(1)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
        #expect(isCancelledLater.entries.last == false)
    }

    @Test func bodyThatStaysDeaf_isGivenUpAfterGrace_andItsLateResultIgnored() async {
        let bodies = Bodies()
        let wasOpen = Log<Bool>()
        let operations = Log<AOperation>()
        let script = Script("a") { run in
            bodies.started.append(run)
            guard run.number > 1 else { return }
            if run.number == 2 {
                bodies.end(1)
                wasOpen.append(!operations.entries[0].isFinished)
            }
            run.succeed()
        }
        let operation = Attempted(script).observers(TimeoutObserver(0.01)).retry(.times(50))
        operations.append(operation)
        operation.grace = .milliseconds(20)
        operation.add(to: queue)
        await operation.ended()
        #expect(wasOpen.entries == [true], "the first body's late result counts for nothing")
        #expect(operation.outcome?.isSuccess == true)
    }

    /// Attempts that are given up one after the other.
    @Test func everyAttemptMayBeGivenUp_andNoneCountsLate() async {
        let bodies = Bodies()
        let hearing = Hearing()
        let operation = Attempted(bodies.script).observers(TimeoutObserver(0.02)).retry(.times(4))
        operation.grace = .milliseconds(20)
        hearing.listen(to: operation)
        operation.add(to: queue)
        await operation.ended()
        #expect(operation.core.withLock { $0.retries } == 3)
        #expect(operation.publishedErrors.first?.publishedError is TimeoutObserver.Error)
        // On a busy machine an attempt may time out before its body has begun.
        for number in 0..<bodies.started.count { bodies.end(number + 1) }
        await callbacksDelivered()
        #expect(operation.outcome?.isFailure == true)
        #expect(hearing.heard("didFinish").count == 1)
        withExtendedLifetime(hearing) {}
    }

    /// The grace of an earlier body says nothing about a later one.
    @Test func graceOfOneBody_doesNotEndTheNext() async {
        let bodies = Bodies()
        let first = AttemptedByHand(bodies.started).observers(TimeoutObserver(0.02)).retry(.times(50))
        first.grace = .milliseconds(60)
        first.add(to: queue)
        await bodies.begun(1)
        await until { bodies.started.entries[0].operation.isCancelled }
        bodies.end(1)  // in time
        await bodies.begun(2)
        await until { bodies.started.entries[1].operation.isCancelled }
        // The first body's grace would have been over here; the second one's has just begun.
        let secondIsOver = Signal()
        bodies.started.entries[1].operation.onEnd { _ in secondIsOver.fire() }
        await bodies.begun(3)
        #expect(secondIsOver.hasFired, "the third attempt waited for the second one's body")
        await first.ended()
        #expect(first.outcome?.isSuccess == true)
    }

    private final class AttemptedByHand: ResultableOperation<String>, RetryableOperation, ScriptedOperation, @unchecked Sendable {
        let started: Log<Script.Run>
        init(_ started: Log<Script.Run>) {
            self.started = started
            super.init()
        }
        override func execute() {
            started.append(Script.Run(operation: self, number: started.count + 1, received: nil))
            if started.count > 2 { succeed() }
        }
        func succeed() { finish(with: .success("")) }
        func fail(_ error: AOperationError) { finish(with: .failure(error)) }
        func new() -> AttemptedByHand { AttemptedByHand(started) }
    }

    @Test func lastAttemptThatTimesOut_isTheOutcomeAtOnce_andTheSlotWaitsForItsBody() async {
        queue.maxConcurrentOperationCount = 1
        let bodies = Bodies()
        let operation = Attempted(bodies.script).observers(TimeoutObserver(0.01)).retry(.times(2))
        operation.grace = longGrace
        operation.add(to: queue)
        await bodies.begun(1)
        await until { operation.isCancelled }
        bodies.end(1)
        await bodies.begun(2)
        let next = Step()
        next.add(to: queue)
        await until { operation.isFinished }
        #expect(operation.publishedErrors.first?.publishedError is TimeoutObserver.Error)
        #expect(!operation.isEnded)
        #expect(next.outcome == nil)
        bodies.end(2)
        await next.ended()
        #expect(operation.isEnded)
    }

    @Test func cancelledBodyOfALaterAttempt_keepsTheOperationFromEnding() async {
        let bodies = Bodies()
        let script = Script("a") { run in
            bodies.started.append(run)
            if run.number == 1 { run.fail() }
        }
        let operation = Attempted(script).retry(.times(3))
        operation.add(to: queue)
        await bodies.begun(2)
        operation.cancel()
        #expect(operation.outcome?.isCancelled == true)
        #expect(operation.isFinished)
        #expect(!operation.isEnded)
        bodies.end(2)
        await operation.ended()
    }
}
