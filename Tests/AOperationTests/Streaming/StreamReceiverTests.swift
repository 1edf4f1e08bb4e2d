import Foundation
import Testing

@testable import AOperation

/// Sends numbers as a script says; each attempt is another one.
private final class Sender: AsyncOperation<Int>, PartialResultOperation, RetryableOperation, @unchecked Sendable {
    typealias PartialResult = String
    static let partialResultsHeldMax = 8

    final class Script: Sendable {
        let began = Tally<Int>()
        let sent = Tally<String>()
        private let attempts: [@Sendable (Int, (String) async -> Void) async throws -> Int]

        init(_ attempts: (@Sendable (_ attempt: Int, _ send: (String) async -> Void) async throws -> Int)...) { self.attempts = attempts }

        func run(_ send: (String) async -> Void) async throws -> Int {
            began.append(began.count + 1)
            let attempt = began.count
            let body = attempts[min(attempt, attempts.count) - 1]
            return try await body(attempt) { text in
                await send("\(attempt).\(text)")
                sent.append("\(attempt).\(text)")
            }
        }
    }

    private let script: Script

    init(_ script: Script) {
        self.script = script
        super.init()
        name = "Sender"
    }

    func new() -> Sender { Sender(script) }

    override func run() async throws -> Int { try await script.run { await send($0) } }
}

/// Sends so many and succeeds.
private func sending(_ count: Int, thenAwaiting signal: Signal? = nil) -> @Sendable (Int, (String) async -> Void) async throws -> Int {
    { _, send in
        for number in 0..<count { await send("\(number)") }
        await signal?.wait()
        return count
    }
}

/// Collects what it receives; each attempt tells what it has received.
private final class Collector: AsyncOperation<[String]>, StreamReceiver, @unchecked Sendable {
    final class Board: Sendable {
        let received = Tally<String>()
        let attempts = Tally<Int>()
        let errors = Tally<String>()
    }

    var receivedElements: ReceivedElements<String>?
    let board: Board
    private let first: Int
    private let failures: Int

    /// - Parameters:
    ///   - first: after so many it succeeds.
    ///   - failures: so many attempts fail after an element.
    init(_ board: Board = Board(), first: Int = .max, failures: Int = 0) {
        self.board = board
        self.first = first
        self.failures = failures
        super.init()
        name = "Collector"
    }

    func new() -> Collector { Collector(board, first: first, failures: failures) }

    override func run() async throws -> [String] {
        board.attempts.append(board.attempts.count + 1)
        let attempt = board.attempts.count
        guard let receivedElements else { throw Failed(text: "nothing is received") }
        var texts: [String] = []
        do {
            for try await text in receivedElements {
                texts.append(text)
                board.received.append(text)
                if attempt <= failures { throw Failed(text: "attempt \(attempt)") }
                if texts.count >= first { break }
            }
        } catch {
            board.errors.append(error.localizedDescription)
            throw error
        }
        return texts
    }
}

/// Sends on what it receives.
private final class Relay: AsyncOperation<Int>, PartialResultOperation, StreamReceiver, @unchecked Sendable {
    typealias PartialResult = String
    var receivedElements: ReceivedElements<String>?

    func new() -> Relay { Relay() }

    override func run() async throws -> Int {
        var count = 0
        guard let receivedElements else { return 0 }
        for try await text in receivedElements {
            await send(text)
            count += 1
        }
        return count
    }
}

@Suite(.timeLimit(Load.patience))
struct StreamReceiverTests {
    private let queue = AOperationQueue()

    /// The receiver is connected when the producer is known to deliver to the tail of a net.
    @Test func producerThatStreams_isNotTriedAgainByTheTailOfItsNet() async {
        let script = Sender.Script({ _, send in
            await send("0")
            throw Failed(text: "sender")
        })
        let sender = Sender(script)
        let tail = sender.deliver(to: Scripted<Int>(.failing("T", 0))).retry(RetryPolicy(attempts: 3))
        queue.isSuspended = true
        tail.add(to: queue)
        let collector = Collector()
        sender.stream(to: collector).add(to: queue)
        queue.isSuspended = false
        await tail.ended()
        await collector.ended()
        #expect(script.began.count == 1)
        #expect(tail.script.runs == 3)
        #expect(collector.outcome?.isFailure == true)
    }

