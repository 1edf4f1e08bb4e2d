import Foundation
import Testing

@testable import Cluster

/// Those who wait for something that becomes known once, or for their turn.
@Suite(.timeLimit(.minutes(1))) struct PromiseTests {
    @Test func whoIsCancelled_waitsNoLonger_andTheOthersDo() async throws {
        let promise = Promise<Int>()
        let (cancelled, other) = (Task { try await promise.value() }, Task { try await promise.value() })
        while promise.waiterCount < 2 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(promise.waiterCount == 1)
        promise.settle(.success(1))
        promise.settle(.success(2))
        #expect(try await other.value == 1)
        #expect(try await promise.value() == 1)
    }

    @Test func whoWasCancelledBefore_doesNotWait_butIsToldWhatIsKnown() async throws {
        let (open, known) = (Promise<Int>(), Promise<Int>())
        known.settle(.success(1))
        let waiting = Task {
            await untilCancelled()
            return try await open.value()
        }
        let told = Task {
            await untilCancelled()
            return try await known.value()
        }
        for task in [waiting, told] { task.cancel() }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await told.value == 1)
    }

    @Test func error_isTheSameForAll() async {
        let promise = Promise<Int>()
        let early = Task { try await promise.value() }
        while promise.waiterCount < 1 { await Task.yield() }
        promise.settle(.failure(ClusterError(.closed, "closed")))
        await #expect(throws: ClusterError.self) { try await early.value }
        await #expect(throws: ClusterError.self) { try await promise.value() }
    }

    @Test func connectionThatNobodyAnswers_isNotWaitedForInACancelledTask() async {
        let core = ConnectionCore()
        let waiting = Task {
            await untilCancelled()
            try await core.waitUntilAttached()
        }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func largeValueThatSomebodyElseReads_isNotWaitedForInACancelledTask() async throws {
        let (core, digest) = (ConnectionCore(), Data("digest".utf8))
        let first = try await core.openFetch(digest)
        let waiting = Task { _ = try await core.openFetch(digest) }
        for _ in 0..<1_000 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        core.closeFetch(digest)
        _ = try await core.openFetch(digest)
        _ = first
    }

    private func untilCancelled() async {
        while !Task.isCancelled { await Task.yield() }
    }
}
