import Foundation
import Testing

@testable import AOperation

/// Locks of operations that are tried again together: they keep them, and lend them to each other.
@Suite(.timeLimit(Load.patience))
struct RetryScopeLockTests {
    let queue = AOperationQueue()
    let key = "\(UUID())"
    let gauge = Gauge()

    /// Fails `failures` times; counted as inside of the lock while it runs.
    private func operation<Input>(_ name: String, _ failures: Int, _ type: Input.Type = String.self) -> Scripted<Input> {
        let script = Script.failing(name, failures)
        return Scripted<Input>(
            Script(name) { [gauge] run in
                gauge.enter()
                DispatchQueue.global().async {
                    gauge.leave()
                    script.run(run.operation, received: run.received)
                }
            })
    }

    @Test func memberAndTail_underOneKey() async {
        let head = operation("A", 2).exclusive(key)
        let tail = head.deliver(to: operation("T", 1)).exclusive(key).retry(.times(9))
        await tail.add(to: queue).ended()
        await head.ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(head.script.runs == 3)
        #expect(tail.script.runs == 4)
        #expect(gauge.most == 1)
        await expectFree(key)
    }

    @Test(arguments: 0..<10)
    func allMembers_underOneKey(round: Int) async {
        let heads = (0..<4).map { operation("A\($0)", ($0 + round) % 3).exclusive(key) }
        let tail = heads.deliver(to: operation("T", round % 2, [String].self)).exclusive(key).retry(.times(9))
        let outside = Script.failing("outside", 0)
        let other = Scripted<String>(
            Script("other") { [gauge] run in
                gauge.enter()
                gauge.leave()
                outside.run(run.operation, received: nil)
            }
        ).exclusive(key)
        tail.add(to: queue)
        other.add(to: queue)
        await tail.ended()
        for head in heads { await head.ended() }
        await other.ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(gauge.most == 1)
        await expectFree(key)
    }

    @Test func chainUnderOneKey_inASerialQueue() async {
        queue.maxConcurrentOperationCount = 1
        let head = operation("A", 1).exclusive(key)
        let middle = head.deliver(to: operation("B", 1)).exclusive(key)
        let tail = middle.deliver(to: operation("C", 1)).exclusive(key).retry(.times(9))
        await tail.add(to: queue).ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(gauge.most == 1)
        await queue.idle()
        await expectFree(key)
    }

    @Test func provisionalMember_keepsItsLockFromOthers() async {
        let head = operation("A", 1).exclusive(key)
        let kept = Log<Retry>()
        let asked = Signal()
        let tail = head.deliver(to: operation("T", 0)).retryOnFailure { _, _, retry in
            kept.append(retry)
            asked.fire()
        }
        tail.add(to: queue)
        await asked.wait()
        let other = Step().exclusive(key)
        other.add(to: queue)
        await Step().exclusive("\(UUID())").add(to: queue).ended()
        #expect(other.outcome == nil)
        kept.entries.first?(true)
        await tail.ended()
        await other.ended()
        #expect(other.outcome?.isSuccess == true)
    }

    /// The tail uses a lock that it was lent; when it is cancelled its body still runs under it.
    @Test func lentLock_isNotFree_whileABodyRunsUnderIt() async {
        let head = operation("A", 1).exclusive(key)
        let running = Log<Script.Run>()
        let tail = head.deliver(to: Attempted(Script("T") { running.append($0) })).exclusive(key).retry(.times(3))
        tail.grace = .seconds(3_600)
        tail.add(to: queue)
        await until { running.count == 1 }
        tail.cancel()
        #expect(tail.outcome?.isCancelled == true)
        await head.ended()
        #expect(head.firstFailure == "A 1")
        let other = Step().exclusive(key)
        other.add(to: queue)
        await Step().exclusive("\(UUID())").add(to: queue).ended()
        #expect(other.outcome == nil, "the tail's body still runs")
        running.entries[0].succeed()
        await other.ended()
        await tail.ended()
        await expectFree(key)
    }

    @Test func lenderThatIsCancelled_leavesTheLockToThoseItWasLentTo() async {
        let head = operation("A", 1).exclusive(key)
        let running = Log<Script.Run>()
        let tail = head.deliver(to: Attempted(Script("T") { running.append($0) })).exclusive(key).retry(.times(1))
        tail.grace = .seconds(3_600)
        tail.add(to: queue)
        await until { running.count == 1 }
        head.cancel()
        await head.ended()
        #expect(head.outcome?.isCancelled == true)
        let other = Step().exclusive(key)
        other.add(to: queue)
        await Step().exclusive("\(UUID())").add(to: queue).ended()
        #expect(other.outcome == nil)
        running.entries[0].succeed()
        await other.ended()
        await expectFree(key)
    }

