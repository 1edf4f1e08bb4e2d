import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct RetryCancellationTests {
    let queue = AOperationQueue()

    @Test func cancelledOperation_isNotTriedAgain() async {
        let asked = Log<Int>()
        let gate = Signal()
        let script = Script("a") { _ in gate.fire() }
        let operation = Attempted(script).retryOnFailure { _, _, retry in
            asked.append(1)
            retry(true)
        }
        operation.grace = .milliseconds(10)
        operation.add(to: queue)
        await gate.wait()
        operation.cancel()
        await operation.ended()
        #expect(asked.entries.isEmpty)
        #expect(script.runs == 1)
        #expect(operation.outcome?.isCancelled == true)
    }

    @Test func cancelWhileItWaitsForTheNextAttempt_endsItAtOnce() async {
        let asked = Signal()
        let operation = Attempted(.failing("a", 9)).retry(
            RetryPolicy(attempts: 3, backoff: .constant(.seconds(3_600))) { _ in
                asked.fire()
                return true
            })
        operation.add(to: queue)
        await asked.wait()
        operation.cancel()
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
        await queue.idle()
    }

    @Test func cancelWhileTheSecondAttemptRuns_reachesItsBody() async {
        final class Waiting: VoidOperation, RetryableOperation, @unchecked Sendable {
            let log: Log<String>
            let isRunning: Signal
            init(_ log: Log<String>, _ isRunning: Signal) {
                self.log = log
                self.isRunning = isRunning
                super.init()
            }
            override func execute() {
                log.append("run")
                guard log.count > 1 else { return finish(with: AOperationError(Failed(text: "no"))) }
                isRunning.fire()
            }
            override func cancel() {
                super.cancel()
                guard isRunning.hasFired, isExecuting || isFinished else { return }
                log.append("cancelled \(isCancelled)")
                finish()
            }
            func new() -> Waiting { Waiting(log, isRunning) }
        }
        let log = Log<String>()
        let running = Signal()
        let operation = Waiting(log, running).retry(.times(5))
        operation.add(to: queue)
        await running.wait()
        operation.cancel()
        #expect(operation.outcome?.isCancelled == true)
        await operation.ended()
        #expect(log.entries.prefix(2) == ["run", "run"])
        #expect(log.entries.dropFirst(2).allSatisfy { $0 == "cancelled true" } && log.count == 4)
    }

    @Test func attemptThatCancelsItself_cancelsTheOperation() async {
        let script = Script("a") { run in
            guard run.number > 1 else { return run.fail() }
            run.operation.cancel()
            run.succeed()
        }
        let operation = Attempted(script).retry(.times(5))
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.isCancelled == true)
        #expect(operation.isCancelled)
        #expect(script.runs == 2)
    }

    @Test func conditionThatIgnores_cancelsTheSecondAttemptToo() async {
        let evaluations = Log<Int>()
        let operation = Attempted(.failing("a", 1)).retry(.times(5)).condition { completion in
            evaluations.append(1)
            completion(evaluations.count == 1 ? .success : .ignored)
        }
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.isCancelled == true)
        #expect(evaluations.count == 2)
    }

    @Test func cancelAllOperations_endsWhatIsTriedAgain() async {
        let asked = Log<Int>()
        for _ in 0..<20 {
            let operation = Attempted(.failing("a", .max)).retryOnFailure { _, _, retry in
                asked.append(1)
                DispatchQueue.global().async { retry(true) }
            }
            operation.add(to: queue)
        }
        await until { asked.count > 100 }
        queue.cancelAllOperations()
        await queue.idle()
    }

    /// Cancelled after any number of steps of its way: one outcome, told once, nothing left.
    @Test(arguments: 0..<8)
    func cancelAtEveryMoment_leadsToOneOutcome(part: Int) async {
        for step in 0..<Load.rounds(150) {
            let hearing = Hearing()
            let script = Script("a") { run in
                run.number.isMultiple(of: 2)
                    ? DispatchQueue.global().async { run.number < 6 ? run.fail() : run.succeed() }
                    : run.fail()
            }
            let operation = Attempted(script).retryOnFailure { retries, _, retry in
                retries.isMultiple(of: 2) ? retry(true) : DispatchQueue.global().async { retry(true) }
            }
            operation.condition { completion in
                part.isMultiple(of: 2) ? completion(.success) : DispatchQueue.global().async { completion(.success) }
            }
            if part >= 4 { operation.observers(TimeoutObserver(0.000_1 * Double(step % 7 + 1))) }
            hearing.listen(to: operation)
            operation.add(to: queue)
            await onThread {
                for _ in 0..<(step * step / 2) where operation.isFinished { break }
                operation.cancel()
            }
            await operation.ended()
            await callbacksDelivered()
            let context = "part \(part), step \(step): \(hearing.lines.entries)"
            #expect(hearing.heard("didFinish").count == 1, "\(context)")
            #expect(hearing.heard("observer finish").count == 1, "\(context)")
            #expect(hearing.heard("delegate finish").count == 1, "\(context)")
            #expect(hearing.heard("observer start").count <= 1, "\(context)")
            #expect(operation.outcome?.isCancelled == operation.isCancelled, "\(context)")
            withExtendedLifetime(hearing) {}
        }
        await queue.idle()
    }
}
