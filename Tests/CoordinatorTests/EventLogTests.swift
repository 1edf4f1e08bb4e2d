import Foundation
import Logging
import Synchronization
import Testing
import Wire

@testable import Coordinator
@testable import Scheduling

/// What the coordinator's log says of its work.
@Suite struct EventLogTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    init() throws { temporary = try TemporaryDirectory() }

    /// Keeps lines as text handlers write them.
    private final class Log: Sendable {
        private let kept = Mutex<[String]>([])
        var lines: [String] { kept.withLock { $0 } }

        func logger(_ level: Logger.Level) -> Logger { Logger(label: "test", factory: { _ in Handler(log: self, logLevel: level) }) }

        private struct Handler: LogHandler {
            let log: Log
            var logLevel: Logger.Level
            var metadata = Logger.Metadata()

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let metadata = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
                log.kept.withLock { $0.append("\(event.level) \(event.message) \(metadata)") }
            }
        }
    }

    /// One submission that is paused and resumed, of which one operation fails; and another one that is cancelled.
    private func work(_ logger: Logger) async throws -> String {
        try await TestCoordinator.run(in: path, logger: logger) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a"), .noop("b")]))
            _ = try client.request(11, .follow(.with { $0.submission = id }))
            _ = try client.request(12, .pause(.with { $0.submission = id }))
            _ = try client.request(13, .resume(.with { $0.submission = id }))
            let assignments = try worker.assignments(2)
            try worker.succeed(assignments[0])
            try worker.report(
                assignments[1].unit, assignments[1].attempt,
                .ended(
                    .with {
                        $0.startedAt = 5
                        $0.failure = .with {
                            $0.errors = [
                                .with {
                                    $0.code = .exit
                                    $0.message = "exited with 7\non h1: \u{1B}[31mred\u{7}"
                                }
                            ]
                        }
                    }))
            try client.expect { message in
                if case .events(let events) = message.body, events.view.state == .failed { () } else { nil }
            }
            let other = try client.submit(.group([.noop("c")]), key: "other")
            _ = try client.request(
                14,
                .cancel(
                    .with {
                        $0.submission = other; $0.reason = "not wanted"
                    }))
            return id
        }
    }

    @Test func submissionsAndWorkers_haveALine_fromInfoOn_andFailuresNameOperationWorkerAndError() async throws {
        let log = Log()
        let id = try await work(log.logger(.info))
        let lines = log.lines
        #expect(
            lines.contains { $0.contains("submission admitted") && $0.contains("submission=\(id)") && $0.contains("nodes=3") }, "\(lines)")
        #expect(lines.contains { $0.contains("worker connected") && $0.contains("worker=here/0") }, "\(lines)")
        let failed = lines.filter { $0.contains("operation failed") }
        #expect(failed.count == 1, "\(lines)")
        for part in ["operation=\(id)/b", "worker=here/0", "code=exit", "error=exited with 7 on h1: ␛[31mred␇", "attempt=1", "type=noop"] {
            #expect(failed.first?.contains(part) == true, "\(failed)")
        }
        let ended = lines.first { $0.contains("submission ended") } ?? ""
        #expect(ended.contains("state=failed") && ended.contains("succeeded=1") && ended.contains("failed=1"), "\(lines)")
        for event in ["submission paused", "submission resumed"] {
            #expect(lines.contains { $0.contains("\(event) submission=\(id)") }, "\(lines)")
        }
        #expect(lines.contains { $0.contains("submission is cancelled") && $0.contains("reason=not wanted") }, "\(lines)")
        #expect(!lines.contains { $0.contains("operation succeeded") }, "single operations are for debug")
    }

    @Test func submissionThatFailedByAGroup_saysWhy_asNoOperationHasALine() async throws {
        let log = Log()
        let id = try await TestCoordinator.run(in: path, logger: log.logger(.info)) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let group = WireNode.with {
                $0.id = "publish"
                $0.kind = .group(WireGroupNode())
                $0.timeoutMilliseconds = 1
            }
            let id = try client.submit(.group([group, .noop("a", parent: 1)]))
            _ = try client.request(11, .follow(.with { $0.submission = id }))
            guard try client.view(id).state != .failed else { return id }
            try client.expect { message in
                if case .events(let events) = message.body, events.view.state == .failed { () } else { nil }
            }
            return id
        }
        let ended = log.lines.first { $0.contains("submission ended") } ?? ""
        for part in ["submission=\(id)", "failed=0", "code=timeout", "error=timed out after 1 ms", "operation=\(id)/publish"] {
            #expect(ended.contains(part), "\(log.lines)")
        }
    }

    @Test func singleOperations_haveALine_fromDebugOn() async throws {
        let log = Log()
        let id = try await work(log.logger(.debug))
        #expect(log.lines.contains { $0.contains("operation given out") && $0.contains("operation=\(id)/a") })
        #expect(log.lines.contains { $0.contains("operation succeeded") && $0.contains("operation=\(id)/a") })
    }

    @Test func belowItsLevel_nothingIsToldAndNothingMade() {
        for (level, telling) in [
            (Logger.Level.warning, Happening.Telling.nothing), (.notice, .failures), (.info, .failures), (.debug, .everything),
        ] {
            #expect(EventLog(Log().logger(level)).telling == telling, "\(level)")
        }
        let unit = UnitID(SubmissionNumber(1), 1)
        #expect(EventLog.level(of: .attemptEnded(unit, Attempt(rawValue: 1), .stopped, startedAt: 0, at: 1)) == nil)
        #expect(EventLog.level(of: .assigned(unit, Attempt(rawValue: 1), WorkerNumber(0), at: 1)) == .debug)
    }

    @Test func linesComeWhenTheyAreDurable_andFailuresOfOneSubmissionAreBounded() {
        let log = Log()
        var events = EventLog(log.logger(.info))
        let number = SubmissionNumber(1)
        for index in 0..<300 {
            let line = EventLog.Line(level: .notice, message: "operation failed", metadata: ["operation": "o\(index)", "submission": "s"])
            events.append(failure: line, of: number, after: JournalSequence(UInt64(index + 1)))
        }
        #expect(log.lines.isEmpty)
        events.release(upTo: JournalSequence(2))
        #expect(log.lines.count == 2)
        events.release(upTo: JournalSequence(300))
        #expect(log.lines.count == CoordinatorLimits.failureLinesPerSubmission + 1)
        #expect(log.lines.last?.contains("failureLinesPerSubmission") == true, "\(log.lines.suffix(2))")
        events.forget(number)
        events.append(
            failure: EventLog.Line(level: .notice, message: "operation failed", metadata: [:]), of: number, after: JournalSequence(301))
        events.release(upTo: JournalSequence(301))
        #expect(log.lines.count == CoordinatorLimits.failureLinesPerSubmission + 2)
    }
}
