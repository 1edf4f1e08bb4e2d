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
        let line: StartLine
        private var runner: UnitRunner?

        init(mayBegin: Bool = true) throws {
            let line = StartLine { mayBegin }
            self.line = line
            let loop = try EventLoop()
            self.loop = loop
            commands = try CommandRunner()
            let (events, news) = AsyncStream<Event>.makeStream()
            self.events = events
            let registry = try OperationRegistry([Counted.self], withShell: false)
            runner = UnitRunner(
                registry: registry, slots: 1, loop: loop, hostName: "h", line: line,
                whenBegun: { key, _ in news.yield(.begun(key.unit)) }, whenEnded: { key, _ in news.yield(.ended(key.unit)) })
            try loop.runOnOwnThread(name: "test")
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

        func assignment(_ operation: String = "noop", _ parameters: String = "") -> WireAssignment {
            .with {
                $0.operation = operation
                $0.parameters = Data(parameters.utf8)
            }
        }

        var context: UnitContext {
            UnitContext(submission: "s", path: "a", attemptNumber: 1, worker: "h/0", host: commands.host)
        }
    }

    /// Counts how often it was made, under a name.
    private final class Counted: VoidOperation, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var name: String }
        static let made = Guarded<[String: Int]>([:])
        let parameters: Parameters

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
            Self.made.withLock { $0[parameters.name, default: 0] += 1 }
        }

        override func execute() { finish() }
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

    @Test func whatIsTakenBack_isMadeOnce() async throws {
        let trial = try Trial()
        let context = trial.context
        let name = UUID().uuidString
        trial.use { [key] runner in
            let assignment = trial.assignment(Counted.operationName, "{\"name\": \"\(name)\"}")
            for _ in 0..<3 {
                runner.lineUp(key(1), assignment, context: context)
                _ = runner.takeBackLine()
            }
            runner.start(key(1), assignment, context: context, blobs: [:])
        }
        #expect(await trial.next(1) == [.ended(1)])
        #expect(Counted.made.withLock { $0[name] } == 1)
    }

    /// Somebody has taken it out of the line to let it begin, and is held up.
    @Test func whatIsStoppedBeforeItIsAdded_endsOnce_andDoesNotRun() async throws {
        let trial = try Trial()
        let context = trial.context
        let begin: @Sendable () -> Void = try await withCheckedThrowingContinuation { continuation in
            trial.use { [key] runner in
                runner.lineUp(key(2), trial.assignment(), context: context)
                continuation.resume(with: Result { try #require(trial.line.next()) })
            }
        }
        trial.use { [key] runner in
            #expect(runner.takeBackLine() == [])
            runner.stop(key(2))
        }
        #expect(await trial.next(1) == [.ended(2)])
        begin()
        trial.use { [key] runner in runner.start(key(3), trial.assignment(), context: context, blobs: [:]) }
        #expect(await trial.next(1) == [.ended(3)])
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
