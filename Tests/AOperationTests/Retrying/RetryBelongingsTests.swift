import Foundation
import Testing

@testable import AOperation

/// Another attempt brings what it waits for, if that is in no queue.
@Suite(.timeLimit(Load.patience))
struct RetryBelongingsTests {
    let queue = AOperationQueue()

    /// Fails at first; then waits for something that is made anew, and for its release.
    private final class Fetch: ResultableOperation<Int>, RetryableOperation, @unchecked Sendable {
        let number: Int
        let login: AOperation
        let begun: Log<Fetch>

        init(_ number: Int, behind login: AOperation, _ begun: Log<Fetch>) {
            (self.number, self.login, self.begun) = (number, login, begun)
            super.init()
        }

        func new() -> Fetch {
            let fresh = Fetch(number + 1, behind: login, begun)
            fresh.addDependency(login)
            return fresh
        }

        override func execute() {
            guard number > 1 else { return finish(with: .failure(AOperationError(Failed(text: "first")))) }
            begun.append(self)
        }
    }

    enum End: CaseIterable { case success, failure, cancelled }

    @Test(arguments: End.allCases) func endOfWhatItWaitsFor_isNotItsOutcome(_ end: End) async {
        let login: AOperation = end == .failure ? Failing<Int>("login") : Step("login")
        let begun = Log<Fetch>()
        let fetch = Fetch(1, behind: login, begun).retry(.times(2))
        if end == .cancelled { login.cancel() }
        queue.addOperation(fetch)
        await until { begun.count == 1 }
        await login.ended()
        await callbacksDelivered()
        #expect(fetch.outcome == nil)
        begun.entries[0].finish(with: .success(7))
        await fetch.ended()
        #expect(fetch.outcome?.value == 7)
    }

    @Test func groupOfAnAttempt_endsWithItsChildren_notWithWhatTheseWaitFor() async {
        let late = Step("late")
        let rounds = Log<Int>()
        let gates = Log<Gate>()
        let group = GroupOperation {
            rounds.append(1)
            guard rounds.count > 1 else { return [Failing<Void>("first")] }
            let gate = Gate()
            gate.addDependency(late)
            gates.append(gate)
            return [gate]
        }
        group.retry(.times(2))
        queue.addOperation(group)
        await until { gates.count == 1 }
        await gates.entries[0].started.wait()
        await late.ended()
        await callbacksDelivered()
        #expect(group.outcome == nil)
        gates.entries[0].open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    /// The operation is cancelled while another attempt is being made: what that would have waited for is the program's, also where the program
    /// adds it while the attempt is being thrown away.
    @Test(arguments: 0..<Load.rounds(400)) func whatAnUnwantedAttemptWouldHaveWaitedFor_isLeftToTheProgram(round: Int) async {
        let login = Step("login")
        let box = Log<AOperation>()
        final class Cancelling: ResultableOperation<Int>, RetryableOperation, @unchecked Sendable {
            let login: AOperation
            let box: Log<AOperation>
            init(_ login: AOperation, _ box: Log<AOperation>) {
                (self.login, self.box) = (login, box)
                super.init()
            }
            func new() -> Cancelling {
                box.entries[0].cancel()
                let fresh = Cancelling(login, box)
                fresh.addDependency(login)
                return fresh
            }
            override func execute() { finish(with: .failure(AOperationError(Failed(text: "first")))) }
        }
        let operation = Cancelling(login, box).retry(.times(2))
        box.append(operation)
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
        #expect(!login.isCancelled)
        let plain = BlockOperation {}
        plain.addDependency(login)
        queue.addOperation(plain)
        queue.addOperation(login)
        await queue.idle()
        #expect(login.outcome?.isSuccess == true)
        #expect(plain.isFinished)
    }
}

/// Objects of the program go away where it may use the library.
@Suite(.timeLimit(Load.patience))
struct RetryReleaseTests {
    let queue = AOperationQueue()

    /// Uses an operation when it goes away.
    private final class Curious: Sendable {
        private let look: @Sendable () -> Void
        init(_ look: @escaping @Sendable () -> Void) { self.look = look }
        deinit { look() }
    }

    private final class Holder: VoidOperation, @unchecked Sendable {
        private let curious: Curious
        init(_ curious: Curious) {
            self.curious = curious
            super.init()
        }
        override func execute() { finish(AOperationError(Failed(text: "holder"))) }
    }

    @Test func childrenOfAnAttempt_thatIsOver() async {
        let box = Log<Weak<GroupOperation>>()
        let looked = Log<Int>()
        let group = GroupOperation {
            [Holder(Curious { looked.append(box.entries.first?.object?.outcomes.count ?? -1) })]
        }
        box.append(Weak(group))
        group.retry(RetryPolicy(attempts: 4, backoff: .constant(.milliseconds(1))))
        await group.add(to: queue).ended()
        #expect(looked.count >= 2)
    }

    @Test func valueOfAnAttempt_thatDoesNotCount() async {
        final class Middle: ResultableOperation<Curious>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
            var receivedValue: Result<String, AOperationError>?
            let make: @Sendable () -> Curious
            init(_ make: @escaping @Sendable () -> Curious) {
                self.make = make
                super.init()
            }
            func new() -> Middle { Middle(make) }
            override func execute() { finish(with: .success(make())) }
        }
        let box = Log<Weak<AOperation>>()
        let looked = Log<Bool>()
        let head = Attempted(.failing("A", 9))
        let middle = Middle { Curious { looked.append(box.entries.first?.object?.isFinished == true) } }
        box.append(Weak(middle))
        let tail = head.deliver(to: middle).deliver(to: Scripted<Curious>(.failing("T", 9))).retry(.times(5))
        await tail.add(to: queue).ended()
        #expect(looked.count >= 1)
    }

    @Test func dependencyThatWasTakenBack() async {
        let gate = Gate()
        let script = Script("member") { $0.fail() }
        let (head, middle) = (Attempted(script), Attempted(script))
        let tail = Attempted(.failing("T", 9))
        tail.addDependency(gate)
        head.deliver(to: middle).deliver(to: tail).retry(.times(2))
        let looked = Signal()
        var outside: Holder? = Holder(
            Curious {
                tail.cancel()
                looked.fire()
            })
        middle.addDependency(outside!)
        queue.addOperation(tail)
        await until { head.core.withLock { $0.state.isProvisional } }
        middle.removeDependency(outside!)
        outside = nil
        let another = Gate()
        tail.addDependency(another)
        await tail.ended()
        #expect(looked.hasFired)
        gate.open()
    }
}
