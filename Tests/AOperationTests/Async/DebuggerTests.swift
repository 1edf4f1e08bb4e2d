import Foundation
import Logging
import Testing

@testable import AOperation

/// A line that a logger was given.
private struct Line: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: Logger.Metadata
}

private struct Collector: LogHandler {
    let lines: Log<Line>
    var logLevel = Logger.Level.debug
    var metadata: Logger.Metadata = [:]

    init(_ lines: Log<Line>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.append(Line(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
    }
}

/// The debugger is the process's: these tests look for their own operations by name, one after the other.
@Suite(.serialized, .timeLimit(Load.patience))
struct DebuggerTests {
    private let name = "debugged-\(UUID())"

    /// What a logger is told of operations of this test's name while `body` runs.
    private func logged(_ body: () async throws -> Void) async rethrows -> [Line] {
        let lines = Log<Line>()
        AOperation.Debugger.logger = Logger(label: "test") { _ in Collector(lines) }
        defer { AOperation.Debugger.logger = nil }
        try await body()
        return lines.entries.filter { $0.metadata["operation"] == "\(name)" }
    }

    @Test func logger_getsTheDocumentedLines_inOrder() async {
        let lines = await logged {
            do {
                let operation = Value(1, name: name)
                let queue = AOperationQueue()
                operation.add(to: queue)
                await queue.idle()  // its last line comes before it leaves
                withExtendedLifetime(operation) {}
            }
        }
        let documented = lines.filter { $0.level == .info }.map(\.message)
        #expect(
            documented.prefix(3) == [
                "AOperation \(name) added to queue", "AOperation \(name) executed", "AOperation \(name) finished",
            ])
        #expect(
            lines.prefix(5).map { $0.metadata["stage"] } == ["added", "ready", "executed", "finished", "ended"])
    }

    private final class Talker: VoidOperation, @unchecked Sendable {
        override func execute() {
            writeLog("before")
            finish()
            writeLog("after")
        }
    }

    @Test func linesOfAnOperation_goToTheLogger_untilItsOutcomeIsDecided() async {
        let lines = await logged {
            let talker = Talker()
            talker.name = name
            _ = await talker.result(on: AOperationQueue())
        }
        let own = lines.filter { $0.metadata["stage"] == nil }
        #expect(own.map(\.message) == ["before"] && own.map(\.level) == [.info])
    }

    @Test func cancellation_isLoggedWithItsOutcome() async {
        let lines = await logged {
            let operation = Value(1, name: name)
            operation.cancel()
            _ = await operation.result(on: AOperationQueue())
        }
        #expect(lines.first?.message == "AOperation \(name) cancelled")
        let finished = lines.first { $0.metadata["stage"] == "finished" }
        #expect(finished?.message == "AOperation \(name) finished")
        #expect(finished?.metadata["outcome"] == "cancelled")
    }

    @Test func failure_isAWarning_withItsErrorsQueueAndDurations() async {
        let queue = AOperationQueue()
        queue.name = "errors of \(name)"
        let lines = await logged {
            let operation = MapOperationBlock<Void, Int> { _, finish in
                finish(.failure(AOperationError(Failed(text: "disk is full"))))
            }
            operation.name = name
            operation.add(to: queue)
            await operation.ended()
        }
        let finished = lines.first { $0.metadata["stage"] == "finished" }
        #expect(finished?.level == .warning)
        #expect(finished?.metadata["outcome"] == "failure")
        #expect(finished?.metadata["errors"] == .array(["disk is full"]))
        #expect(finished?.metadata["queue"] == "errors of \(name)")
        #expect(finished?.metadata["operation.id"] != nil)
        for key in ["waitingMilliseconds", "queuedMilliseconds", "executingMilliseconds"] {
            #expect(finished?.metadata[key] != nil, "\(key)")
        }
        #expect(lines.first { $0.metadata["stage"] == "ended" }?.metadata["bodyMilliseconds"] != nil)
    }

    @Test func childOfAGroup_namesTheQueueInWhoseSlotsItRuns() async {
        let queue = AOperationQueue()
        queue.name = "outer of \(name)"
        let lines = await logged {
            let group = GroupOperation(GroupOperation(Value(1, name: name)))
            group.add(to: queue)
            await group.ended()
        }
        #expect(lines.first?.metadata["stage"] == "added")
        #expect(lines.first?.metadata["queue"] == "outer of \(name)")
    }

    @Test func missingOverride_isSaid() async {
        final class Empty: VoidOperation, @unchecked Sendable {}
        let lines = await logged {
            let operation = Empty()
            operation.name = name
            operation.add(to: AOperationQueue())
            await operation.ended()
        }
        #expect(lines.contains { $0.message == "AOperation \(name) must override `execute()`." })
    }

