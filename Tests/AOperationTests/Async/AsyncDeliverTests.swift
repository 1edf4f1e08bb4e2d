import Foundation
import Testing

@testable import AOperation

/// Ten times what it receives; fails at 13; can be made anew.
private final class TenTimes: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
    var receivedValue: Result<Int, AOperationError>?
    private let made: Log<Int>
    init(made: Log<Int> = Log()) {
        self.made = made
        super.init()
    }
    func new() -> Self {
        made.append(1)
        guard let fresh = TenTimes(made: made) as? Self else { preconditionFailure("TenTimes is final") }
        return fresh
    }
    override func execute() {
        guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(
            with: receivedValue.flatMap { number in
                number == 13 ? .failure(AOperationError(Failed(text: "13"))) : .success(number * 10)
            })
    }
}

/// Says what it received.
private final class Say: ResultableOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
    var receivedValue: Result<Int, AOperationError>?
    func new() -> Self {
        guard let fresh = Say() as? Self else { preconditionFailure("Say is final") }
        return fresh
    }
    override func execute() {
        switch receivedValue {
        case .success(let number)?: finish(with: .success("\(number)"))
        case .failure(let error)?: finish(with: .success(error.localizedDescription))
        case nil: finish(with: .failure(.receivedValueIsNil(in: self)))
        }
    }
}

/// Numbers, and whether one more than `allowed` was asked for.
private struct Numbers: AsyncSequence, AsyncIteratorProtocol {
    var remaining: [Int]
    var failure: Failed?
    let asked: Log<Int>

    init(_ numbers: [Int], failing failure: Failed? = nil, asked: Log<Int> = Log()) {
        remaining = numbers
        self.failure = failure
        self.asked = asked
    }

    func makeAsyncIterator() -> Numbers { self }

    mutating func next() async throws -> Int? {
        asked.append(1)
        guard remaining.isEmpty else { return remaining.removeFirst() }
        if let failure { throw failure }
        return nil
    }
}

@Suite(.timeLimit(Load.patience))
struct AsyncDeliverTests {
    private let queue = AOperationQueue()

    @Test func eachElement_getsItsOwnOperation_inOrder() async throws {
        let made = Log<Int>()
        let names = Log<String>()
        let receiver = TenTimes(made: made)
        receiver.name = "ten times"
        receiver.observers(BlockObserver(finishHandler: { operation, _ in names.append(operation.name ?? "") }))
        let outputs = try await Numbers([1, 2, 3]).deliver(to: receiver, on: queue).reduce(into: []) { $0.append($1) }
        #expect(outputs == [10, 20, 30])
        #expect(receiver.outcome == .success(10))
        #expect(made.count == 2)
        #expect(names.entries == ["ten times", "ten times", "ten times"])
    }

    @Test func nextElement_isAskedForWhenTheNextOutputIs() async throws {
        let asked = Log<Int>()
        var outputs = Numbers([1, 2, 3], asked: asked).deliver(to: TenTimes(), on: queue).makeAsyncIterator()
        #expect(asked.count == 0)
        #expect(try await outputs.next() == 10)
        #expect(asked.count == 1)
        #expect(try await outputs.next() == 20)
        #expect(asked.count == 2)
    }

    @Test func upstreamError_isDelivered_andEndsTheSequenceAfterThatRun() async throws {
        let said = try await Numbers([1], failing: Failed(text: "torn")).deliver(to: Say(), on: queue)
            .reduce(into: []) { $0.append($1) }
        #expect(said == ["1", "torn"])
    }

    @Test func failureOfAnOperation_endsTheSequence() async throws {
        var outputs = Numbers([1, 13, 2]).deliver(to: TenTimes(), on: queue).makeAsyncIterator()
        #expect(try await outputs.next() == 10)
        let error = await #expect(throws: AOperationError.self) { _ = try await outputs.next() }
        #expect(error?.publishedError as? Failed == Failed(text: "13"))
        #expect(try await outputs.next() == nil)
    }

    @Test func secondElement_forAnOperationThatCannotBeMadeAnew_isATypedError() async throws {
        let keep = PassOn<Int>()
        keep.name = "once"
        var outputs = Numbers([1, 2]).deliver(to: keep, on: queue).makeAsyncIterator()
        #expect(try await outputs.next() == 1)
        let error = await #expect(throws: AOperationError.self) { _ = try await outputs.next() }
        #expect(error?.publishedError as? AOperationError.IsNotRetryable == .init(operation: "once"))
    }

    @Test func upstreamError_thatNobodyCanTake_endsTheSequence() async throws {
        var outputs = Numbers([1], failing: Failed(text: "torn")).deliver(to: PassOn<Int>(), on: queue)
            .makeAsyncIterator()
        #expect(try await outputs.next() == 1)
        let error = await #expect(throws: AOperationError.self) { _ = try await outputs.next() }
        #expect(error?.publishedError as? Failed == Failed(text: "torn"))
    }

    @Test func cancelledConsumer_cancelsTheOperationThatRuns() async {
        let started = Signal()
        let hang = MapOperationBlock<Int, Int> { _, _ in started.fire() }
        hang.grace = .zero
        let consumer = Task { for try await _ in Numbers([1]).deliver(to: hang, on: queue) {} }
        await started.wait()
        consumer.cancel()
        let error = await consumer.result.error as? AOperationError
        #expect(error?.publishedError is AOperationError.IsCancelled)
    }
}
