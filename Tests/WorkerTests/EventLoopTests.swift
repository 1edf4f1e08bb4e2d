import Foundation
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
    /// Runs what blocks on a thread of its own.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    /// `@unchecked Sendable`: touched on the loop's thread only.
    private final class Log: @unchecked Sendable {
        var entries: [Int] = []
    }

    @Test func question_isAnsweredAfterAllThatWasSubmittedBefore() async throws {
        let loop = try EventLoop()
        let log = Log()
        // The loop does not run yet: all of it waits in the inbox.
        for number in 1...3 { loop.submit { log.entries.append(number) } }
        try loop.runOnOwnThread(name: "test")
        #expect(await onThread { loop.ask { log.entries } } == [1, 2, 3])
        loop.submit { loop.stop() }
    }

    /// Two are ready in one turn. Whichever comes first closes the other, whose number a third one gets, which is not ready.
    @Test func whatWasReadyWithANumber_isNotTakenForWhoGetsItNext() async throws {
        let loop = try EventLoop()
        let log = Log()
        loop.submit {
            do {
                let (first, second, third) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
                for (own, other) in [(first, second), (second, first)] {
                    try loop.watch(own.read, .readable) {
                        loop.unwatch(own.read)
                        loop.unwatch(other.read)
                        // Closes it, and the third one has its number.
                        #expect(dup2(third.read, other.read) == other.read)
                        do {
                            try loop.watch(other.read, .readable) { log.entries.append(Int(other.read)) }
                        } catch { Issue.record(error) }
                        loop.after(milliseconds: 0) { loop.stop() }
                    }
                    #expect(write(own.write, "x", 1) == 1)
                }
            } catch {
                Issue.record(error)
                loop.stop()
            }
        }
        await onThread { loop.run() }
        #expect(log.entries.isEmpty)
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func loopThatRests_doesWhatIsNotHurried_byItself() async throws {
        let loop = try EventLoop()
        let log = Log()
        try loop.runOnOwnThread(name: "test")
        for number in 1...20 {
            await withCheckedContinuation { continuation in
                loop.submit {
                    loop.rest(milliseconds: 1)
                    DispatchQueue.global().async {
                        loop.submitUnhurried {
                            log.entries.append(number)
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(await onThread { loop.ask { log.entries } } == Array(1...20))
        loop.submit { loop.stop() }
    }

    @Test func loopThatRests_isWokenByWhatIsHurried_andDoesAllInOrder() async throws {
        let loop = try EventLoop()
        let log = Log()
        // Longer than this test may take.
        loop.submit { loop.rest(milliseconds: 600_000) }
        try loop.runOnOwnThread(name: "test")
        for number in 1...3 { loop.submitUnhurried { log.entries.append(number) } }
        #expect(await onThread { loop.ask { log.entries } } == [1, 2, 3])
        loop.submit { loop.stop() }
    }

    @Test func restInWhichNothingComes_isNoTurn() async throws {
        let loop = try EventLoop()
        let log = Log()
        loop.after(milliseconds: 100) { loop.stop() }
        await onThread {
            loop.run {
                log.entries.append(1)
                loop.rest(milliseconds: 1)
            }
        }
        #expect(log.entries.count == 1, "only that of the timer")
    }

    @Test func loopThatHasEnded_doesNotAnswer() async throws {
        let loop = try EventLoop()
        loop.submit { loop.stop() }
        await onThread { loop.run() }
        #expect(await onThread { loop.ask { true } } == nil)
    }

    @Test func loopThatEnds_leavesNobodyWaiting() async throws {
        let loop = try EventLoop()
        // Handed in while the last turn is taken: never reached, and told so.
        loop.submit {
            loop.stop()
            loop.submit {}
        }
        async let answers = withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<8 { group.addTask { await onThread { loop.ask { true } } } }
            return await group.reduce(into: [Bool?]()) { $0.append($1) }
        }
        await onThread { loop.run() }
        // Before the end or after it: an answer or none, but nobody waits for ever.
        #expect(await answers.count == 8)
    }
}
