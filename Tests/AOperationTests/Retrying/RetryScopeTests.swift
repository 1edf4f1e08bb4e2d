import Foundation
import Testing

@testable import AOperation

/// A retry policy at the end of a delivery net has what failed above it tried again.
@Suite(.timeLimit(.minutes(1)))
struct RetryScopeTests {
    let queue = AOperationQueue()

    /// a → b → c.
    private struct Chain {
        let first: Attempted
        let middle: Attempted
        let last: Attempted
        let hearings: [Hearing]

        init(_ first: Int, _ middle: Int, _ last: Int) {
            self.init(.failing("A", first), .failing("B", middle), .failing("C", last))
        }

        init(_ first: Script, _ middle: Script, _ last: Script) {
            self.first = Attempted(first)
            self.middle = Attempted(middle)
            self.last = self.first.deliver(to: self.middle).deliver(to: Attempted(last))
            hearings = [Hearing(), Hearing(), Hearing()]
            for (operation, hearing) in zip([self.first, self.middle, self.last], hearings) { hearing.listen(to: operation) }
        }

        var operations: [Attempted] { [first, middle, last] }
        var runs: [Int] { operations.map(\.script.runs) }
        var ends: [[String]] { hearings.map { $0.heard("didFinish") } }
        func ended() async {
            for operation in operations { await operation.ended() }
            await callbacksDelivered()
        }
    }

    @Test func headFailsTwice_tailRetries_everyListenerHearsOnce() async {
        let chain = Chain(2, 0, 0)
        let asked = Log<String>()
        chain.last.retryOnFailure { retries, error, retry in
            asked.append("\(retries) \(error.localizedDescription) of \(error.publisher ?? "-")")
            retry(true)
        }
        chain.last.add(to: queue)
        await chain.ended()
        #expect(asked.entries == ["0 A 1 of A", "1 A 2 of A"])
        #expect(chain.runs == [3, 3, 3])
        #expect(chain.ends == Array(repeating: ["didFinish success"], count: 3))
        for hearing in chain.hearings {
            #expect(hearing.lines.count == 6)
            #expect(hearing.heard("observer start").count == 1)
            #expect(hearing.heard("observer finish") == ["observer finish "])
            #expect(hearing.heard("delegate finish") == ["delegate finish "])
        }
        #expect(chain.operations.allSatisfy { $0.outcome?.isSuccess == true })
    }

    /// What the reference shows of a chain whose links fail one after the other.
    @Test func everyLinkFailsOnce_theErrorsNameTheFailedOne_andSuccessesAreKept() async {
        let chain = Chain(1, 1, 1)
        let publishers = Log<String?>()
        chain.last.retryOnFailure { _, error, retry in
            publishers.append(error.publisher)
            retry(true)
        }
        chain.last.add(to: queue)
        await chain.ended()
        #expect(publishers.entries == ["A", "B", "C"])
        #expect(chain.runs == [2, 3, 4])
        #expect(chain.ends == Array(repeating: ["didFinish success"], count: 3))
    }

    @Test func middleFails_theSuccessAboveItIsKept_andToldAtOnce() async {
        let chain = Chain(0, 1, 0)
        let kept = Log<Retry>()
        let asked = Signal()
        chain.last.retryOnFailure { _, _, retry in
            kept.append(retry)
            asked.fire()
        }
        chain.last.add(to: queue)
        await asked.wait()
        await chain.first.ended()
        #expect(chain.first.outcome?.isSuccess == true)
        #expect(chain.middle.outcome == nil)
        #expect(chain.last.outcome == nil)
        kept.entries.first?(true)
        await chain.ended()
        #expect(chain.runs == [1, 2, 2])
        #expect(chain.last.outcome?.isSuccess == true)
    }

