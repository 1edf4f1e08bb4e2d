import AOperation
import Executing
import Foundation
import Synchronization
import Testing

@testable import Cluster

/// Mirrors whose bodies execute here after all, as a test says when.
@Suite(.timeLimit(.minutes(2))) struct HostedMirrorTests {
    /// Has no wire form.
    final class Token: Sendable {}

    /// Ends when the test says so; counts.
    final class Body: ResultableOperation<Token>, RetryableOperation, @unchecked Sendable {
        let cancellations = Mutex(0)
        let log: Log

        final class Log: Sendable {
            let bodies = Mutex<[Body]>([])
        }

        init(_ log: Log = Log()) {
            self.log = log
            super.init()
        }

        func new() -> Body { Body(log) }

        override func execute() { log.bodies.withLock { $0.append(self) } }

        override func cancel() {
            super.cancel()
            cancellations.withLock { $0 += 1 }
        }
    }

    private final class Trial: Sendable {
        let cancelled = Mutex(0)
        let ends = Mutex<[String]>([])
        let queue = AOperationQueue()

        init(_ operations: AOperation...) {
            for operation in operations { _ = operation.becomeMirror { [weak self] _ in self?.cancelled.withLock { $0 += 1 } } }
            queue.addOperations(operations, waitUntilFinished: false)
            for operation in operations { _ = operation.handOver() }
        }

        func execute(_ operation: AOperation) -> Bool {
            operation.executeHosted(underTokens: ["key": 7]) { [weak self] ending in
                self?.ends.withLock { ends in
                    switch ending {
                    case .success: ends.append("success")
                    case .failure(let errors): ends.append("failure \(errors.map(\.localizedDescription))")
                    case .cancelled: ends.append("cancelled")
                    }
                }
            }
        }

        var told: [String] { ends.withLock { $0 } }
    }

    /// Of what comes to a graph that runs it may be heard that it has started before it is known here what is to be executed.
    @Test func askedForWhileItsStartIsTold_itExecutes() async throws {
        let body = Body()
        let trial = Trial(body)
        body.addObserver(BlockObserver(startHandler: { operation in _ = trial.execute(operation) }))
        body.remoteDidStart()
        let begun = try await begun(body)
        #expect(begun === body)
        #expect(trial.told == [])
        body.finish(with: .success(Token()))
        #expect(try await eventually { trial.told.isEmpty ? nil : trial.told } == ["success"])
        body.remoteDidEnd(.success(.void), hasStarted: true)
        await end(body)
        #expect(body.outcome?.isSuccess == true)
    }

    private func end(_ operation: AOperation) async {
        await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } }
    }

    private func begun(_ body: Body, _ count: Int = 1) async throws -> Body {
        try await eventually { body.log.bodies.withLock { $0.count == count ? $0.last : nil } }
    }

    private func eventually<Value>(_ value: () -> Value?) async throws -> Value {
        for _ in 0..<60_000 {
            if let value = value() { return value }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw CancellationError()
    }

    @Test func body_executesWhenItIsAskedFor_decidesNothing_andItsValueNeedsNoCodec() async throws {
        let body = Body()
        let trial = Trial(body)
        let starts = Mutex(0)
        #expect(trial.execute(body))
        _ = try await begun(body)
        body.didStart { starts.withLock { $0 += 1 } }
        #expect(body.fencingToken(for: "key") == 7)
        let token = Token()
        body.finish(with: .success(token))
        #expect(trial.told == ["success"])
        #expect(body.outcome == nil && !body.isFinished)
        #expect(try body.hostedValue() == nil)
        body.remoteDidEnd(.success(.void), hasStarted: true)
        await end(body)
        #expect(body.outcome?.value === token)
    }

    @Test func receiver_takesWhatItsLocalProducersHave_alsoATuple() async throws {
        let (one, two) = (Body(), MapOperationBlock<Void, Int> { _, finish in finish(.success(2)) })
        let both = MapOperationBlock<(Token, Int), Int> { received, finish in finish((received ?? .success((Token(), 0))).map(\.1)) }
        deliver(one, two, to: both)
        let trial = Trial(one, two, both)
        // It is asked for before its producers have ended here.
        #expect(trial.execute(both))
        #expect(trial.execute(one))
        #expect(trial.execute(two))
        _ = try await begun(one)
        one.finish(with: .success(Token()))
        try await eventually { trial.told.count == 2 ? () : nil }
        for operation in [one, two] as [AOperation] { operation.remoteDidEnd(.success(.void), hasStarted: true) }
        try await eventually { trial.told.count == 3 ? () : nil }
        both.remoteDidEnd(.success(.void), hasStarted: true)
        await end(both)
        #expect(both.outcome?.value == 2)
    }

    @Test func anotherAttempt_isAnotherOperation_whoseValueCounts() async throws {
        let body = Body()
        let trial = Trial(body)
        #expect(trial.execute(body))
        _ = try await begun(body)
        body.finish(with: .failure(AOperationError(CancellationError())))
        #expect(trial.told.count == 1)
        #expect(!trial.execute(body))
        let attempt = try #require(body.makeHostedAttempt(underTokens: [:]) as? Body)
        AOperationQueue().addOperation(attempt)
        #expect(try await begun(body, 2) === attempt)
        let token = Token()
        attempt.finish(with: .success(token))
        await end(attempt)
        guard case .success(let made) = body.takeHostedAttempt(attempt) else { return #expect(Bool(false), "it succeeded") }
        #expect(made === attempt && body.outcome == nil)
        body.remoteDidEnd(.success(.void), hasStarted: true)
        await end(body)
        #expect(body.outcome?.value === token)
    }

    @Test func stoppedBody_isTold_andTheOutcomeIsOpen_untilItComes() async throws {
        let body = Body()
        let trial = Trial(body)
        #expect(trial.execute(body))
        _ = try await begun(body)
        body.stopHosted()
        body.stopHosted()
        #expect(body.isCancelled && body.outcome == nil)
        #expect(body.cancellations.withLock { $0 } == 1 && trial.cancelled.withLock { $0 } == 0)
        body.finish(with: .success(Token()))
        #expect(trial.told == ["success"] && !body.isCancelled)
        body.remoteDidEnd(.failure([AOperationError(CancellationError())]), hasStarted: true)
        await end(body)
        #expect(body.outcome?.isSuccess == false && body.outcome?.isCancelled == false)
    }

    @Test func cancelledHere_whatItsBodySaysAfterwardsDoesNotCount_andTheOutcomeIsTheClusters() async throws {
        let body = Body()
        let trial = Trial(body)
        #expect(trial.execute(body))
        _ = try await begun(body)
        body.cancel()
        body.stopHosted()
        #expect(body.outcome == nil && body.isCancelled && trial.told.isEmpty)
        #expect(trial.cancelled.withLock { $0 } == 1 && body.cancellations.withLock { $0 } == 1)
        body.finish(with: .success(Token()))
        #expect(trial.told == ["cancelled"])
        body.remoteDidEnd(.cancelled, hasStarted: true)
        await end(body)
        #expect(body.outcome?.isCancelled == true)
    }

    @Test func bodyThatHasNotBegun_doesNot_ifItIsStoppedOrCancelled() async throws {
        let (before, stopped, cancelled) = (Body(), Body(), Body())
        for operation in [stopped, cancelled] { operation.addDependency(before) }
        let trial = Trial(before, stopped, cancelled)
        #expect(trial.execute(stopped))
        stopped.stopHosted()
        #expect(trial.told == ["cancelled"])
        #expect(trial.execute(cancelled))
        cancelled.cancel()
        #expect(trial.told == ["cancelled", "cancelled"] && cancelled.outcome == nil)
        // What has not begun can be asked for again.
        #expect(trial.execute(stopped))
        before.remoteDidEnd(.failure([AOperationError(CancellationError())]), hasStarted: true)
        _ = try await begun(stopped)
        stopped.finish(with: .success(Token()))
        for operation in [stopped, cancelled] { operation.remoteDidEnd(.cancelled, hasStarted: true) }
        for operation in [before, stopped, cancelled] { await end(operation) }
        #expect(cancelled.log.bodies.withLock { $0.isEmpty })
    }

    @Test func bodyThatIsGivenUp_orWhoseOutcomeComesFromElsewhere_isIgnored() async throws {
        let (given, lost) = (Body(), Body())
        let trial = Trial(given, lost)
        for body in [given, lost] {
            #expect(trial.execute(body))
            _ = try await begun(body)
        }
        given.stopHosted()
        given.abandonHosted()
        lost.remoteDidEnd(.failure([AOperationError(SubmitterGone(operation: "lost", reason: "away"))]), hasStarted: true)
        await end(lost)
        #expect(trial.told == ["cancelled", "cancelled"])
        #expect(lost.isCancelled && given.isCancelled)
        for body in [given, lost] { body.finish(with: .success(Token())) }
        #expect(trial.told.count == 2 && given.outcome == nil)
        #expect(lost.publishedErrors.first?.publishedError as? SubmitterGone == SubmitterGone(operation: "lost", reason: "away"))
        given.remoteDidEnd(.cancelled, hasStarted: true)
        await end(given)
    }
}
