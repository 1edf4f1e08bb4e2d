import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct RetryOnFailureTests {
    let queue = AOperationQueue()

    @Test func handler_isGivenTheNumberOfRetries_fromZero_andTheError() async {
        let asked = Log<String>()
        let operation = Attempted(.failing("a", 3)).retryOnFailure { retries, error, retry in
            asked.append("\(retries) \(error.localizedDescription) \(error.publisher ?? "-") \(error.state)")
            retry(true)
        }
        let heard = Log<String>()
        operation.didFinish { heard.append("\($0)") }.add(to: queue)
        await operation.ended()
        await callbacksDelivered()
        #expect(asked.entries == ["0 a 1 a execution", "1 a 2 a execution", "2 a 3 a execution"])
        #expect(heard.entries == ["success(\"a\")"])
        #expect(operation.outcome?.value == "a")
    }

    @Test func no_letsTheOperationFailWithTheLastError() async {
        let operation = Attempted(.failing("a", .max)).retryOnFailure { retries, _, retry in retry(retries < 2) }
        let heard = Log<String>()
        operation.didFinish { heard.append($0.error?.localizedDescription ?? "success") }.add(to: queue)
        await operation.ended()
        await callbacksDelivered()
        #expect(heard.entries == ["a 3"])
        #expect(operation.outcome?.errors.count == 1)
    }

    @Test func decision_mayComeLater_fromAnyThread() async {
        let operation = Attempted(.failing("a", 2)).retryOnFailure { _, _, retry in
            DispatchQueue.global().async { retry(true) }
        }
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func operation_isOpen_whileTheDecisionIs() async {
        let asked = Signal()
        let decisions = Log<Retry>()
        let operation = Attempted(.failing("a", 1)).retryOnFailure { _, _, retry in
            decisions.append(retry)
            asked.fire()
        }
        operation.add(to: queue)
        await asked.wait()
        #expect(operation.isExecuting)
        #expect(!operation.isFinished)
        #expect(operation.outcome == nil)
        #expect(operation.result == nil)
        #expect(operation.publishedErrors.isEmpty)
        decisions.entries.first?(true)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    /// (first decision, second one, runs)
    @Test(arguments: [(true, true, 2), (true, false, 2), (false, true, 1), (false, false, 1)], [false, true])
    func secondDecisionOnOneAttempt_isIgnored(decisions: (Bool, Bool, Int), isLate: Bool) async {
        let script = Script.failing("a", 1)
        let kept = Log<Retry>()
        let operation = Attempted(script).retryOnFailure { _, _, retry in
            kept.append(retry)
            retry(decisions.0)
            if !isLate { retry(decisions.1) }
        }
        operation.add(to: queue)
        await operation.ended()
        if isLate { kept.entries.first?(decisions.1) }
        #expect(script.runs == decisions.2)
        #expect(operation.outcome?.isSuccess == decisions.0)
    }

    /// The decision comes while a job of the trampoline runs: it takes effect later.
    @Test func secondDecision_beforeTheFirstTakesEffect_isIgnored() async {
        let script = Script.failing("a", 1)
        let asked = Signal()
        let kept = Log<Retry>()
        let operation = Attempted(script).retryOnFailure { _, _, retry in
            kept.append(retry)
            asked.fire()
        }
        operation.add(to: queue)
        await asked.wait()
        Trampoline.run {
            kept.entries.first?(true)
            kept.entries.first?(false)
            kept.entries.first?(true)
        }
        await operation.ended()
        #expect(script.runs == 2)
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test(arguments: 0..<50)
    func decisionsFromManyThreads_countOnce(round: Int) async {
        let script = Script.failing("a", 3)
        let operation = Attempted(script).retryOnFailure { _, _, retry in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: 8) { _ in retry(true) }
            }
        }
        await operation.add(to: queue).ended()
        #expect(script.runs == 4)
        #expect(script.made == 3)
    }

    @Test func neverDecided_thenCancelled_ends() async {
        let asked = Signal()
        let kept = Log<Retry>()
        let operation = Attempted(.failing("a", 1)).retryOnFailure { _, _, retry in
            kept.append(retry)
            asked.fire()
        }
        operation.add(to: queue)
        await asked.wait()
        operation.cancel()
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
        kept.entries.first?(true)
        await queue.idle()
        #expect(operation.script.runs == 1)
    }

    @Test func lastHandlerThatWasSet_counts() async {
        let operation = Attempted(.failing("a", 1))
            .retryOnFailure { _, _, retry in retry(false) }
            .retryOnFailure { _, _, retry in retry(true) }
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func handler_isReleasedAtTheEnd() async {
        final class Token: Sendable {}
        weak var token: Token?
        let operation = Attempted(.failing("a", 1))
        do {
            let kept = Token()
            token = kept
            operation.retryOnFailure { _, _, retry in withExtendedLifetime(kept) { retry(true) } }
        }
        await operation.add(to: queue).ended()
        #expect(token == nil)
    }

    @Test func operationAndItsAttempts_areReleased() async {
        final class Owner: Sendable { let objects = Guarded<[Weak]>([]) }
        struct Weak { weak var operation: AOperation? }
        let owner = Owner()
        do {
            let script = Script("a") { run in
                owner.objects.withLock { $0.append(Weak(operation: run.operation)) }
                run.number < 4 ? run.fail() : run.succeed()
            }
            let operation = Attempted(script).retry(RetryPolicy(attempts: 9)).observers(TimeoutObserver(3_600))
            await operation.add(to: queue).ended()
        }
        await queue.idle()
        await callbacksDelivered()
        await until { owner.objects.withLock { $0.allSatisfy { $0.operation == nil } } }
        #expect(owner.objects.withLock { $0.count } == 4)
    }

    @Test func attemptsKeepNamePriorityQualityAndGrace() async {
        struct Setting: Equatable {
            let name: String?
            let priority: Foundation.Operation.QueuePriority
            let quality: QualityOfService
            let grace: Duration
        }
        let seen = Log<Setting>()
        let script = Script("a") { run in
            let operation = run.operation
            seen.append(
                Setting(
                    name: operation.name, priority: operation.queuePriority, quality: operation.qualityOfService,
                    grace: operation.grace))
            run.number == 1 ? run.fail() : run.succeed()
        }
        let operation = Attempted(script).retry(.times(2))
        operation.name = "renamed"
        operation.queuePriority = .high
        operation.qualityOfService = .utility
        operation.grace = .seconds(7)
        await operation.add(to: queue).ended()
        let setting = Setting(name: "renamed", priority: .high, quality: .utility, grace: .seconds(7))
        #expect(seen.entries == [setting, setting])
    }

    @Test func whatAnAttemptProduces_isProducedByTheOperation() async {
        let produced = Step("produced")
        let told = Log<String>()
        let script = Script("a") { run in
            guard run.number > 1 else { return run.fail() }
            run.operation.produce(produced)
            run.succeed()
        }
        let operation = Attempted(script).retry(.times(2))
            .didProduce { told.append("handler \(($0 as? AOperation)?.publisherName ?? "-")") }
            .observers(BlockObserver(produceHandler: { operation, _ in told.append("observer \(operation.publisherName)") }))
        await operation.add(to: queue).ended()
        await produced.ended()
        #expect(told.entries.sorted() == ["handler produced", "observer a"])
        #expect(produced.outcome?.isSuccess == true)
    }

    @Test func newThatReturnsSomethingUsed_letsTheOperationFail() async {
        final class Stale: VoidOperation, RetryableOperation, @unchecked Sendable {
            override func execute() { finish(with: AOperationError(Failed(text: "no"))) }
            func new() -> Self { self }
        }
        let operation = Stale().retry(.times(3))
        await operation.add(to: queue).ended()
        #expect(operation.firstFailure == "no")
    }

    @Test func D9_uniqueOperation_keepsItsIdThroughAllAttempts() async {
        final class Unique: VoidOperation, RetryableOperation, UniqueOperation, @unchecked Sendable {
            let uniqueId: String
            let runs: Log<Int>
            init(_ id: String, _ runs: Log<Int>) {
                uniqueId = id
                self.runs = runs
                super.init()
            }
            override func execute() {
                runs.append(1)
                runs.count < 3 ? finish(with: AOperationError(Failed(text: "no"))) : finish()
            }
            func new() -> Unique { Unique(uniqueId, runs) }
        }
        let id = "\(UUID())"
        let runs = Log<Int>()
        let asked = Signal()
        let kept = Log<Retry>()
        let first = Unique(id, runs).retryOnFailure { retries, _, retry in
            if retries > 0 { return retry(true) }
            kept.append(retry)
            asked.fire()
        }
        first.add(to: queue)
        await asked.wait()
        let second = Unique(id, runs)
        await second.add(to: queue).ended()
        #expect(second.publishedErrors.first?.publishedError is AOperationError.IgnoredDuplicate)
        kept.entries.first?(true)
        await first.ended()
        #expect(first.outcome?.isSuccess == true)
        #expect(runs.count == 3)
        let third = Unique(id, runs)
        await third.add(to: queue).ended()
        #expect(third.outcome?.isSuccess == true, "the id is free again")
    }

    @Test func D12_plainDependency_isNotCancelledWithItsDependent() async {
        let dependency = Gate()
        let second = Attempted(.failing("second", 1))
        second.addDependency(dependency)
        second.add(to: queue)
        await dependency.started.wait()
        second.cancel()
        #expect(!dependency.isCancelled)
        dependency.open()
        await dependency.ended()
        #expect(dependency.outcome?.isSuccess == true)
        #expect(second.outcome?.isCancelled == true)
    }

    @Test func D12_plainDependency_isNotTriedAgainWithItsDependent() async {
        let first = Attempted(.failing("first", 1))
        let second = Attempted(.failing("second", 2)).retry(.times(5))
        second.addDependency(first)
        second.add(to: queue)
        await second.ended()
        #expect(first.firstFailure == "first 1")
        #expect(first.script.runs == 1)
        #expect(second.outcome?.isSuccess == true)
    }
}

extension DebuggerTests.ErrorLineTests {
    @Test func operationThatIsNotRetryable_fails_withAnErrorLine() async {
        let name = "once-\(UUID())"
        let operation = Once(.failing(name, 1)).retryOnFailure { _, _, retry in retry(true) }
        let lines = Log<String>()
        AOperation.Debugger.errorHandler = { lines.append($0) }
        await operation.add(to: AOperationQueue()).ended()
        AOperation.Debugger.errorHandler = nil
        #expect(operation.firstFailure == "\(name) 1")
        #expect(lines.entries.filter { $0.contains(name) && $0.contains("RetryableOperation") }.count == 1)
    }
}
