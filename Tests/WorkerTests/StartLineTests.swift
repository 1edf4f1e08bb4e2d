import AOperation
import Executing
import Foundation
import Testing
import Wire

@testable import Worker

/// Operations that begin when others end.
@Suite(.timeLimit(.minutes(1))) struct StartLineTests {
    private enum Event: Equatable, Sendable {
        case begun(UInt64)
        case ended(UInt64)
    }

    /// A runner with one slot on a loop of its own, and what it says.
    ///
    /// Invariant behind `@unchecked Sendable`: the runner is only touched on the loop's thread.
    private final class Trial: @unchecked Sendable {
        let loop: EventLoop
        let events: AsyncStream<Event>
        private let commands: CommandRunner
        private var runner: UnitRunner?

        init(mayBegin: Bool = true) throws {
            let loop = try EventLoop()
            self.loop = loop
            commands = try CommandRunner()
            let (events, news) = AsyncStream<Event>.makeStream()
            self.events = events
            let registry = try OperationRegistry([], withShell: false)
            runner = UnitRunner(
                registry: registry, slots: 1, loop: loop, hostName: "h", line: StartLine { mayBegin },
                whenBegun: { key, _ in news.yield(.begun(key.unit)) }, whenEnded: { key, _ in news.yield(.ended(key.unit)) })
            loop.runOnOwnThread(name: "test")
        }

        deinit { loop.submit { [loop] in loop.stop() } }

        func use(_ body: @escaping @Sendable (UnitRunner) -> Void) {
            loop.submit { [self] in if let runner { body(runner) } }
        }

        func next(_ count: Int) async -> [Event] {
            var found: [Event] = []
            for await event in events {
                found.append(event)
                if found.count == count { break }
            }
            return found
        }

        func assignment(_ operation: String = "noop") -> WireAssignment { .with { $0.operation = operation } }

        var context: UnitContext {
            UnitContext(submission: "s", path: "a", attemptNumber: 1, worker: "h/0", host: commands.host)
        }
    }

    private func key(_ unit: UInt64) -> UnitKey { UnitKey(unit: unit, attempt: 1) }

    @Test func whoStandsInLine_beginsWhenAnotherOneEnds() async throws {
        let trial = try Trial()
        let context = trial.context
        trial.use { [key] runner in
            for unit in UInt64(2)...4 { runner.lineUp(key(unit), trial.assignment(), context: context) }
            runner.start(key(1), trial.assignment(), context: context, blobs: [:])
        }
        let events = await trial.next(7)
        #expect(events.filter { if case .begun = $0 { true } else { false } } == [.begun(2), .begun(3), .begun(4)])
        #expect(events.filter { if case .ended = $0 { true } else { false } } == [.ended(1), .ended(2), .ended(3), .ended(4)])
        for unit in UInt64(2)...4 {
            let (begun, ended) = (events.firstIndex(of: .begun(unit)), events.firstIndex(of: .ended(unit)))
            #expect(try #require(begun) < #require(ended))
        }
    }

    @Test func whatIsTakenBack_doesNotBegin_andCanBeStartedLater() async throws {
        let trial = try Trial()
        let context = trial.context
        trial.use { [key] runner in
            runner.lineUp(key(2), trial.assignment(), context: context)
            #expect(runner.takeBackLine() == [key(2)])
            runner.start(key(1), trial.assignment(), context: context, blobs: [:])
        }
        #expect(await trial.next(1) == [.ended(1)])
        trial.use { [key] runner in runner.start(key(2), trial.assignment(), context: context, blobs: [:]) }
        #expect(await trial.next(1) == [.ended(2)])
    }

    @Test func startedByTheLoop_itDoesNotBeginOnceMore() async throws {
        let trial = try Trial()
        let context = trial.context
        trial.use { [key] runner in
            runner.lineUp(key(1), trial.assignment(), context: context)
            runner.lineUp(key(2), trial.assignment(), context: context)
            runner.start(key(1), trial.assignment(), context: context, blobs: [:])
        }
        let events = await trial.next(3)
        #expect(Set(events.map { "\($0)" }).count == 3 && !events.contains(.begun(1)), "\(events)")
    }

    @Test func whatOnlyTheLoopCanBegin_isNotOvertaken() async throws {
        let trial = try Trial()
        let context = trial.context
        trial.use { [key] runner in
            runner.lineUp(key(2), trial.assignment("unknown"), context: context)
            runner.lineUp(key(3), trial.assignment(), context: context)
            runner.start(key(1), trial.assignment(), context: context, blobs: [:])
        }
        #expect(await trial.next(1) == [.ended(1)])
        trial.use { [key] runner in runner.start(key(2), trial.assignment("unknown"), context: context, blobs: [:]) }
        #expect(await trial.next(1) == [.ended(2)])
        trial.use { [key] runner in runner.start(key(3), trial.assignment(), context: context, blobs: [:]) }
        #expect(await trial.next(1) == [.ended(3)])
    }

    @Test func loopThatIsNotHeardOf_isNotPassedBy() async throws {
        let trial = try Trial(mayBegin: false)
        let context = trial.context
        trial.use { [key] runner in
            runner.lineUp(key(2), trial.assignment(), context: context)
            runner.start(key(1), trial.assignment(), context: context, blobs: [:])
        }
        #expect(await trial.next(1) == [.ended(1)])
        trial.use { [key] runner in #expect(runner.takeBackLine() == [key(2)]) }
        trial.use { [key] runner in runner.start(key(2), trial.assignment(), context: context, blobs: [:]) }
        #expect(await trial.next(1) == [.ended(2)])
    }
}
