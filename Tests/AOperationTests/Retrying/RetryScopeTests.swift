import Foundation
import Testing

@testable import AOperation

/// A retry policy at the end of a delivery net has what failed above it tried again.
@Suite(.timeLimit(Load.patience))
struct RetryScopeTests {
    let queue = AOperationQueue()

    @Test func headFailsTwice_tailRetries_everyListenerHearsOnce() async {
        let chain = RetryChain(2, 0, 0)
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
        let chain = RetryChain(1, 1, 1)
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
        let chain = RetryChain(0, 1, 0)
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
        let chain = RetryChain(9, 0, 0)
        chain.last.retry(.times(3))
        chain.last.add(to: queue)
        await chain.ended()
        #expect(chain.runs == [3, 3, 3])
        #expect(chain.ends == Array(repeating: ["didFinish A 3"], count: 3))
        #expect(chain.operations.allSatisfy { $0.publishedErrors.first?.publisher == "A" })
    }

    @Test func failuresAreToldToNobody_untilTheTailHasDecided() async {
        let chain = RetryChain(9, 0, 0)
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
        let chain = RetryChain(.failing("A", 1), .failing("B", 0), handling)
        chain.last.retry(.times(3))
        chain.last.add(to: queue)
        await chain.ended()
        #expect(chain.runs == [1, 1, 1])
        #expect(chain.ends == [["didFinish A 1"], ["didFinish A 1"], ["didFinish success"]])
    }

    @Test func successThatFollowsOnAFailure_isTriedAgainWithIt() async {
        let middle = Script("B") { run in run.succeed() }  // handles the failure
        let last = Script.failing("C", 1)
        let chain = RetryChain(.failing("A", 1), middle, last)
        chain.last.retry(.times(3))
        chain.last.add(to: queue)
        await chain.ended()
        #expect(chain.runs == [2, 2, 2])
        #expect(chain.operations.allSatisfy { $0.outcome?.isSuccess == true })
    }

    @Test func memberWithItsOwnPolicy_isAskedFirst() async {
        let chain = RetryChain(4, 0, 0)
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
        let chain = RetryChain(0, 0, 0)
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
        let chain = RetryChain(2, 0, 0)
        let told = Log<String>()
        chain.first.willFinish { result, finish in
            told.append("\(result)")
            finish()
        }
        chain.last.retry(.times(5)).add(to: queue)
        await chain.ended()
        #expect(told.entries == ["success(\"A\")"])

        let failing = RetryChain(9, 0, 0)
        let failures = Log<String>()
        failing.first.willFinish { result, finish in
            failures.append(result.error?.localizedDescription ?? "success")
            DispatchQueue.global().async { finish() }
        }
        failing.last.retry(.times(3)).add(to: queue)
        await failing.ended()
        #expect(failures.entries == ["A 3"])
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
            let chain = RetryChain(scripts[0], scripts[1], scripts[2])
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