    @Test func semaphore_isCountedOncePerOperation() async {
        let heads = (0..<6).map { operation("A\($0)", $0 % 3).exclusive(key, limit: 2) }
        let tail = heads.deliver(to: operation("T", 0, [String].self)).exclusive(key, limit: 2).retry(.times(9))
        await tail.add(to: queue).ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(gauge.most <= 2)
        await queue.idle()
        await expectFree(key)
    }

    @Test func severalKeys_heldByDifferentMembers() async {
        let other = key + "-other"
        let heads = [
            operation("A", 1).exclusive(key), operation("B", 2).exclusive(other),
            operation("C", 1).exclusive(key).exclusive(other), operation("D", 2).exclusive(other).exclusive(key),
        ]
        let tail = heads.deliver(to: operation("T", 1, [String].self)).exclusive(other).exclusive(key).retry(.times(9))
        await tail.add(to: queue).ended()
        #expect(tail.outcome?.isSuccess == true)
        await queue.idle()
        await expectFree(key)
        await expectFree(other)
    }

    /// Two nets, each naming what the other names, in another order: the keys of a net are taken in one step.
    @Test(arguments: 0..<20)
    func twoNetsThatNameTheSameKeys_bothSucceed(round: Int) async {
        let other = key + "-other"
        func net(_ first: String, _ second: String) -> Attempted {
            operation("A", 2).exclusive(first).deliver(to: operation("T", 0)).exclusive(second).retry(.times(9))
        }
        let tails = [net(key, other), net(other, key)]
        for tail in tails { tail.add(to: queue) }
        for tail in tails { await tail.ended() }
        await queue.idle()
        for tail in tails { #expect(tail.outcome?.isSuccess == true) }
        #expect(gauge.most == 1)
        await expectFree(key)
        await expectFree(other)
    }

    /// A stranger that names several keys of a chain comes in between two attempts: it waits for the end of the chain.
    @Test(arguments: 0..<12, [false, true])
    func strangerThatNamesSeveralKeys_waitsForTheWholeChain(round: Int, isInGroups: Bool) async {
        let keys = (0..<3).map { "\(key)-\($0)" }
        let first = operation("A", round % 3).exclusive(keys[round % 3])
        let second = first.deliver(to: operation("B", 1)).exclusive(keys[0]).exclusive(keys[1])
        let script = Script.failing("T", round % 2)
        let withoutProducer = Log<Int>()
        let tail = second.deliver(
            to: Attempted(
                Script("T") { run in
                    if (run.operation as? Attempted)?.receivedValue == nil { withoutProducer.append(run.number) }
                    script.run(run.operation, received: run.received)
                })
        ).retry(RetryPolicy(attempts: 9))
        if round.isMultiple(of: 4) { tail.exclusive(keys[2]) }
        let stranger = operation("stranger", 0).exclusive(keys[0]).exclusive(keys[(round + 1) % 3])
        if isInGroups {
            queue.addOperations([GroupOperation(first, second, tail), GroupOperation(stranger)], waitUntilFinished: false)
        } else {
            queue.addOperation(tail)
            queue.addOperation(stranger)
        }
        for operation in [first, second, tail, stranger] { await operation.ended() }
        for operation in [first, second, tail, stranger] { #expect(operation.outcome?.isSuccess == true) }
        #expect(withoutProducer.entries.isEmpty)
        await queue.idle()
        for key in keys { await expectFree(key) }
    }

    /// Nobody of the chain needs the key of a member that has succeeded any more.
    @Test func keyOfAMemberThatHasEnded_isFreeBeforeTheChainEnds() async {
        let other = key + "-other"
        let head = operation("A", 1).exclusive(key)
        let gate = Signal()
        let tail = head.deliver(
            to: Attempted(
                Script("T") { run in
                    if let error = run.received { return run.operation.fail(error) }
                    Task {
                        await gate.wait()
                        run.succeed()
                    }
                })
        )
        .exclusive(other).retry(.times(3))
        tail.add(to: queue)
        await head.ended()
        await expectFree(key)
        #expect(tail.outcome == nil)
        gate.fire()
        await tail.ended()
        await expectFree(other)
    }

    /// A chain on a suspended queue holds no lock unless it has begun.
    @Test func suspendedQueue_givesTheKeysOfAChainBack() async {
        let other = key + "-other"
        let mayGoOn = Signal()
        let evaluated = Signal()
        let head = operation("A", 1).exclusive(key)
            .conditions(
                BlockCondition { completion in
                    evaluated.fire()
                    Task {
                        await mayGoOn.wait(); completion(.success)
                    }
                })
        let tail = head.deliver(to: operation("T", 0)).exclusive(other).retry(.times(3))
        tail.add(to: queue)
        await evaluated.wait()
        queue.isSuspended = true
        await expectFree(key)
        await expectFree(other)
        mayGoOn.fire()
        queue.isSuspended = false
        await tail.ended()
        #expect(tail.outcome?.isSuccess == true)
        await expectFree(key)
        await expectFree(other)
    }

    /// The tail waits for one that is not of its net and needs the lock that a provisional member keeps.
    @Test(arguments: [false, true], [false, true])
    func dependencyOfTheTail_underAKeyThatAMemberKeeps(isPlainBetween: Bool, isLate: Bool) async {
        let head = operation("A", 2).exclusive(key)
        let tail = head.deliver(to: operation("T", 0)).retryOnFailure { retries, _, retry in retry(retries < 5) }
        let needed = operation("needed", 0).exclusive(key)
        let gate = Gate()
        if isLate { needed.addDependency(gate) }
        if isPlainBetween {
            let plain = BlockOperation {}
            plain.addDependency(needed)
            tail.addDependency(plain)
            queue.addOperation(plain)
        } else {
            tail.addDependency(needed)
        }
        queue.addOperation(tail)
        queue.addOperation(gate)
        await gate.started.wait()
        queue.addOperation(needed)
        if isLate { await until { head.core.withLock { $0.state.isProvisional } } }
        gate.open()
        await tail.ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(needed.outcome?.isSuccess == true)
        #expect(gauge.most == 1)
        await head.ended()
        await queue.idle()
        await expectFree(key)
    }

    @Test func groupWithChildrenUnderTheKey_asAMember() async {
        let attempts = Log<Int>()
        let group = GroupOperation { [gauge, key] in
            attempts.append(1)
            let number = attempts.count
            return (0..<3).map { index in
                Attempted(
                    Script("\(index)") { run in
                        gauge.enter()
                        DispatchQueue.global().async {
                            gauge.leave()
                            number < 3 && index == 1 ? run.fail() : run.succeed()
                        }
                    }
                ).exclusive(key)
            }
        }
        let tail = group.deliver(to: operation("T", 0, [String].self)).exclusive(key).retry(.times(9))
        await tail.add(to: queue).ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(gauge.most == 1)
        await queue.idle()
        await expectFree(key)
    }

    @Test func endCancelled_beforeTheLocksAreTaken_leavesEachWithItsOwn() async {
        let other = "\(UUID())"
        let holder = Gate().exclusive(key)
        queue.addOperation(holder)
        await holder.started.wait()
        let head = operation("A", 0).exclusive(key).exclusive(other)
        let tail = head.deliver(to: operation("T", 0)).retry(.times(9))
        let interested = Step()
        interested.addDependency(head)
        queue.addOperation(interested)
        tail.add(to: queue)
        tail.cancel()
        await tail.ended()
        holder.open()
        await head.ended()
        #expect(head.outcome?.isSuccess == true)
        await expectFree(key)
        await expectFree(other)
    }

    @Test func thousandsOfKeys_areTakenInOneStep_keptOverTheAttempts_andEachGivenBack() async {
        let heads = (0..<3_000).map { operation("\($0)", $0 % 2).exclusive("\(key) \($0)") }
        let tail = heads.deliver(to: operation("T", 1, [String].self)).retry(.times(9))
        await tail.add(to: queue).ended()
        #expect(tail.firstFailure == nil)
        #expect(heads.enumerated().allSatisfy { $1.script.runs == $0 % 2 + 1 })
        for index in heads.indices { await expectFree("\(key) \(index)") }
    }

    /// What the tail waits for may be much, and might lead to each of those.
    @Test func longChain_besideManyKeptKeys_isAddedInLinearTime() async {
        let gate = Gate()
        let heads = (0..<3_000).map { operation("\($0)", 0).exclusive("\(key) \($0)") }
        let tail = heads.deliver(to: operation("T", 1, [String].self)).retry(.times(9))
        tail.addDependency(gate)
        queue.addOperations([gate, tail], waitUntilFinished: false)
        await gate.started.wait()
        await until { WaitForGraph.mayHaveCircles && heads.allSatisfy { $0.script.runs == 1 } }
        let chain = (0..<20_000).map { _ in Step() }
        for (before, after) in zip(chain, chain.dropFirst()) { after.addDependency(before) }
        for step in chain.reversed() { queue.addOperation(step) }
        await chain.last?.ended()
        gate.open()
        await tail.ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(heads.allSatisfy { $0.script.runs == 1 })
    }

    private func expectFree(_ key: String, _ location: SourceLocation = #_sourceLocation) async {
        let witness = Step().exclusive(key)
        await witness.add(to: AOperationQueue()).ended()
        #expect(witness.outcome?.isSuccess == true, sourceLocation: location)
    }
}
