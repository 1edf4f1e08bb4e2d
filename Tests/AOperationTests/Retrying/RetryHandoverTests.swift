import Foundation
import Testing

@testable import AOperation

/// What another attempt, or another operation of a pipeline, takes over.
@Suite(.timeLimit(Load.patience))
struct RetryHandoverTests {
    let queue = AOperationQueue()

    /// Fails until its third attempt; then delivers what it received.
    private final class Flaky: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<Int, AOperationError>?
        let attempts: Log<Int>
        init(_ attempts: Log<Int> = Log()) {
            self.attempts = attempts
            super.init()
        }
        func new() -> Flaky { Flaky(attempts) }
        override func execute() {
            attempts.append(1)
            guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
            finish(with: attempts.count % 3 == 0 ? receivedValue : .failure(AOperationError(Failed(text: "again"))))
        }
    }

    @Test func valueThatTheProgramHasSet_isThereInEveryAttempt() async throws {
        let flaky = Flaky().retry(RetryPolicy(attempts: 3, backoff: .none))
        flaky.receivedValue = .success(7)
        queue.addOperation(flaky)
        await flaky.ended()
        #expect(try flaky.result?.get() == 7)
    }

    @Test func elementsOfASequence_areThereInEveryAttempt_andEveryElementIsTriedAgain() async throws {
        let numbers = AsyncStream<Int> { continuation in
            for number in [1, 2, 3] { continuation.yield(number) }
            continuation.finish()
        }
        let flaky = Flaky()
        var results: [Int] = []
        for try await result in numbers.deliver(to: flaky.retry(RetryPolicy(attempts: 3, backoff: .none)), on: queue) {
            results.append(result)
        }
        #expect(results == [1, 2, 3])
        #expect(flaky.attempts.count == 9)
    }

    /// Never ends by itself.
    private final class Endless: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<Int, AOperationError>?
        func new() -> Endless { Endless() }
        override func execute() {
            if case .success(1)? = receivedValue { finish(with: .success(1)) }
        }
        override func cancel() {
            super.cancel()
            finish(with: .failure(AOperationError(Failed(text: "late"))))
        }
    }

    @Test func timeLimits_countForEveryElement() async throws {
        let numbers = AsyncStream<Int> { continuation in
            for number in [1, 2] { continuation.yield(number) }
            continuation.finish()
        }
        var results = numbers.deliver(to: Endless().timeout(.milliseconds(50)), on: queue).makeAsyncIterator()
        #expect(try await results.next() == 1)
        let error = await #expect(throws: AOperationError.self) { try await results.next() }
        #expect(error?.publishedError is TimeoutObserver.Error)
    }

    @Test(arguments: [true, false])
    func conditionOnDependencies_seesTheFailureOfAProducerThatMayBeTriedAgain(isCancelledOnly: Bool) async {
        let tail = Keep<Int>().conditions(isCancelledOnly ? NoCancelledDependencies() as any AOperationCondition : NoFailedDependencies())
        Failing<Int>("source").deliver(to: tail)
        let retried = tail.retry(RetryPolicy(attempts: 2, backoff: .none))
        queue.addOperation(retried)
        await retried.ended()
        #expect(retried.outcome?.isSuccess == isCancelledOnly)
        if !isCancelledOnly { #expect(retried.publishedErrors.first?.publishedError is NoFailedDependencies.Error) }
    }
}
