import Foundation
import Testing

@testable import AOperation

/// Sends numbers, one after another, and waits for room.
private final class Count: AsyncOperation<Int>, PartialResultOperation, @unchecked Sendable {
    typealias PartialResult = Int
    static let partialResultsHeldMax = 4
    let sent = Tally<Int>()
    let returned = Signal()
    private let end: Int
    private let failure: String?
    private let mayEnd: Signal?

    init(to end: Int, failing failure: String? = nil, endingAfter mayEnd: Signal? = nil) {
        self.end = end
        self.failure = failure
        self.mayEnd = mayEnd
    }

    override func run() async throws -> Int {
        defer { returned.fire() }
        for number in 0..<end {
            try Task.checkCancellation()
            await send(number)
            sent.append(number)
        }
        await mayEnd?.wait()
        if let failure { throw Failed(text: failure) }
        return end
    }
}

/// Sends numbers without waiting.
private final class Burst: VoidOperation, PartialResultOperation, @unchecked Sendable {
    typealias PartialResult = Int
    static let partialResultsHeldMax = 4
    private let end: Int
    init(to end: Int) {
        self.end = end
        super.init()
        name = "Burst"
    }
    override func execute() {
        for number in 0..<end { send(number) }
        finish()
    }
}

@Suite(.timeLimit(Load.patience))
struct PartialResultTests {
    private let queue = AOperationQueue()

    @Test func elements_comeInOrder_moreThanAreKeptAtOnce() async throws {
        let operation = Count(to: 1_000)
        var read: [Int] = []
        for try await number in operation.partialResults(on: queue) { read.append(number) }
        #expect(read == Array(0..<1_000))
        #expect(operation.outcome == .success(1_000))
    }

    @Test func events_nameAttemptAndIndex() async throws {
        var events: [PartialResultEvent<Int>] = []
        for try await event in Count(to: 2).partialResultEvents(on: queue) { events.append(event) }
        #expect(events == [.element(0, attempt: 1, index: 0), .element(1, attempt: 1, index: 1)])
    }

