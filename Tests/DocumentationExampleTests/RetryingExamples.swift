// The examples of Retrying.md.

import AOperation
import Foundation
import Synchronization
import Testing

final class Fetch: ResultableOperation<Data>, RetryableOperation, @unchecked Sendable {
    let address: String

    init(_ address: String) {
        self.address = address
        super.init()
    }

    func new() -> Self { Self(address) }

    override func execute() {
        Network.get(address) { [self] result in finish(with: result) }
    }
}

@Suite("Retrying", .timeLimit(.minutes(1)))
struct RetryingExamples {
    /// Fails until it has received something for the third time.
    final class Decode: ResultableOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        private let attempts: Attempts
        var receivedValue: Result<Data, AOperationError>?

        init(_ attempts: Attempts = Attempts()) {
            self.attempts = attempts
            super.init()
        }

        func new() -> Self { Self(attempts) }

        override func execute() {
            guard attempts.next() == 3 else { return finish(with: .failure(AOperationError(CocoaError(.coderReadCorrupt)))) }
            finish(with: (receivedValue ?? .success(Data())).map { String(decoding: $0, as: UTF8.self) })
        }
    }

    final class Attempts: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    let queue = AOperationQueue()

    @Test func policy_isSetOnTheOperation() async throws {
        let fetch = Fetch("https://example.org/list")
            .retry(RetryPolicy(attempts: 5, backoff: .exponential(.seconds(1)), cap: .seconds(30), jitter: 0.2))
            .didFinish { result in print(result) }
        #expect(try await fetch.value(on: queue) == Data("https://example.org/list".utf8))
    }

    @Test func policy_saysWhichErrorsAreWorthIt() async {
        let careful = RetryPolicy(attempts: 3) { error in error.publishedError is TimeoutObserver.Error }
        let starts = Attempts()
        let failing = Fetch("https://fail.example.org").retry(careful)
        failing.observers(BlockObserver(startHandler: { _ in _ = starts.next() }))
        #expect(await failing.result(on: queue).error?.publishedError is Network.Unreachable)
        #expect(starts.next() == 2)
    }

    @Test func closure_decides() async throws {
        let stubborn = Fetch("https://example.org/list").retryOnFailure { numberOfRetries, error, retry in
            print("attempt \(numberOfRetries + 1) failed:", error.localizedDescription)
            retry(numberOfRetries < 3)
        }
        _ = try await stubborn.value(on: queue)
    }

    @Test func group_isRetried() async throws {
        let day = GroupOperation { [Fetch("https://example.org/list"), Fetch("https://example.org/news")] }
            .retry(RetryPolicy(attempts: 3))
        try await day.value(on: queue)
        #expect(day.outcomes.count == 2)
    }

    @Test func chain_isRetriedByItsEnd() async throws {
        let chain = Fetch("https://example.org/list")
            .deliver(to: Decode())
            .retry(RetryPolicy(attempts: 3, backoff: .constant(.milliseconds(200))))
        #expect(try await chain.value(on: queue) == "https://example.org/list")
    }
}