    @Test func retriedReceiver_isGivenTheSameValueAgain() async {
        let received = Log<String>()
        final class Receiving: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
            var receivedValue: Result<String, AOperationError>?
            let log: Log<String>
            init(_ log: Log<String>) {
                self.log = log
                super.init()
            }
            override func execute() {
                log.append("\(receivedValue.map { "\($0)" } ?? "nil")")
                finish(with: log.count < 3 ? .failure(AOperationError(Failed(text: "no"))) : .success(1))
            }
            func new() -> Receiving { Receiving(log) }
        }
        let value = Attempted(.failing("v", 0))
        let tail = value.deliver(to: Receiving(received)).retry(.times(5))
        await tail.add(to: queue).ended()
        #expect(received.entries == Array(repeating: "success(\"v\")", count: 3))
        #expect(value.script.runs == 1)
    }

    /// Without a retry at its end a producer with a policy of its own delivers its final outcome.
    @Test func receiverWaitsForTheFinalOutcomeOfItsProducer() async throws {
        let log = Log<String>()
        let producer = Attempted(.failing("p", 3)).retryOnFailure { _, _, retry in
            log.append("asked")
            DispatchQueue.global().async { retry(true) }
        }
        let keep = producer.deliver(to: Keep<String>())
        keep.didStart { log.append("receiver") }
        await keep.add(to: queue).ended()
        #expect(log.entries == ["asked", "asked", "asked", "receiver"])
        #expect(try keep.result?.get()?.get() == "p")
    }

    @Test func fanIn_withTwoFailingProducers() async throws {
        let producers = [Attempted(.failing("A", 1)), Attempted(.failing("B", 0)), Attempted(.failing("C", 2))]
        let errors = Log<String>()
        let tail = producers.deliver(to: Scripted<[String]>(.failing("T", 0)))
        tail.retryOnFailure { _, error, retry in
            errors.append(error.localizedDescription)
            retry(true)
        }
        await tail.add(to: queue).ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(errors.entries == ["A 1", "C 2"])
        #expect(producers.map(\.script.runs) == [2, 1, 3])
        for producer in producers { await producer.ended() }
        #expect(producers.allSatisfy { $0.outcome?.isSuccess == true })
    }

    @Test func tailGivesUp_theFailuresAboveItBecomeOutcomes() async {
        let chain = Chain(9, 0, 0)
        chain.last.retry(.times(3))
        chain.last.add(to: queue)
        await chain.ended()
        #expect(chain.runs == [3, 3, 3])
        #expect(chain.ends == Array(repeating: ["didFinish A 3"], count: 3))
        #expect(chain.operations.allSatisfy { $0.publishedErrors.first?.publisher == "A" })
    }

    @Test func failuresAreToldToNobody_untilTheTailHasDecided() async {
        let chain = Chain(9, 0, 0)
        let kept = Log<Retry>()
        let asked = Signal()
        chain.last.retryOnFailure { _, _, retry in
            kept.append(retry)
            asked.fire()
        }
        chain.last.add(to: queue)
        await asked.wait()
        await callbacksDelivered()
        #expect(chain.hearings.allSatisfy { $0.heard("didFinish").isEmpty && $0.heard("observer finish").isEmpty })
        #expect(chain.operations.allSatisfy { $0.outcome == nil && !$0.isFinished && $0.isExecuting })
        #expect(queue.operationCount == 3)
        kept.entries.first?(false)
        await chain.ended()
        #expect(chain.ends == Array(repeating: ["didFinish A 1"], count: 3))
        await queue.idle()
        #expect(queue.operationCount == 0)
    }

    @Test func tailThatHandlesTheFailure_makesItFinal() async {
        let handling = Script("C") { run in run.succeed() }
        let chain = Chain(.failing("A", 1), .failing("B", 0), handling)
        chain.last.retry(.times(3))
        chain.last.add(to: queue)
        await chain.ended()
        #expect(chain.runs == [1, 1, 1])
        #expect(chain.ends == [["didFinish A 1"], ["didFinish A 1"], ["didFinish success"]])
    }

    @Test func successThatFollowsOnAFailure_isTriedAgainWithIt() async {
        let middle = Script("B") { run in run.succeed() }  // handles the failure
        let last = Script.failing("C", 1)
        let chain = Chain(.failing("A", 1), middle, last)
        chain.last.retry(.times(3))
        chain.last.add(to: queue)
        await chain.ended()
        #expect(chain.runs == [2, 2, 2])
        #expect(chain.operations.allSatisfy { $0.outcome?.isSuccess == true })
    }

    @Test func tailCancelled_whileTheOthersAreProvisional() async {
        let chain = Chain(9, 0, 0)
        let asked = Signal()
        chain.last.retryOnFailure { _, _, _ in asked.fire() }
        chain.last.add(to: queue)
        await asked.wait()
        chain.last.cancel()
        await chain.ended()
        #expect(chain.last.outcome?.isCancelled == true)
        #expect(chain.first.firstFailure == "A 1")
        #expect(chain.middle.firstFailure == "A 1")
        #expect(chain.ends.allSatisfy { $0.count == 1 })
    }

    @Test func tailCancelled_whileTheHeadIsTriedAgain_cancelsTheHead() async {
        let running = Signal()
        let head = Script("A") { run in run.number == 1 ? run.fail() : running.fire() }
        let chain = Chain(head, .failing("B", 0), .failing("C", 0))
        chain.last.retry(.times(3))
        for operation in chain.operations { operation.grace = .milliseconds(20) }
        chain.last.add(to: queue)
        await running.wait()
        chain.last.cancel()
        await chain.ended()
        #expect(chain.operations.allSatisfy { $0.outcome?.isCancelled == true })
        #expect(chain.ends.allSatisfy { $0.count == 1 })
    }

    @Test(arguments: [0, 1])
    func producerCancelledWhileProvisional_staysCancelled_andTheRestIsTriedAgain(index: Int) async {
        let chain = Chain(1, 0, 0)
        let kept = Log<Retry>()
        let asked = Signal()
        chain.last.retryOnFailure { retries, _, retry in
            guard retries == 0 else { return retry(false) }
            kept.append(retry)
            asked.fire()
        }
        chain.last.add(to: queue)
        await asked.wait()
        chain.operations[index].cancel()
        #expect(chain.operations[index].outcome?.isCancelled == true)
        #expect(chain.last.outcome == nil)
        kept.entries.first?(true)
        await chain.ended()
        #expect(chain.operations[index].script.runs == 1)
        #expect(chain.last.script.runs == 2)
        #expect(chain.last.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
        #expect(chain.ends.allSatisfy { $0.count == 1 })
    }

    @Test func producerWithAReceiverOutside_isNotTriedAgain() async throws {
        let head = Attempted(.failing("A", 1))
        let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(3))
        let other = head.deliver(to: Keep<String>())
        tail.add(to: queue)
        await tail.ended()
        await other.ended()
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 3)
        #expect(tail.firstFailure == "A 1")
        #expect(try other.result?.get()?.error?.localizedDescription == "A 1")
    }

    @Test func producerWithAPlainDependentOutside_isNotTriedAgain() async {
        for dependent in [Step(), BlockOperation {}] as [Foundation.Operation] {
            let gate = Gate()
            let head = Attempted(.failing("A", 1))
            head.addDependency(gate)
            let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
            dependent.addDependency(head)
            queue.addOperations([dependent, tail, gate], waitUntilFinished: false)
            await gate.started.wait()
            gate.open()
            await tail.ended()
            #expect(head.script.runs == 1)
            #expect(tail.script.runs == 2)
            #expect(head.firstFailure == "A 1")
        }
        await queue.idle()
    }

    /// Who waits for an operation is not told of anything provisional; nor may the tail wait for him meanwhile.
    @Test(arguments: [false, true])
    func dependentThatComesLate_makesTheFailureFinal(isPlain: Bool) async {
        let chain = Chain(1, 0, 0)
        let kept = Log<Retry>()
        let asked = Signal()
        chain.last.retryOnFailure { retries, _, retry in
            kept.append(retry)
            if retries == 0 { asked.fire() } else { retry(false) }
        }
        chain.last.add(to: queue)
        await asked.wait()
        let log = Log<String?>()
        let late = isPlain ? BlockOperation { log.append(chain.first.firstFailure) } : Step { log.append(chain.first.firstFailure) }
        late.addDependency(chain.first)
        queue.addOperation(late)
        await until { late.isFinished }
        #expect(chain.last.outcome == nil)
        kept.entries.first?(true)
        await chain.ended()
        #expect(log.entries == ["A 1"])
        #expect(chain.runs == [1, 2, 2])
        #expect(chain.ends == Array(repeating: ["didFinish A 1"], count: 3))
    }

    /// head → tail, and tail waits for `between`, which waits for head: whether that comes early or late.
    @Test(arguments: [false, true], [false, true])
    func dependentThatTheTailWaitsFor(isPlain: Bool, isLate: Bool) async {
        for _ in 0..<50 {
            let head = Attempted(.failing("A", 1))
            let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(3))
            let between = isPlain ? BlockOperation {} : Step("between")
            between.addDependency(head)
            tail.addDependency(between)
            if !isLate { queue.addOperation(between) }
            queue.addOperation(tail)
            if isLate { queue.addOperation(between) }
            await tail.ended()
            #expect(head.script.runs == 1)
            #expect(tail.firstFailure == "A 1")
        }
    }

    @Test func memberWithItsOwnPolicy_isAskedFirst() async {
        let chain = Chain(4, 0, 0)
        let asked = Log<String>()
        chain.first.retryOnFailure { retries, _, retry in
            asked.append("A \(retries)")
            retry(retries < 2)
        }
        chain.last.retryOnFailure { retries, _, retry in
            asked.append("C \(retries)")
            retry(true)
        }
        chain.last.add(to: queue)
        await chain.ended()
        // Its own policy goes on counting where it was.
        #expect(asked.entries == ["A 0", "A 1", "A 2", "C 0", "A 3", "C 1"])
        #expect(chain.runs == [5, 3, 3])
        #expect(chain.ends.allSatisfy { $0 == ["didFinish success"] })
    }

    @Test func memberThatIsNotRetryable_letsTheTailFail() async {
        let head = Once(.failing("A", 1))
        let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(5))
        await tail.add(to: queue).ended()
        await head.ended()
        #expect(tail.firstFailure == "A 1")
        #expect(tail.script.runs == 1)
        #expect(head.firstFailure == "A 1")
    }

    @Test func memberThatIsNotRetryable_andSucceeds_isNoHindrance() async {
        let head = Once(.failing("A", 0))
        let tail = head.deliver(to: Attempted(.failing("T", 2))).retry(.times(5))
        await tail.add(to: queue).ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(head.script.runs == 1)
    }

    @Test func failedConditionOfAMember_isTriedAgainByTheTail() async {
        let chain = Chain(0, 0, 0)
        let asked = Log<Int>()
        chain.first.condition { completion in
            asked.append(1)
            completion(asked.count < 3 ? .failure(AOperationError(Failed(text: "no"))) : .success)
        }
        let errors = Log<AOperationError>()
        chain.last.retryOnFailure { _, error, retry in
            errors.append(error)
            retry(true)
        }
        chain.last.add(to: queue)
        await chain.ended()
        #expect(chain.runs == [1, 3, 3])
        #expect(errors.entries.allSatisfy { $0.state == .condition })
        #expect(errors.count == 2)
    }

    @Test func willFinishOfAMember_isToldOfTheFinalResultOnly() async {
        let chain = Chain(2, 0, 0)
        let told = Log<String>()
        chain.first.willFinish { result, finish in
            told.append("\(result)")
            finish()
        }
        chain.last.retry(.times(5)).add(to: queue)
        await chain.ended()
        #expect(told.entries == ["success(\"A\")"])

        let failing = Chain(9, 0, 0)
        let failures = Log<String>()
        failing.first.willFinish { result, finish in
            failures.append(result.error?.localizedDescription ?? "success")
            DispatchQueue.global().async { finish() }
        }
        failing.last.retry(.times(3)).add(to: queue)
        await failing.ended()
        #expect(failures.entries == ["A 3"])
    }

    @Test func inASerialQueue() async {
        queue.maxConcurrentOperationCount = 1
        let chain = Chain(2, 1, 1)
        chain.last.retry(RetryPolicy(attempts: 9, backoff: .constant(.milliseconds(1)))).add(to: queue)
        let other = Step()
        other.add(to: queue)
        await chain.ended()
        await queue.idle()
        #expect(chain.runs == [3, 4, 5])
        #expect(chain.last.outcome?.isSuccess == true)
    }

    @Test(arguments: [false, true])
    func insideAGroup(isTailListed: Bool) async {
        let chain = Chain(2, 1, 0)
        chain.last.retry(.times(9))
        let group = GroupOperation(isTailListed ? [chain.last, chain.middle, chain.first] : [chain.first])
        await group.add(to: queue).ended()
        await chain.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(group.outcomes.count == 3)
        #expect(chain.runs == [3, 4, 4])
    }

    /// The order of an ordered group is a bond to those outside of the net: there the tail's policy is its own.
    @Test func insideAnOrderedGroup_theTailIsTriedAgainAlone() async {
        let chain = Chain(1, 0, 0)
        chain.last.retry(.times(2))
        let group = OrderedGroupOperation(chain.operations)
        await group.add(to: queue).ended()
        await chain.ended()
        #expect(chain.runs == [1, 1, 2])
        #expect(chain.ends == Array(repeating: ["didFinish A 1"], count: 3))
        #expect(group.outcome?.isFailure == true)
    }

    @Test func producerInAnotherGroupThanTheTail_isNotTriedAgain() async {
        let head = Attempted(.failing("A", 1))
        let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
        let groups = [GroupOperation(head), GroupOperation(tail)]
        for group in groups { queue.addOperation(group) }
        for group in groups { await group.ended() }
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 2)
        #expect(tail.firstFailure == "A 1")
    }

    @Test func groupAsAMember_isTriedAgainWithFreshChildren() async {
        let attempts = Log<Int>()
        let group = GroupOperation {
            attempts.append(1)
            return [Attempted(.failing("a", attempts.count < 3 ? 1 : 0)), Attempted(.failing("b", 0))]
        }
        let tail = group.deliver(to: Scripted<[String]>(.failing("T", 0))).retry(.times(5))
        await tail.add(to: queue).ended()
        await group.ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(group.outcome?.isSuccess == true)
        #expect(group.outcomes.count == 2)
        #expect(attempts.count == 3)
    }

    @Test(arguments: 0..<3)
    func inAQueueOfFoundation(start: Int) async {
        let foundation = OperationQueue()
        if start == 1 { foundation.maxConcurrentOperationCount = 1 }
        let chain = Chain(2, 1, 0)
        chain.last.retry(.times(9))
        switch start {
        case 0: foundation.addOperation(chain.last)
        case 1: for operation in chain.operations { foundation.addOperation(operation) }
        default: chain.last.start()
        }
        await chain.ended()
        #expect(chain.runs == [3, 4, 4])
        #expect(chain.ends == Array(repeating: ["didFinish success"], count: 3))
        await foundation.idle()
    }

    /// A net in which one of two receivers of a producer also receives from the other.
    @Test func diamond_isTriedAgainAsAWhole_andStartsInItsOrder() async {
        let head = Scripted<[String]>(.failing("A", 1))
        let left = [head].deliver(to: Scripted<[String]>(.failing("B", 0)))
        let right = [head, left].deliver(to: Scripted<[String]>(.failing("C", 0)))
        let tail = [head, right, left].deliver(to: Scripted<[String]>(.failing("T", 0))).retry(.times(2))
        #expect(tail.deliveryNet().map(\.publisherName) == ["A", "B", "C", "T"])
        await tail.add(to: queue).ended()
        #expect([head, left, right, tail].map(\.script.runs) == [2, 2, 2, 2])
        #expect(tail.outcome?.isSuccess == true)

        // In an ordered group a child before one that it waits for would wait for ever.
        let first = Scripted<[String]>(.failing("A", 0))
        let second = [first].deliver(to: Scripted<[String]>(.failing("B", 0)))
        let third = [first, second].deliver(to: Scripted<[String]>(.failing("C", 0)))
        let group = OrderedGroupOperation(second)
        await group.add(to: queue).ended()
        #expect(group.operations.map { $0.name ?? "" } == ["A", "B", "C"])
        #expect(third.outcome?.isSuccess == true)
    }

    @Test func netIsReleased() async {
        final class Weak: Sendable {
            let objects = Guarded<[() -> AOperation?]>([])
            func add(_ operation: AOperation) { objects.withLock { $0.append { [weak operation] in operation } } }
        }
        let kept = Weak()
        do {
            let scripts = ["A", "B", "C"].map { name in
                let failing = Script.failing(name, 2)
                return Script(name) { run in
                    kept.add(run.operation)
                    failing.run(run.operation, received: run.received)
                }
            }
            let chain = Chain(scripts[0], scripts[1], scripts[2])
            for operation in chain.operations { kept.add(operation) }
            chain.last.retry(.times(20)).add(to: queue)
            await chain.ended()
        }
        await queue.idle()
        await callbacksDelivered()
        await until { kept.objects.withLock { $0.allSatisfy { $0() == nil } } }
        #expect(kept.objects.withLock { $0.count } > 3)
    }
}
