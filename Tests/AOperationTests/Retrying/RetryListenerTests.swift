import Foundation
import Testing

@testable import AOperation

/// Listeners hear of the operation as a whole, once.
@Suite(.timeLimit(Load.patience))
struct RetryListenerTests {
    let queue = AOperationQueue()

    private final class QueueDelegate: AOperationQueueDelegate, Sendable {
        let lines = Log<String>()
        func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation) {
            lines.append("add \(operation.name ?? "-")")
        }
        func operationQueue(
            _ queue: AOperationQueue, operationDidFinish operation: Foundation.Operation, withErrors errors: [AOperationError]
        ) {
            lines.append("finish \(operation.name ?? "-") \(Hearing.text(errors))")
        }
    }

    @Test(arguments: [(3, ""), (9, "a 5")])
    func D13_delegateObserversAndQueueDelegate_areToldOnce(failures: Int, error: String) async {
        let delegate = QueueDelegate()
        queue.delegate = delegate
        let hearing = Hearing()
        let operation = Attempted(.failing("a", failures)).retry(.times(5))
        hearing.listen(to: operation)
        await operation.add(to: queue).ended()
        await callbacksDelivered()
        #expect(
            hearing.lines.entries == [
                "delegate start", "observer start", "didStart", "observer finish \(error)", "delegate finish \(error)",
                "didFinish \(error.isEmpty ? "success" : error)",
            ])
        #expect(delegate.lines.entries == ["add a", "finish a \(error)"])
        // Foundation takes it out of its list on a thread of its own.
        await queue.idle()
        #expect(queue.operations.isEmpty)
        withExtendedLifetime((delegate, hearing)) {}
    }

    @Test func willFinish_isToldOfTheFinalResultOnly() async {
        for (failures, expected) in [(2, "success(\"a\")"), (9, "a 3")] {
            let told = Log<String>()
            let operation = Attempted(.failing("a", failures)).retry(.times(3)).willFinish { result, finish in
                told.append(result.error?.localizedDescription ?? "\(result)")
                DispatchQueue.global().async { finish() }
            }
            await operation.add(to: queue).ended()
            #expect(told.entries == [expected])
            #expect(operation.outcome?.isSuccess == (failures == 2))
        }
    }

    @Test func willFinish_isNotToldOfAFailedCondition_alsoAfterRetries() async {
        let told = Log<String>()
        let operation = Attempted(.failing("a", 0)).retry(.times(3))
            .condition { $0(.failure(AOperationError(Failed(text: "condition")))) }
            .willFinish { result, finish in
                told.append("\(result)")
                finish()
            }
        await operation.add(to: queue).ended()
        #expect(operation.firstFailure == "condition")
        #expect(told.entries.isEmpty)
    }

    @Test func willFinish_afterARetry_isEndedByACancellation() async {
        let asked = Signal()
        let operation = Attempted(.failing("a", 1)).retry(.times(3)).willFinish { _, _ in asked.fire() }
        operation.add(to: queue)
        await asked.wait()
        operation.cancel()
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
    }

    /// The first attempt fails because of its condition: it never starts.
    @Test func start_isToldOnce_whenTheFirstAttemptThatStartsDoes() async {
        let hearing = Hearing()
        let evaluations = Log<Int>()
        let operation = Attempted(.failing("a", 1)).retry(.times(5)).condition { completion in
            evaluations.append(1)
            completion(evaluations.count < 3 ? .failure(AOperationError(Failed(text: "not yet"))) : .success)
        }
        hearing.listen(to: operation)
        await operation.add(to: queue).ended()
        await callbacksDelivered()
        #expect(operation.outcome?.isSuccess == true)
        #expect(operation.script.runs == 2)
        #expect(
            hearing.lines.entries == [
                "delegate start", "observer start", "didStart", "observer finish ", "delegate finish ", "didFinish success",
            ])
        withExtendedLifetime(hearing) {}
    }

    @Test func operationWhoseAttemptsNeverStart_isNotToldToHaveStarted() async {
        let hearing = Hearing()
        let operation = Attempted(.failing("a", 0)).retry(.times(3))
            .condition { $0(.failure(AOperationError(Failed(text: "no")))) }
        hearing.listen(to: operation)
        await operation.add(to: queue).ended()
        await callbacksDelivered()
        #expect(hearing.lines.entries == ["observer finish no", "delegate finish no", "didFinish no"])
        withExtendedLifetime(hearing) {}
    }

    /// What an initializer adds, each attempt would have too.
    @Test func listenersThatTheInitializerAdds_areToldOnceToo() async {
        final class Talkative: ResultableOperation<Int>, RetryableOperation, @unchecked Sendable {
            let lines: Log<String>
            init(_ lines: Log<String>) {
                self.lines = lines
                super.init()
                observers(BlockObserver(startHandler: { _ in lines.append("start") }, finishHandler: { _, _ in lines.append("finish") }))
                didStart { lines.append("didStart") }
                didFinish { _ in lines.append("didFinish") }
                willFinish { _, finish in
                    lines.append("willFinish")
                    finish()
                }
            }
            override func execute() {
                lines.append("run")
                let runs = lines.entries.filter { $0 == "run" }.count
                finish(with: runs < 3 ? .failure(AOperationError(Failed(text: "no"))) : .success(runs))
            }
            func new() -> Talkative { Talkative(lines) }
        }
        let lines = Log<String>()
        let operation = Talkative(lines).retry(.times(5))
        await operation.add(to: queue).ended()
        await callbacksDelivered()
        #expect(operation.outcome?.value == 3)
        #expect(lines.entries == ["start", "didStart", "run", "run", "run", "willFinish", "finish", "didFinish"])
    }

    @Test func cancellation_isToldOnce_whileAnotherAttemptRuns() async {
        let running = Signal()
        let hearing = Hearing()
        let script = Script("a") { run in run.number == 1 ? run.fail() : running.fire() }
        let operation = Attempted(script).retry(.times(3))
        operation.grace = .milliseconds(20)
        hearing.listen(to: operation)
        operation.add(to: queue)
        await running.wait()
        operation.cancel()
        await operation.ended()
        await callbacksDelivered()
        let text = "The Operation a is Cancelled"
        #expect(
            hearing.lines.entries == [
                "delegate start", "observer start", "didStart", "observer cancel", "observer finish \(text)",
                "delegate finish \(text)", "didFinish \(text)",
            ])
        withExtendedLifetime(hearing) {}
    }
}
