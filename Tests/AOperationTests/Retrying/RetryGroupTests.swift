import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct RetryGroupTests {
    let queue = AOperationQueue()

    @Test func D2_groupWaitsForTheFinalOutcomeOfItsChild_andSucceedsWithIt() async {
        let child = Attempted(.failing("child", 3)).retry(.times(5))
        let told = Log<String>()
        final class Listening: GroupOperation, @unchecked Sendable {
            let told: Log<String>
            init(_ told: Log<String>, _ children: [Foundation.Operation]) {
                self.told = told
                super.init(children)
            }
            override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
                told.append("\(operation.name ?? "-") \(Hearing.text(errors))")
            }
        }
        let group = Listening(told, [child, Step("other")])
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(told.entries.sorted() == ["child ", "other "])
        #expect(group.outcomes.count == 2)
    }

    @Test func D2_groupFailsWithTheLastErrorOnly() async {
        let child = Attempted(.failing("child", 9)).retry(.times(3))
        let group = GroupOperation(child, Step())
        await group.add(to: queue).ended()
        #expect(group.outcome?.errors.map(\.localizedDescription) == ["child 3"])
    }

    @Test func D2_successorInAnOrderedGroup_startsAfterTheFinalEnd() async {
        let log = Log<String>()
        let script = Script("first") { run in
            log.append("run \(run.number)")
            run.number < 3 ? run.fail() : run.succeed()
        }
        let first = Attempted(script).retryOnFailure { _, _, retry in
            log.append("asked")
            DispatchQueue.global().async { retry(true) }
        }
        let group = OrderedGroupOperation([first, Step { log.append("second") }], onFailure: .stop)
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(log.entries == ["run 1", "asked", "run 2", "asked", "run 3", "second"])
    }

    @Test func onFailureStop_waitsForTheFinalFailure() async {
        let sibling = Gate("sibling")
        let asked = Signal()
        let kept = Log<Retry>()
        let first = Attempted(.failing("first", 9)).retryOnFailure { retries, _, retry in
            kept.append(retry)
            if retries == 1 { retry(false) } else { asked.fire() }
        }
        let group = GroupOperation([first, sibling]).onFailure(.stop)
        group.add(to: queue)
        await asked.wait()
        await sibling.started.wait()
        #expect(sibling.outcome == nil)
        kept.entries.first?(true)
        await group.ended()
        #expect(sibling.outcome?.isCancelled == true)
        #expect(group.outcome?.errors.map(\.localizedDescription) == ["first 2"])
    }

    @Test func dependentInsideAndOutside_waitForTheFinalOutcome() async {
        let log = Log<String>()
        let first = Attempted(
            Script("first") { run in
                log.append("run")
                run.number < 3 ? run.fail() : run.succeed()
            }
        ).retry(.times(3))
        let inside = Step { log.append("inside") }
        inside.addDependency(first)
        let group = GroupOperation(first, inside)
        let outside = BlockOperation { log.append("outside") }
        outside.addDependency(group)
        queue.addOperations([group, outside], waitUntilFinished: false)
        await queue.idle()
        #expect(log.entries == ["run", "run", "run", "inside", "outside"])
    }

    @Test func groupThatIsTriedAgain_hasFreshChildren_andDropsAddedOnes() async {
        final class Growing: GroupOperation, RetryableOperation, @unchecked Sendable {
            let log: Log<String>
            init(_ log: Log<String>) {
                self.log = log
                let attempt = log.entries.filter { $0.hasPrefix("made") }.count + 1
                log.append("made \(attempt)")
                let script = Script("child") { run in
                    log.append("child \(attempt)")
                    attempt < 3 ? run.fail() : run.succeed()
                }
                super.init([Attempted(script)])
            }
            override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
                guard operation.name == "child" else { return }
                addOperation(Step("added") { [log] in log.append("added") })
            }
            func new() -> Growing { Growing(log) }
        }
        let log = Log<String>()
        let group = Growing(log).retry(.times(4))
        let heard = Log<String>()
        group.didFinish { heard.append("\($0.error == nil)") }.add(to: queue)
        await group.ended()
        await callbacksDelivered()
        #expect(log.entries == (1...3).flatMap { ["made \($0)", "child \($0)", "added"] })
        #expect(heard.entries == ["true"])
        #expect(group.outcomes.count == 2)
        #expect(group.outcomes.allSatisfy { $0.isSuccess })
        #expect(group.operations.map(\.name) == ["child", "added"])
    }

    @Test func settingsOfTheGroup_countForItsAttempts() async {
        final class Pair: GroupOperation, RetryableOperation, @unchecked Sendable {
            let gauge: Gauge
            let attempts: Log<Int>
            init(_ gauge: Gauge, _ attempts: Log<Int>) {
                self.gauge = gauge
                self.attempts = attempts
                attempts.append(1)
                let number = attempts.count
                super.init(
                    (0..<6).map { index in
                        Attempted(
                            Script("\(index)") { run in
                                gauge.enter()
                                DispatchQueue.global().async {
                                    gauge.leave()
                                    number < 3 && index == 0 ? run.fail() : run.succeed()
                                }
                            })
                    })
            }
            func new() -> Pair { Pair(gauge, attempts) }
        }
        let gauge = Gauge()
        let attempts = Log<Int>()
        let group = Pair(gauge, attempts).retry(.times(5))
        group.maxConcurrentOperationCount = 1
        group.onFailure = .stop
        await group.add(to: queue).ended()
        #expect(gauge.most == 1)
        #expect(attempts.count == 3)
        #expect(group.outcome?.isSuccess == true)
        #expect(group.outcomes.count == 6)
    }

    @Test func groupThatIsTriedAgain_deliversItsLastAttemptsValues() async throws {
        let attempts = Log<Int>()
        let group = GroupOperation {
            attempts.append(1)
            return [Attempted(.failing("a", attempts.count < 3 ? 1 : 0)), Attempted(.failing("b", 0))]
        }
        group.retry(.times(5))
        let keep = group.deliver(to: Keep<[String]>())
        await keep.add(to: queue).ended()
        #expect(try keep.result?.get()?.get() == ["a", "b"])
        #expect(attempts.count == 3)
    }

    @Test(arguments: [false, true])
    func cancelledGroup_waitsForTheChildrenOfItsAttempt(isOrdered: Bool) async {
        let log = Log<String>()
        let attempts = Log<Int>()
        let running = Log<Gate>()
        let make: @Sendable () -> [Foundation.Operation] = {
            attempts.append(1)
            guard attempts.count > 1 else { return [Failing<Int>("first")] }
            let gate = Gate("gate", isDeaf: true)
            gate.observers(BlockObserver(startHandler: { _ in running.append(gate) }, finishHandler: { _, _ in log.append("child") }))
            return [gate]
        }
        let group = isOrdered ? OrderedGroupOperation(making: make) : GroupOperation(making: make)
        group.retry(.times(3))
        group.observers(BlockObserver(finishHandler: { _, _ in log.append("group") }))
        group.add(to: queue)
        await until { running.count == 1 }
        group.cancel()
        #expect(group.isCancelled)
        #expect(group.outcome == nil, "its child's body has not ended")
        await until { running.entries[0].isFinished }
        running.entries[0].open()
        await group.ended()
        #expect(group.outcome?.isCancelled == true)
        #expect(log.entries == ["child", "group"])
        #expect(group.publishedErrors.count == 1)
    }

    @Test(arguments: 0..<6)
    func cancelAtEveryMoment_endsGroupAndChildren(part: Int) async {
        for step in 0..<Load.rounds(100) {
            let ends = Log<String>()
            let made = Log<String>()
            let group = GroupOperation {
                made.append("attempt")
                let number = made.entries.filter { $0 == "attempt" }.count
                return (0..<3).map { index in
                    made.append("child")
                    let script = Script("\(index)") { run in
                        DispatchQueue.global().async { number < 4 && index == part % 3 ? run.fail() : run.succeed() }
                    }
                    return Attempted(script).observers(BlockObserver(finishHandler: { _, _ in ends.append("child") }))
                }
            }
            group.retryOnFailure { _, _, retry in
                part < 3 ? retry(true) : DispatchQueue.global().async { retry(true) }
            }
            group.observers(BlockObserver(finishHandler: { _, _ in ends.append("group") }))
            group.add(to: queue)
            await onThread {
                for _ in 0..<(step * step) where group.isFinished { break }
                group.cancel()
            }
            await group.ended()
            let context = "part \(part), step \(step)"
            #expect(ends.entries.last == "group", "\(context): \(ends.entries)")
            #expect(ends.entries.filter { $0 == "group" }.count == 1, "\(context)")
            #expect(group.outcome?.isCancelled == group.isCancelled, "\(context)")
            #expect(group.outcomes.count == 3, "\(context)")
        }
        await queue.idle()
    }

    @Test func conditionsOfAGroup_areAskedForEachAttempt() async {
        let asked = Log<Int>()
        let attempts = Log<Int>()
        let group = GroupOperation {
            attempts.append(1)
            return [Step()]
        }
        group.retry(.times(5)).condition { completion in
            asked.append(1)
            completion(asked.count < 3 ? .failure(AOperationError(Failed(text: "no"))) : .success)
        }
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(asked.count == 3)
        #expect(attempts.count == 3)
    }

    @Test func childrenUnderAKeyThatTheGroupHolds_takeTurnsInEachAttempt() async {
        let key = "\(UUID())"
        let gauge = Gauge()
        let attempts = Log<Int>()
        let group = GroupOperation {
            attempts.append(1)
            let number = attempts.count
            return (0..<5).map { index in
                Attempted(
                    Script("\(index)") { run in
                        gauge.enter()
                        DispatchQueue.global().async {
                            gauge.leave()
                            number < 3 && index == 4 ? run.fail() : run.succeed()
                        }
                    }
                ).exclusive(key)
            }
        }
        group.retry(.times(5)).exclusive(key)
        group.add(to: queue)
        let other = Step {
            gauge.enter()
            gauge.leave()
        }.exclusive(key)
        other.add(to: queue)
        await queue.idle()
        #expect(group.outcome?.isSuccess == true)
        #expect(gauge.most == 1)
    }
}
