// The examples of TimeLimits.md.

import AOperation
import Foundation
import Testing

@Suite("Time limits", .timeLimit(.minutes(1)))
struct TimeLimitsExamples {
    let queue = AOperationQueue()

    @Test func limits_areSetOnTheOperation() async throws {
        let fetch = Fetch("https://example.org/list")
            .timeout(.seconds(5))
            .queueTimeout(.seconds(60))
            .deadline(.seconds(120))
        #expect(try await fetch.value(on: queue) == Data("https://example.org/list".utf8))
    }

    @Test func limitsThatPass_failTheOperation() async {
        let slow = Fetch("silent").timeout(.milliseconds(10))
        slow.grace = .zero
        #expect(await slow.result(on: queue).error?.publishedError is TimeoutObserver.Error)
        let blocked = Fetch("silent").deadline(.milliseconds(10))
        blocked.grace = .zero
        #expect(await blocked.result(on: queue).error?.publishedError is AOperationError.DeadlinePassed)
        let suspended = AOperationQueue()
        suspended.isSuspended = true
        let waiting = Job().queueTimeout(.milliseconds(10))
        #expect(await waiting.result(on: suspended).error?.publishedError is AOperationError.QueueTimeout)
    }

    @Test func start_mayBeLater() async {
        let date = Date(timeIntervalSinceNow: 0.02)
        let later = Fetch("https://example.org/list").delay(.milliseconds(20))
        let tonight = Publish().notBefore(date)
        #expect(await later.result(on: queue).error == nil)
        #expect(await tonight.result(on: queue).error == nil)
        #expect(Date() >= date)
    }
}
