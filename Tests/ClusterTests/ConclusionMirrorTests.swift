import AOperation
import Executing
import Foundation
import Synchronization
import Testing
import TrialOperations
import Wire

@testable import Cluster

/// Mirrors that are asked about their ends: `retryOnFailure` and `willFinish` of what runs elsewhere.
@Suite(.timeLimit(.minutes(2))) struct ConclusionMirrorTests {
    private final class Trial: Sendable {
        let answers = Mutex<[String]>([])
        let told = Mutex<[String]>([])
        let lets = Mutex<[@Sendable () -> Void]>([])
        let cancelled = Mutex(0)
        let queue = AOperationQueue()

        /// Holds the end back until the test lets it go.
        func hold<Output>(_ operation: ResultableOperation<Output>) {
            operation.willFinish { result, finish in
                switch result {
                case .success(let value): self.told.withLock { $0.append("will \(value)") }
                case .failure(let error): self.told.withLock { $0.append("will fail \(error.localizedDescription)") }
                }
                self.lets.withLock { $0.append(finish) }
            }
            operation.addObserver(FinishedObserver { _, _ in self.told.withLock { $0.append("finished") } })
        }

        func run(_ operations: AOperation...) {
            for operation in operations { _ = operation.becomeMirror { [weak self] _ in self?.cancelled.withLock { $0 += 1 } } }
            queue.addOperations(operations, waitUntilFinished: false)
            for operation in operations { _ = operation.handOver() }
        }

        func ask(_ operation: AOperation, _ ending: RemoteEnding, retries: Int? = nil, tells: Bool = true) {
            operation.concludeElsewhere(ending, hasStarted: true, retries: retries, tells: tells) { answer in
                self.answers.withLock { answers in
                    switch answer {
                    case .again(let wait): answers.append("again \(wait)")
                    case .final: answers.append("final")
                    }
                }
            }
        }

        func letGo() { for letGo in lets.withLock({ $0 }) { letGo() } }

        /// Mirrors begin on their queue's threads.
        func waitForTelling(_ count: Int = 1) async {
            await until { lets.withLock { $0.count } >= count }
        }

        var answered: [String] { answers.withLock { $0 } }
        var heard: [String] { told.withLock { $0 } }
    }

    private func end(_ operation: AOperation) async {
        await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } }
    }

    private func failure(_ text: String) -> RemoteEnding {
        .failure([AOperationError(TrialError(text: text), state: .execution, publisher: "there")])
    }

    @Test func willFinish_isToldOnce_andTheEndOnlyAfterItIsReported() async {
        let (trial, emit) = (Trial(), Emit("a"))
        trial.hold(emit)
        trial.run(emit)
        emit.remoteDidStart()
        trial.ask(emit, .success(.text("A")))
        await trial.waitForTelling()
        #expect(trial.heard == ["will A"] && trial.answered.isEmpty)
        trial.letGo()
        trial.letGo()
        #expect(trial.answered == ["final"])
        #expect(emit.outcome == nil && trial.heard == ["will A"])
        emit.remoteDidEnd(.success(.text("A")), hasStarted: true)
        await end(emit)
        #expect(emit.outcome?.value == "A")
        #expect(trial.heard == ["will A", "finished"])
    }

    @Test func mirrorThatHasNotStartedYet_isToldWhenItHas() async {
        let (trial, before, emit) = (Trial(), Emit("before"), Emit("a"))
        emit.addDependency(before)
        trial.hold(emit)
        trial.run(before, emit)
        trial.ask(emit, failure("no"))
        #expect(trial.heard.isEmpty && trial.answered.isEmpty)
        before.remoteDidEnd(.success(.text("")), hasStarted: true)
        await end(before)
        await trial.waitForTelling()
        #expect(trial.heard == ["will fail trial: no"])
        trial.letGo()
        emit.remoteDidEnd(failure("no"), hasStarted: true)
        await end(emit)
        #expect(emit.outcome?.errors.map(\.localizedDescription) == ["trial: no"])
        #expect(emit.publishedErrors.first?.publisher == "there")
    }

    @Test func cancelledWhileItIsHeld_itEndsAsTheClusterSays_andIsAskedNoMore() async {
        let (trial, emit, after) = (Trial(), Emit("a"), VoidOperation())
        after.addDependency(emit)
        trial.hold(emit)
        trial.run(emit)
        AOperationQueue().addOperation(after)
        emit.remoteDidStart()
        trial.ask(emit, .success(.text("A")))
        await trial.waitForTelling()
        emit.cancel()
        #expect(emit.outcome == nil && emit.isCancelled && trial.heard == ["will A"])
        #expect(trial.cancelled.withLock { $0 } == 1 && after.outcome == nil)
        trial.ask(emit, failure("no"), retries: 0)
        #expect(trial.answered.isEmpty && after.outcome == nil)
        emit.remoteDidEnd(.cancelled, hasStarted: true)
        await end(after)
        trial.letGo()
        #expect(emit.outcome?.isCancelled == true && trial.heard == ["will A", "finished"])
    }

    @Test func otherEndThatIsReportedMeanwhile_counts_andWillFinishIsPassedOver() async {
        let (trial, late, passed, cancelled) = (Trial(), Emit("late"), Emit("passed"), Emit("cancelled"))
        for emit in [late, passed, cancelled] {
            trial.hold(emit)
            trial.run(emit)
            emit.remoteDidStart()
            trial.ask(emit, .success(.text("A")))
        }
        await trial.waitForTelling(3)
        late.remoteDidEnd(failure("too late"), hasStarted: true)
        passed.remoteDidEnd(.success(.text("A")), hasStarted: true)
        cancelled.remoteDidEnd(.cancelled, hasStarted: true)
        for emit in [late, passed, cancelled] { await end(emit) }
        #expect(late.outcome?.errors.map(\.localizedDescription) == ["trial: too late"])
        #expect(passed.outcome?.value == "A" && cancelled.outcome?.isCancelled == true)
        trial.letGo()
        #expect(trial.heard.count { $0 == "finished" } == 3 && trial.cancelled.withLock { $0 } == 0)
    }

    @Test func endThatNobodyWasAskedAbout_isNotHeld() async {
        let (trial, emit) = (Trial(), Emit("a"))
        trial.hold(emit)
        trial.run(emit)
        emit.remoteDidEnd(failure("a condition"), hasStarted: true)
        await end(emit)
        #expect(trial.heard == ["finished"])
    }

    @Test func retryOnFailure_isAskedHere_withTheNumberOfRetries_andAnswersOnce() async {
        let (trial, emit) = (Trial(), Emit("a"))
        let asked = Mutex<[Int]>([])
        emit.retryOnFailure { retries, _, retry in
            asked.withLock { $0.append(retries) }
            retry(retries < 1)
            retry(true)
        }
        trial.hold(emit)
        trial.run(emit)
        emit.remoteDidStart()
        trial.ask(emit, failure("once"), retries: 0)
        await until { !trial.answered.isEmpty }
        #expect(trial.answered == ["again 0.0 seconds"] && trial.heard.isEmpty)
        trial.ask(emit, failure("twice"), retries: 1)
        await trial.waitForTelling()
        #expect(trial.heard == ["will fail trial: twice"] && trial.answered.count == 1)
        trial.letGo()
        #expect(trial.answered.last == "final" && asked.withLock { $0 } == [0, 1])
        emit.remoteDidEnd(failure("twice"), hasStarted: true)
        await end(emit)
        #expect(trial.heard == ["will fail trial: twice", "finished"])
    }

    @Test func group_isToldWhenItsChildrenHaveEndedHere_withTheirErrors() async {
        let (trial, a, b) = (Trial(), Emit("a"), Emit("b"))
        let group = GroupOperation(a, b)
        trial.hold(group)
        let mirrors = [group, a, b]
        for operation in mirrors { _ = operation.becomeMirror { _ in } }
        trial.queue.addOperation(group)
        for operation in mirrors { _ = operation.handOver() }
        group.remoteDidStart()
        a.remoteDidEnd(failure("a is bad"), hasStarted: true)
        trial.ask(group, .failure([]))
        #expect(trial.heard.isEmpty)
        b.remoteDidEnd(.success(.text("B")), hasStarted: true)
        await end(b)
        await trial.waitForTelling()
        #expect(trial.heard == ["will fail trial: a is bad"])
        trial.letGo()
        #expect(trial.answered == ["final"] && group.outcome == nil)
        group.remoteDidEnd(.failure([]), hasStarted: true)
        await end(group)
        #expect(group.publishedErrors.map(\.localizedDescription) == ["trial: a is bad"])
        #expect(trial.heard.last == "finished")
    }

    @Test func answers_areKeptUntilTheNextQuestion_orTheEnd() throws {
        let emit = Emit("a")
        _ = emit.becomeMirror { _ in }
        let graph = GraphBuilder.graph(of: [emit])
        let path = try #require(graph.members.first { $0.operation === emit }?.path)
        let node = try #require(graph.places[path])
        let mirrors = Mirrors(graph)
        let again = WireConclusion.with { $0.retryAfterMilliseconds = 5 }
        mirrors.keep(again, 1, at: path)
        #expect(mirrors.conclusion(1, at: path) == again && mirrors.conclusion(2, at: path) == nil)
        mirrors.keep(WireConclusion(), 2, at: path)
        #expect(mirrors.conclusion(1, at: path) == nil && mirrors.conclusion(2, at: path) == WireConclusion())
        mirrors.apply([NodeChange(node: node, news: .ended(.cancelled, hasStarted: true))])
        #expect(mirrors.conclusion(2, at: path) == nil)
        mirrors.keep(again, 3, at: path)
        #expect(mirrors.conclusion(3, at: path) == nil, "it came too late")
    }

    @Test func whatHasNoAnswer_isForgottenWithItsSubmission() {
        var state = HostedSession.State()
        let key = UnitKey(unit: 1, attempt: 2)
        for place in ["s1#4", "s1/g/(decisions)#2", "s2#4", "s11/g#1"] { state.asking[place] = key }
        state.unclaimed = ["s1": [], "s2": []]
        state.forget("s1")
        #expect(state.asking.keys.sorted() == ["s11/g#1", "s2#4"] && state.unclaimed.keys.sorted() == ["s2"])
    }
}