    @Test func aReceiver_readsWhileItsProducerRuns() async throws {
        let mayEnd = Signal()
        let sender = Sender(.init(sending(3, thenAwaiting: mayEnd)))
        let collector = Collector()
        sender.stream(to: collector).add(to: queue)
        await collector.board.received.reaches(3)
        #expect(!sender.isFinished)
        mayEnd.fire()
        await collector.ended()
        #expect(collector.outcome == .success(["1.0", "1.1", "1.2"]))
        #expect(sender.outcome == .success(3))
    }

    @Test func inTheOnlySlot_itReadsAfterTheEnd_whateverIsAddedFirst() async throws {
        queue.maxConcurrentOperationCount = 1
        let (sender, collector) = (Sender(.init(sending(5))), Collector())
        sender.stream(to: collector)
        collector.add(to: queue)
        await collector.ended()
        #expect(collector.outcome == .success((0..<5).map { "1.\($0)" }))
    }

    @Test func moreThanIsKept_forAReceiverThatHasNotStarted_isAnErrorByName() async throws {
        queue.maxConcurrentOperationCount = 1
        let (sender, collector) = (Sender(.init(sending(20))), Collector())
        sender.stream(to: collector).add(to: queue)
        await collector.ended()
        #expect(sender.outcome == .success(20))
        #expect(
            collector.errors.first?.publishedError as? AOperationError.PartialResultsMissed
                == .init(operation: "Sender", count: 12))
    }

    @Test func aReceiverThatIsBehind_holdsTheSenderBack_oneThatHasEndedDoesNot() async throws {
        let (sender, collector) = (Sender(.init(sending(1_000))), Collector())
        sender.stream(to: collector).add(to: queue)
        await collector.ended()
        #expect(collector.outcome?.value?.count == 1_000)
        let (second, early) = (Sender(.init(sending(1_000))), Collector(first: 2))
        second.stream(to: early).add(to: queue)
        await early.ended()
        #expect(early.outcome == .success(["1.0", "1.1"]))
        #expect(second.outcome == .success(1_000))
    }

    @Test func theProducersError_isThrown_afterItsLastElement() async throws {
        let sender = Sender(
            .init { _, send in
                await send("a")
                throw Failed(text: "no more")
            })
        let collector = Collector()
        sender.stream(to: collector).add(to: queue)
        await collector.ended()
        #expect(collector.board.received.entries == ["1.a"])
        #expect(collector.errors.first?.publishedError as? Failed == Failed(text: "no more"))
        #expect(collector.board.attempts.entries == [1])
    }

    @Test func aProducerThatNeverBegins_isToldAsAnError_once() async throws {
        let sender = Sender(.init(sending(3)))
        sender.addCondition(FalseCondition())
        let collector = Collector()
        sender.stream(to: collector).add(to: queue)
        await collector.ended()
        #expect(collector.errors.first?.state == .condition)
        let (cancelled, second) = (Sender(.init(sending(3))), Collector())
        cancelled.stream(to: second)
        cancelled.cancel()
        second.add(to: queue)
        await second.ended()
        #expect(second.errors.first?.publishedError is AOperationError.IsCancelled)
        #expect(second.board.attempts.entries == [1])
    }

    @Test(arguments: [1, 4]) func whenTheProducerIsTriedAgain_theReceiverEndsWithTheElementsOfOneAttempt(slots: Int) async throws {
        queue.maxConcurrentOperationCount = slots
        let read = Signal()
        let script = Sender.Script(
            { _, send in
                for number in 0..<3 { await send("\(number)") }
                if slots > 1 { await read.wait() }
                throw Failed(text: "lost")
            }, sending(5))
        let sender = Sender(script).retry(RetryPolicy(attempts: 2))
        let collector = Collector()
        sender.stream(to: collector).add(to: queue)
        if slots > 1 {
            await collector.board.received.reaches(3)
            read.fire()
        }
        await collector.ended()
        #expect(collector.outcome == .success((0..<5).map { "2.\($0)" }))
        #expect(sender.outcome == .success(5))
        // In the only slot it may have begun between the two.
        #expect(collector.board.attempts.count == 2 || slots == 1)
    }

    @Test func aSuccess_countsWhenTheProducerHasEnded_andIsVoidIfItBeginsAnew() async throws {
        let (mayFail, mayEnd) = (Signal(), Signal())
        let script = Sender.Script(
            { _, send in
                await send("a")
                await mayFail.wait()
                throw Failed(text: "lost")
            },
            { _, send in
                await send("b")
                await mayEnd.wait()
                return 1
            })
        let sender = Sender(script).retry(RetryPolicy(attempts: 2))
        let collector = Collector(first: 1)
        let finished = Log<String>()
        collector.observers(BlockObserver(finishHandler: { operation, _ in finished.append("told") }))
        sender.stream(to: collector).add(to: queue)
        await collector.board.received.reaches(1)
        mayFail.fire()
        await collector.board.received.reaches(2)
        #expect(finished.entries.isEmpty)
        mayEnd.fire()
        await collector.ended()
        #expect(collector.outcome == .success(["2.b"]))
        #expect(finished.entries == ["told"])
    }

    @Test func aFailure_isTriedAgainByItsOwnPolicy_andThatOfTheProducerDoesNotCount() async throws {
        let mayEnd = Signal()
        let script = Sender.Script(
            { _, send in
                await send("a")
                await mayEnd.wait()
                throw Failed(text: "lost")
            },
            sending(2))
        let sender = Sender(script).retry(RetryPolicy(attempts: 2))
        let collector = Collector(failures: 1).retry(RetryPolicy(attempts: 2))
        sender.stream(to: collector).add(to: queue)
        // One attempt has failed, another one has read the same.
        await collector.board.received.reaches(2)
        mayEnd.fire()
        await collector.ended()
        #expect(collector.outcome == .success(["2.0", "2.1"]))
        #expect(collector.board.received.entries == ["1.a", "1.a", "2.0", "2.1"])
    }

    @Test(arguments: [Int.max, 2]) func aReceiverThatHasASlot_isNotOutrun(slots: Int) async throws {
        for _ in 0..<50 {
            let queue = AOperationQueue()  // nobody who has ended is about to give a slot back
            if slots < .max { queue.maxConcurrentOperationCount = slots }
            let (sender, collector) = (Sender(.init(sending(50))), Collector())
            sender.stream(to: collector).add(to: queue)
            await collector.ended()
            #expect(collector.outcome?.value?.count == 50)
        }
    }

    @Test(arguments: [Int.max, 2], [false, true]) func inAGroup_aReceiverThatHasASlot_isNotOutrun(slots: Int, isNested: Bool) async throws {
        for _ in 0..<50 {
            let queue = AOperationQueue()
            if slots < .max { queue.maxConcurrentOperationCount = slots }
            let (sender, collector) = (Sender(.init(sending(50))), Collector())
            sender.stream(to: collector)
            let group = GroupOperation(sender, collector)
            queue.addOperation(isNested ? GroupOperation(group) : group)
            await collector.ended()
            #expect(collector.outcome?.value?.count == 50)
        }
    }

    @Test func aReceiverBehindABarrier_holdsNobodyBack() async throws {
        let gate = Gate()
        let (sender, collector) = (Sender(.init(sending(20))), Collector())
        queue.addOperation(gate)
        await gate.started.wait()
        sender.addDependency(gate)
        queue.addOperation(sender)
        queue.addBarrierBlock {}
        sender.stream(to: collector)
        queue.addOperation(collector)
        gate.open()
        await collector.ended()
        #expect(sender.outcome == .success(20))
        #expect(collector.errors.first?.publishedError is AOperationError.PartialResultsMissed)
    }

    @Test func aReceiverThatWaitsForSomethingElse_doesNotHoldTheSenderBack() async throws {
        let gate = Gate()
        let (sender, collector) = (Sender(.init(sending(20))), Collector())
        collector.addDependency(gate)
        gate.add(to: queue)
        sender.stream(to: collector).add(to: queue)
        await sender.ended()
        #expect(sender.outcome == .success(20))
        gate.open()
        await collector.ended()
        #expect(collector.errors.first?.publishedError is AOperationError.PartialResultsMissed)
    }

    @Test func severalReceivers_andADelivery_goTogether() async throws {
        let sender = Sender(.init(sending(3)))
        let (one, two, keep) = (Collector(), Collector(), Keep<Int>())
        sender.stream(to: one)
        sender.stream(to: two)
        sender.deliver(to: keep).add(to: queue)
        for operation in [one, two, keep] { await operation.ended() }
        #expect(one.outcome == .success(["1.0", "1.1", "1.2"]) && two.outcome == one.outcome)
        #expect(try keep.outcome?.value??.get() == 3)
    }

    @Test func streamsOfStreams_groups_andOrderedGroups_end() async throws {
        let (sender, collector) = (Sender(.init(sending(4))), Collector())
        sender.stream(to: collector)
        let ordered = OrderedGroupOperation(sender, collector)
        ordered.add(to: queue)
        await ordered.ended()
        #expect(collector.outcome == .success((0..<4).map { "1.\($0)" }))
        let (inner, outer) = (Sender(.init(sending(4))), Collector())
        inner.stream(to: outer)
        let group = GroupOperation(outer, inner)
        group.maxConcurrentOperationCount = 1
        group.add(to: queue)
        await group.ended()
        #expect(group.errors.isEmpty)
        #expect(outer.outcome == .success((0..<4).map { "1.\($0)" }))
    }

    /// Its turn comes after the producer's end, which does not wait for it: it is told what it has missed.
    @Test func receiverBehindItsProducer_inAnOrderedGroup_holdsNobodyBack() async throws {
        let (sender, collector) = (Sender(.init(sending(20))), Collector())
        sender.stream(to: collector)
        let ordered = OrderedGroupOperation(sender, collector)
        ordered.add(to: queue)
        await ordered.ended()
        #expect(sender.outcome == .success(20))
        #expect(collector.publishedErrors.count == 1)
    }

    @Test func cancellingTheReceiver_cancelsAProducerThatNobodyElseNeeds() async throws {
        let mayEnd = Signal()
        let (sender, collector) = (Sender(.init(sending(1, thenAwaiting: mayEnd))), Collector(first: 1))
        sender.stream(to: collector).add(to: queue)
        await collector.board.received.reaches(1)
        collector.cancel()
        mayEnd.fire()
        await sender.ended()
        #expect(sender.outcome?.isCancelled == true)
        #expect(collector.outcome?.isCancelled == true)
    }

    /// The producer's end would be its receiver's error, were that not stopped before: whatever is stopped between the two.
    @Test(arguments: [false, true]) func whereBothAreCancelledTogether_theReceiverIsCancelledToo(isInGroup: Bool) async throws {
        let never = Signal()
        let (first, second, last) = (Sender(.init(sending(1, thenAwaiting: never))), Relay(), Collector())
        first.stream(to: second)
        second.stream(to: last)
        let waiting = (0..<2_000).map { _ in
            let step = Step()
            step.addDependency(first)
            return step
        }
        let members = [first] + waiting + [second] + [last]
        let group = GroupOperation()
        if isInGroup {
            group.addOperations(members)
            queue.addOperation(group)
        } else {
            queue.addOperations(members, waitUntilFinished: false)
        }
        await last.board.received.reaches(1)
        if isInGroup { group.cancel() } else { queue.cancelAllOperations() }
        await queue.idle()
        for member in [first, second, last] as [AOperation] { #expect(member.anyOutcome?.isCancelled == true) }
        never.fire()
    }

    @Test(arguments: [1, 3]) func onAFoundationQueue_itReadsTheSame(width: Int) async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let (sender, collector) = (Sender(.init(sending(6))), Collector())
        sender.stream(to: collector)
        queue.addOperation(collector)
        queue.addOperation(sender)
        await queue.idle()
        #expect(collector.outcome == .success((0..<6).map { "1.\($0)" }))
    }

    @Test func whatHasEnded_isLetGo() async throws {
        weak var sender: Sender?
        weak var collector: Collector?
        do {
            let (one, two) = (Sender(.init(sending(2))), Collector())
            (sender, collector) = (one, two)
            one.stream(to: two).add(to: queue)
            await two.ended()
            await one.ended()
        }
        await until { sender == nil && collector == nil }
    }
}
