import AOperation
import Executing
import Foundation
import Synchronization
import Testing
import TrialOperations
import Wire

@testable import Cluster

/// Groups that begin anew elsewhere: what is in them is told of the last attempt.
@Suite(.timeLimit(.minutes(2))) struct GroupAttemptTests {
    /// A local queue whose operations are mirrors, and what their listeners hear.
    private final class Trial: Sendable {
        let mirrors: Mirrors
        let heard = Mutex<[String]>([])
        let queue = AOperationQueue()

        init(_ operation: AOperation) {
            let graph = GraphBuilder.graph(of: [operation])
            #expect(graph.faults.isEmpty, "\(graph.faults)")
            mirrors = Mirrors(graph, mirror: { operation, _, _ in operation.becomeMirror { _ in } })
            for member in graph.members {
                guard let operation = member.operation else { continue }
                _ = operation.becomeMirror { _ in }
                (operation as? Emit).map(listen)
            }
            queue.addOperation(operation)
            for member in graph.members { _ = member.operation?.handOver() }
        }

        func listen(_ emit: Emit) {
            let name = emit.parameters.text
            emit.didStart { self.heard.withLock { $0.append("\(name) started") } }
            emit.didFinish { result in
                self.heard.withLock { $0.append("\(name) \((try? result.get()) ?? result.failure?.localizedDescription ?? "")") }
            }
        }

        func apply(_ node: Int, _ news: NodeChange.News, attempt: Int = 0) {
            var change = NodeChange(node: node, news: news)
            change.attempt = attempt
            mirrors.apply([change])
        }

        func succeed(_ node: Int, _ text: String) { apply(node, .ended(.success(.text(text)), hasStarted: true)) }

        func fail(_ node: Int, _ text: String) {
            let error = AOperationError(TrialError(text: text), state: .execution, publisher: "there")
            apply(node, .ended(.failure([error]), hasStarted: true))
        }
    }

    private func end(_ operation: AOperation) async {
        await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } }
    }

    @Test func childrenAreToldOnce_ofTheLastAttempt_withTheGroup() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = GroupOperation(a, b).retry(RetryPolicy(attempts: 2))
        let trial = Trial(group)
        trial.apply(0, .started, attempt: 1)
        for node in [1, 2] { trial.apply(node, .started) }
        trial.succeed(1, "first")
        trial.fail(2, "first")
        trial.apply(0, .retrying, attempt: 1)
        trial.apply(0, .started, attempt: 2)
        for node in [1, 2] { trial.apply(node, .started) }
        trial.succeed(2, "second")
        trial.fail(1, "second")
        #expect(a.outcome == nil && b.outcome == nil)
        trial.apply(0, .ended(.failure([]), hasStarted: true), attempt: 2)
        await end(group)
        #expect(trial.mirrors.haveEnded)
        #expect(a.outcome?.errors.map(\.localizedDescription) == ["trial: second"])
        #expect(b.outcome?.value == "second")
        #expect(group.outcomes.map(\.isSuccess) == [false, true])
        #expect(group.publishedErrors.map(\.localizedDescription) == ["trial: second"])
        #expect(trial.heard.withLock { $0 }.count { $0.hasSuffix("started") } == 2)
    }

    /// Cancelled while it waits to be tried again, for one: the last attempt is the one that was.
    @Test func groupThatEndsBetweenTwoAttempts_tellsOfTheOneBefore() async {
        let a = Emit("a")
        let group = GroupOperation(a).retry(RetryPolicy(attempts: 2))
        let trial = Trial(group)
        trial.apply(0, .started, attempt: 1)
        trial.fail(1, "first")
        trial.apply(0, .retrying, attempt: 1)
        trial.apply(0, .started, attempt: 1)  // paused meanwhile
        trial.apply(0, .ended(.cancelled, hasStarted: true), attempt: 1)
        await end(group)
        #expect(group.outcome?.isCancelled == true)
        #expect(trial.mirrors.haveEnded)
    }

    /// How everything stands is told after a reconnect: ends that are not told again are not true any more.
    @Test func endsThatWereMissed_doNotCount() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = GroupOperation(a, GroupOperation(b)).retry(RetryPolicy(attempts: 3))
        let trial = Trial(group)
        trial.apply(0, .started, attempt: 1)
        trial.fail(1, "first")
        trial.mirrors.forgetHeldEnds()
        trial.succeed(3, "B")
        trial.apply(2, .ended(.success(.void), hasStarted: true), attempt: 2)
        trial.succeed(1, "A")
        trial.apply(0, .ended(.success(.void), hasStarted: true), attempt: 2)
        await end(group)
        #expect(a.outcome?.value == "A" && b.outcome?.value == "B")
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func whatWasAddedInAnEarlierAttempt_isDropped_andOfTheLastItBecomesAChild() async throws {
        let a = Emit("a")
        let group = GroupOperation(a).retry(RetryPolicy(attempts: 2))
        let trial = Trial(group)
        func added(_ text: String, attempt: UInt64) throws -> (Int, Emit) {
            let emit = Emit(text)
            let made = try ProducedGraph([emit], from: .submitter(requiresRemote: false))
            try trial.mirrors.keep(made, by: WireNode.deciderID, attempt: attempt, id: nil)
            trial.listen(emit)
            let node = trial.mirrors.count
            let wire = WireAdded.with {
                $0.kind = .operation
                $0.attempt = attempt
                $0.node = 1
            }
            #expect(!trial.mirrors.append(wire, path: "\(text)+1"))
            trial.apply(node, .added(producer: nil))
            return (node, emit)
        }
        trial.apply(0, .started, attempt: 1)
        let (first, dropped) = try added("dropped", attempt: 7)
        trial.succeed(first, "no")
        trial.fail(1, "no")
        trial.apply(0, .retrying, attempt: 1)
        trial.apply(0, .started, attempt: 2)
        let (second, kept) = try added("kept", attempt: 8)
        trial.succeed(1, "A")
        trial.succeed(second, "yes")
        trial.apply(0, .ended(.success(.void), hasStarted: true), attempt: 2)
        await end(group)
        await end(dropped)
        #expect(group.operations.map { ($0 as? Emit)?.parameters.text } == ["a", "kept"])
        #expect(kept.outcome?.value == "yes")
        #expect(dropped.outcome?.isCancelled == true)
        #expect(trial.mirrors.haveEnded)
    }

    /// By who came when the next attempt had begun: what had been added in the one before it is nowhere any more.
    @Test func whatWasAddedAndDroppedUnseen_leavesAGap() async throws {
        let a = Emit("a")
        let group = GroupOperation(a).retry(RetryPolicy(attempts: 2))
        let trial = Trial(group)
        trial.apply(0, .started, attempt: 2)
        trial.mirrors.skip(to: 5)
        #expect(trial.mirrors.count == 5 && (2..<5).allSatisfy { trial.mirrors.hasEnded($0) })
        let kept = Emit("kept")
        try trial.mirrors.keep(
            ProducedGraph([kept], from: .submitter(requiresRemote: false)), by: WireNode.deciderID, attempt: 8, id: nil)
        let wire = WireAdded.with { ($0.kind, $0.attempt, $0.node) = (.operation, 8, 1) }
        #expect(!trial.mirrors.append(wire, path: "kept+1"))
        trial.apply(5, .added(producer: nil))
        trial.apply(3, .ended(.success(.void), hasStarted: true))
        trial.succeed(1, "A")
        trial.succeed(5, "yes")
        trial.apply(0, .ended(.success(.void), hasStarted: true), attempt: 2)
        await end(group)
        #expect(group.operations.map { ($0 as? Emit)?.parameters.text } == ["a", "kept"])
        #expect(kept.outcome?.value == "yes" && trial.mirrors.haveEnded)
    }

    @Test func whoWasCancelledHere_isToBeCancelledAgain_whenItBeginsAnew() {
        let (a, b) = (Emit("a"), Emit("b"))
        let trial = Trial(GroupOperation(a, b).retry(RetryPolicy(attempts: 2)))
        trial.apply(0, .started, attempt: 1)
        trial.succeed(1, "A")
        a.cancel()
        #expect(trial.mirrors.takeCancelledAnew().isEmpty)
        trial.apply(0, .retrying, attempt: 1)
        trial.apply(0, .started, attempt: 2)
        #expect(trial.mirrors.takeCancelledAnew() == ["Emit"])
        trial.mirrors.endRest(.cancelled)
    }

    /// It was cancelled there, and ends before the group, whose conditions are evaluated, has begun.
    @Test func endOfTheNextAttempt_countsAlsoIfItComesBeforeThat() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = GroupOperation(a, b).retry(RetryPolicy(attempts: 2))
        let trial = Trial(group)
        trial.apply(0, .started, attempt: 1)
        b.cancel()
        trial.apply(2, .ended(.cancelled, hasStarted: true))
        trial.succeed(1, "first")
        trial.apply(0, .retrying, attempt: 1)
        trial.apply(0, .started, attempt: 1)
        trial.apply(2, .ended(.cancelled, hasStarted: false))
        trial.apply(0, .started, attempt: 2)
        #expect(trial.mirrors.takeCancelledAnew().isEmpty, "it need not be asked for again")
        trial.succeed(1, "second")
        trial.apply(0, .ended(.failure([]), hasStarted: true), attempt: 2)
        await end(group)
        #expect(a.outcome?.value == "second" && b.outcome?.isCancelled == true)
        #expect(trial.mirrors.haveEnded)
    }

    /// One that may begin anew with the end of its net.
    @Test func groupInARetryScope_isToldOfItsLastAttempt_too() async {
        let a = Emit("a")
        let group = GroupOperation(a)
        let join = group.deliver(to: Join()).retry(RetryPolicy(attempts: 2))
        let root = GroupOperation(group, join)
        let trial = Trial(root)
        trial.apply(0, .started, attempt: 1)
        trial.apply(1, .started, attempt: 1)
        trial.fail(2, "first")
        trial.apply(1, .retrying, attempt: 1)
        trial.apply(1, .started, attempt: 2)
        trial.succeed(2, "A")
        trial.apply(1, .ended(.success(.void), hasStarted: true), attempt: 2)
        trial.succeed(3, "A")
        trial.apply(0, .ended(.success(.void), hasStarted: true), attempt: 1)
        await end(root)
        #expect(a.outcome?.value == "A" && join.outcome?.value == "A")
    }
}

extension Result where Failure == AOperationError {
    fileprivate var failure: AOperationError? { if case .failure(let error) = self { error } else { nil } }
}