    @Test func ignoredDuplicate_isSaid() async {
        let lines = await logged {
            AOperation.Debugger.event(.ignored("u7"), of: Value(1, name: name))
        }
        #expect(lines.first?.message == "AOperation \(name) ignored because of uniqueId u7")
        #expect(lines.first?.metadata["uniqueId"] == "u7")
        #expect(lines.last?.message == "AOperation \(name) deinit")
    }

    @Test func errorLines_goToTheLogger_ifNobodyElseTakesThem() {
        let lines = Log<Line>()
        AOperation.Debugger.logger = Logger(label: "test") { _ in Collector(lines) }
        let former = AOperation.Debugger.errorHandler
        AOperation.Debugger.errorHandler = nil
        AOperation.Debugger.error("something about \(name)")
        AOperation.Debugger.errorHandler = former
        AOperation.Debugger.logger = nil
        #expect(lines.entries.contains { $0.level == .error && $0.message == "something about \(name)" })
    }

    @Test func timings_areTakenByTheHandler_whenTheBodyIsOver() async {
        let taken = Log<OperationTimings>()
        let name = name
        AOperation.Debugger.timingsHandler = { operation, timings in
            if operation.name == name { taken.append(timings) }
        }
        let gate = Gate(name, isDeaf: true)
        let dependency = Gate()
        gate.addDependency(dependency)
        gate.add(to: AOperationQueue())
        await dependency.started.wait()
        dependency.open()
        await gate.started.wait()
        gate.cancel()
        #expect(taken.count == 0)
        #expect(gate.timings?.executing != nil)
        #expect(gate.timings?.body == nil)
        gate.open()
        await gate.ended()
        AOperation.Debugger.timingsHandler = nil
        let timings = taken.entries.first
        #expect(taken.count == 1)
        #expect(timings?.waiting != nil)
        #expect(timings?.conditions == nil)
        #expect(timings?.queued != nil)
        if let executing = timings?.executing, let body = timings?.body { #expect(executing <= body) }
        #expect(timings?.total != nil)
    }

    @Test func timings_areRecordedOnDemand_forObservers() async {
        AOperation.Debugger.recordsTimings = true
        let seen = Log<OperationTimings?>()
        let operation = Value(1)
        operation.observers(BlockObserver(finishHandler: { operation, _ in seen.append(operation.timings) }))
        operation.add(to: AOperationQueue())
        await operation.ended()
        AOperation.Debugger.recordsTimings = false
        #expect(seen.entries.first??.queued != nil)
        #expect(operation.timings?.body != nil)
    }

    @Test func trace_countsFromTheFirstEvaluationToTheLastReadiness() {
        var trace = OperationTrace()
        let start = ContinuousClock.now
        let stages: [AOperation.Debugger.Stage] = [
            .added, .ready, .evaluating, .ready, .evaluating, .ready, .executed, .finished, .ended,
        ]
        for (second, stage) in stages.enumerated() {
            trace.note(stage, at: start + .seconds(second), queueName: nil)
        }
        #expect(
            trace.timings
                == OperationTimings(
                    waiting: .seconds(1), conditions: .seconds(3), queued: .seconds(2), executing: .seconds(1),
                    body: .seconds(2)))
        #expect(trace.timings.total == .seconds(7))
    }

    @Test func timings_areNeverNegative_andWaitsForLocksAreTheConditions() async throws {
        AOperation.Debugger.recordsTimings = true
        defer { AOperation.Debugger.recordsTimings = false }
        let (queue, key) = (AOperationQueue(), "\(UUID())")
        let holder = Gate().exclusive(key)
        let waits = Step().exclusive(key)
        let (plain, holds, fails) = (Step(), Step().conditions(TrueCondition()), Step().conditions(NoFailedDependencies()))
        let broken = Attempted(.failing("a", 1))
        fails.addDependency(broken)
        // Which of two that become ready at once has the lock first is left open: the holder comes first, by itself.
        holder.add(to: queue)
        await holder.started.wait()
        queue.addOperations([waits, plain, holds, broken, fails], waitUntilFinished: false)
        await until { waits.core.withLock { $0.lockRequest != nil } }
        let before = ContinuousClock.now
        await Step().add(to: queue).ended()
        let held = ContinuousClock.now - before
        holder.open()
        await queue.idle()
        for operation in [holder, waits, plain, holds, fails] as [AOperation] {
            let timings = try #require(operation.timings)
            for span in [timings.waiting, timings.conditions, timings.queued, timings.executing] { #expect(span ?? .zero >= .zero) }
        }
        #expect(try #require(waits.timings?.conditions) >= held)
        #expect(plain.timings?.conditions == nil)
        #expect(holds.timings?.conditions != nil)
        #expect(fails.timings?.conditions != nil && fails.timings?.queued == nil)
    }
}