    @Test func failure_isThrownAfterTheLastElement() async {
        let read = Log<Int>()
        let error = await #expect(throws: AOperationError.self) {
            for try await number in Count(to: 3, failing: "no").partialResults(on: self.queue) { read.append(number) }
        }
        #expect(read.entries == [0, 1, 2])
        #expect(error?.publishedError as? Failed == Failed(text: "no"))
    }

    @Test func lateReader_readsFromTheFirstElement_andSoDoesOneAfterTheEnd() async throws {
        let mayEnd = Signal()
        let operation = Count(to: 4, endingAfter: mayEnd)
        let early = Task { try await operation.partialResults(on: queue).reduce(into: []) { $0.append($1) } }
        await operation.sent.reaches(4)
        let late = Task { try await operation.partialResults().reduce(into: []) { $0.append($1) } }
        mayEnd.fire()
        #expect(try await early.value == [0, 1, 2, 3])
        #expect(try await late.value == [0, 1, 2, 3])
        let last = try await operation.partialResults().reduce(into: []) { $0.append($1) }
        #expect(last == [0, 1, 2, 3])
    }

    @Test func operationThatNobodyReads_isNotHeldBack() async throws {
        #expect(try await Count(to: 100).value(on: queue) == 100)
    }

    @Test func readerThatHasNotStarted_holdsBackOnlyAFullSpool() async throws {
        let operation = Count(to: 10)
        let results = operation.partialResults()
        operation.add(to: queue)
        await operation.sent.reaches(4)
        #expect(operation.outcome == nil)
        let read = try await results.reduce(into: []) { $0.append($1) }
        #expect(read == Array(0..<10))
    }

    @Test func readerThatIsDropped_letsTheSenderGoOn() async {
        let operation = Count(to: 10)
        do {
            let results = operation.partialResults()
            operation.add(to: queue)
            await operation.sent.reaches(4)
            withExtendedLifetime(results) {}
        }
        await operation.ended()
        #expect(operation.outcome == .success(10))
    }

    @Test func burst_losesTheOldest_andTheReaderIsTold() async throws {
        let burst = Burst(to: 10)
        let bare = burst.partialResults()
        let events = burst.partialResultEvents()
        burst.add(to: queue)
        await burst.ended()
        let error = await #expect(throws: AOperationError.self) { for try await _ in bare {} }
        #expect(error?.publishedError as? AOperationError.PartialResultsMissed == .init(operation: "Burst", count: 6))
        let first = try await events.first { _ in true }
        #expect(first == .missed(count: 6))
    }

    @Test func cancelledConsumer_cancelsTheOperation() async {
        let operation = Count(to: 1, endingAfter: Signal())
        let consumer = Task { for try await _ in operation.partialResults(on: queue) {} }
        await operation.sent.reaches(1)
        consumer.cancel()
        let error = await consumer.result.error as? AOperationError
        #expect(error?.publishedError is AOperationError.IsCancelled)
        #expect(operation.outcome?.isCancelled == true)
    }

    @Test func leavingTheLoop_cancelsTheOperation() async throws {
        let operation = Count(to: .max)
        for try await number in operation.partialResults(on: queue) where number == 3 { break }
        await operation.returned.wait()
        #expect(operation.outcome?.isCancelled == true)
    }

    @Test func listener_neitherCancelsTheOperation_norWaitsWhenItsTaskIsCancelled() async {
        let mayEnd = Signal()
        let operation = Count(to: 1, endingAfter: mayEnd)
        let read = Tally<Int>()
        let listener = Task { for try await number in operation.partialResults() { read.append(number) } }
        operation.add(to: queue)
        await read.reaches(1)
        listener.cancel()
        let error = await listener.result.error as? AOperationError
        #expect(error?.publishedError is CancellationError)
        mayEnd.fire()
        await operation.ended()
        #expect(operation.outcome == .success(1))
    }

    @Test func cancelledOperation_letsItsWaitingSenderGo() async {
        let operation = Count(to: .max)
        let results = operation.partialResults()
        operation.add(to: queue)
        await operation.sent.reaches(4)
        operation.cancel()
        await operation.returned.wait()
        withExtendedLifetime(results) {}
    }

    @Test func nextAttempt_isToldToTheReadersOfTheFirst() async throws {
        let first = Count(to: 2)
        var events = first.partialResultEvents().makeAsyncIterator()
        await first.send(0)
        #expect(try await events.next() == .element(0, attempt: 1, index: 0))
        let second = Count(to: 2)
        second.takeOverReaders(of: first)
        await first.send(1)
        _ = try await second.value(on: queue)
        #expect(try await events.next() == .restarted(attempt: 2))
        #expect(try await events.next() == .element(0, attempt: 2, index: 0))
        #expect(try await events.next() == .element(1, attempt: 2, index: 1))
        first.cancel()
        await #expect(throws: AOperationError.self) { _ = try await events.next() }
        #expect(try await events.next() == nil)
    }
}

/// What a process gets that reads on behalf of another one.
@Suite(.timeLimit(Load.patience))
struct PartialResultRelayTests {
    @Test func relay_getsEveryElement_andHoldsTheSenderBack() async {
        let operation = Count(to: 20)
        let passed = Tally<String>()
        let gate = Signal()
        operation.relayPartialResults { partial in
            switch partial {
            case .element(let value, let index): passed.append("\(index) \(String(decoding: value.bytes, as: UTF8.self))")
            case .ended: passed.append("ended")
            case .failed(let error): passed.append("\(error)")
            }
            await gate.wait()
            return true
        }
        operation.add(to: AOperationQueue())
        // One is being passed on, four are kept, and one waits.
        await passed.reaches(1)
        await operation.sent.reaches(5)
        #expect(operation.sent.entries.count == 5)
        #expect(!operation.isFinished)
        gate.fire()
        await passed.reaches(21)
        #expect(passed.entries == (0..<20).map { "\($0) \($0)" } + ["ended"])
    }

    @Test func relayThatWantsNoMore_holdsNobodyBack() async {
        let operation = Count(to: 50)
        operation.relayPartialResults { _ in false }
        _ = await operation.result(on: AOperationQueue())
        #expect(operation.outcome?.isSuccess == true)
    }
}
