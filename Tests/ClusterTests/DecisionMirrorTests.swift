import AOperation
import Executing
import Foundation
import Synchronization
import Testing
import TrialOperations
import Wire

@testable import Cluster

/// Groups that run elsewhere and are asked here what they do next.
@Suite(.timeLimit(.minutes(2))) struct DecisionMirrorTests {
    /// Adds what its closure says, and says what it was told.
    private final class Chooser: GroupOperation, @unchecked Sendable {
        let choose: @Sendable (Chooser, Operation) -> Void

        init(_ children: [Operation], _ choose: @escaping @Sendable (Chooser, Operation) -> Void) {
            self.choose = choose
            super.init(children)
        }

        override func execute() {
            super.execute()
            choose(self, self)
        }

        override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) { choose(self, operation) }
    }

    private final class Trial: Sendable {
        let mirrors: Mirrors
        let queue = AOperationQueue()
        let answers = Mutex<[String: [String]]>([:])

        init(_ operation: AOperation) {
            let graph = GraphBuilder.graph(of: [operation])
            mirrors = Mirrors(graph, mirror: { operation, _, _ in operation.becomeMirror { _ in } })
            for member in graph.members { _ = member.operation?.becomeMirror { _ in } }
            queue.addOperations([operation], waitUntilFinished: false)
            for member in graph.members { _ = member.operation?.handOver() }
        }

        func start(_ node: Int) { mirrors.apply([.init(node: node, news: .started)]) }

        func end(_ node: Int, _ ending: RemoteEnding = .success(.text("x"))) {
            mirrors.apply([.init(node: node, news: .ended(ending, hasStarted: true))])
        }

        func ask(_ group: GroupOperation, after child: Operation?, as name: String) {
            group.decision(after: child) { [weak self] additions in
                let names = additions.operations.map { $0.name ?? "" } + additions.errors.map { $0.localizedDescription }
                self?.answers.withLock { $0[name] = names + additions.forgiven.map { "forgives \($0.name ?? "")" } }
            }
        }

        func answer(_ name: String) async throws -> [String] {
            while true {
                if let answer = answers.withLock({ $0[name] }) { return answer }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private func emit(_ name: String) -> Emit {
        let emit = Emit(name)
        emit.name = name
        return emit
    }

    /// It makes its operation when it starts; who would ask it for that may be lost, and time run out meanwhile.
    @Test func wrapperThatEndsBeforeItIsAsked_endsWhatItHasMade() async throws {
        let (making, isMade) = AsyncStream.makeStream(of: [AOperation].self)
        let wrapper = WrapperOperation<Void, String> { [self] _ in
            let chain = [emit("first"), emit("last")]
            chain[1].addDependency(chain[0])
            isMade.yield(chain)
            return chain[1]
        }
        let trial = Trial(wrapper)
        let node = try #require(trial.mirrors.graph.members.firstIndex { $0.operation === wrapper })
        trial.start(node)
        let made = try #require(await making.first { _ in true })
        trial.end(node, .failure([AOperationError(TimeoutObserver.Error(seconds: 1))]))
        await end(wrapper)
        #expect(wrapper.outcome?.isFailure == true)
        for operation in made {
            await end(operation)
            #expect(operation.isCancelled)
        }
    }

    private func end(_ operation: AOperation) async {
        await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } }
    }

    @Test func whatItAdds_isTheAnswer_whetherItWasAskedBeforeOrAfter_andTheGroupIsToldOnce() async throws {
        let (a, b) = (emit("a"), emit("b"))
        let told = Mutex<[String]>([])
        let chooser = Chooser([a, b]) { group, operation in
            told.withLock { $0.append(operation === group ? "begin" : operation.name ?? "") }
            let next = Emit("next")
            next.name = "after \(operation === group ? "begin" : operation.name ?? "")"
            group.addOperation(next)
        }
        let trial = Trial(chooser)
        #expect(trial.mirrors.graph.members.map(\.path) == ["", "(decisions)", "a", "b"])
        trial.ask(chooser, after: a, as: "a")
        trial.start(0)
        trial.ask(chooser, after: nil, as: "begin")
        #expect(try await trial.answer("begin") == ["after begin"])
        #expect(trial.answers.withLock { $0["a"] } == nil)
        trial.start(2)
        trial.end(2)
        #expect(try await trial.answer("a") == ["after a"])
        trial.start(3)
        trial.end(3)
        await end(b)
        trial.ask(chooser, after: b, as: "b")
        #expect(try await trial.answer("b") == ["after b"])
        #expect(told.withLock { $0.sorted() } == ["a", "b", "begin"])
        trial.end(0, .success(.void))
        await end(chooser)
        #expect(chooser.outcome?.isSuccess == true)
    }

    @Test func whatNobodyAsksFor_endsWithTheGroup_andWhatComesTooLateIsRefused() async throws {
        let a = emit("a")
        let (added, late) = (emit("added"), emit("late"))
        let chooser = Chooser([a]) { group, operation in if operation === a { group.addOperation(added) } }
        let trial = Trial(chooser)
        trial.start(0)
        trial.start(2)
        trial.end(2)
        await end(a)
        chooser.addOperation(late)
        await end(late)
        #expect(late.errors.first?.publishedError is AddedTooLate)
        trial.end(0, .cancelled)
        await end(chooser)
        await end(added)
        #expect(added.outcome?.isCancelled == true)
        trial.ask(chooser, after: a, as: "a")
        #expect(try await trial.answer("a") == [])
    }

    @Test func errorsOfItsOwn_andForgivenChildren_areParts_andComeBackAsItsOwn() async throws {
        let bad = emit("bad")
        let ignoring = IgnoreErrorsOperation(operation: bad)
        let trial = Trial(ignoring)
        trial.start(0)
        trial.start(2)
        trial.end(2, .failure([AOperationError(TrialError(text: "bad"))]))
        trial.ask(ignoring, after: bad, as: "bad")
        #expect(try await trial.answer("bad") == ["forgives bad"])
        trial.end(0, .success(.void))
        await end(ignoring)
        #expect(ignoring.outcome?.isSuccess == true)

        let (one, other) = (emit("one"), emit("other"))
        let chooser = Chooser([one, other]) { group, operation in
            if operation === one { group.aggregateError(AOperationError(TrialError(text: "mine"))) }
        }
        let second = Trial(chooser)
        second.start(0)
        second.start(2)
        second.end(2)
        second.ask(chooser, after: one, as: "one")
        #expect(try await second.answer("one") == ["trial: mine"])
        second.start(3)
        second.end(3, .failure([AOperationError(TrialError(text: "other"))]))
        second.mirrors.apply([
            .init(
                node: 0, news: .ended(.failure([]), hasStarted: true),
                ownErrors: [AOperationError(TrialError(text: "mine"), state: .execution, publisher: "there")])
        ])
        await end(chooser)
        #expect(chooser.publishedErrors.map { ($0.publishedError as? TrialError)?.text } == ["other", "mine"])
    }

    /// The group was cancelled while its answer was on the way.
    @Test func whatIsDecided_andDoesNotCount_endsBeforeItsGroup_alsoIfItComesLater() async throws {
        let told = Mutex<[String]>([])
        let chooser = Chooser([emit("a")]) { _, _ in }
        let (early, late) = (emit("early"), emit("late"))
        for (operation, name) in [(chooser, "group"), (early, "early"), (late, "late")] as [(AOperation, String)] {
            operation.addObserver(FinishedObserver { _, _ in told.withLock { $0.append(name) } })
        }
        let trial = Trial(chooser)
        let made = try ProducedGraph([early], from: .submitter(requiresRemote: false))
        try trial.mirrors.keep(made, by: WireNode.deciderID, attempt: 7, id: nil)
        early.cancel()
        #expect(early.outcome == nil)
        let node = try #require(trial.mirrors.graph.members.firstIndex { $0.operation is Emit })
        trial.mirrors.apply([
            .init(node: node, news: .ended(.cancelled, hasStarted: false)), .init(node: 0, news: .ended(.cancelled, hasStarted: true)),
        ])
        await end(chooser)
        let another = try ProducedGraph([late], from: .submitter(requiresRemote: false))
        try trial.mirrors.keep(another, by: WireNode.deciderID, attempt: 8, id: nil)
        #expect(told.withLock { $0 } == ["early", "group", "late"])
        #expect(early.outcome?.isCancelled == true && late.outcome?.isCancelled == true)
    }

    @Test func theSameAnswer_isGivenToAnotherAttempt_withWhatItAdds() throws {
        let chooser = Chooser([emit("a")]) { _, _ in }
        let trial = Trial(chooser)
        let added = emit("added")
        let made = try ProducedGraph([added], from: .submitter(requiresRemote: false))
        try trial.mirrors.keep(made, by: WireNode.deciderID, attempt: 7, id: nil)
        trial.mirrors.keep(.with { $0.addition = made.addition }, "question", attempt: 7)
        #expect(trial.mirrors.decision("other", for: 8) == nil)
        #expect(trial.mirrors.decision("question", for: 9)?.addition == made.addition)
        let wire = WireAdded.with {
            $0.attempt = 9
            $0.node = 1
            $0.kind = .operation
        }
        #expect(!trial.mirrors.append(wire, path: "added+1"))
        #expect(trial.mirrors.graph.members.last?.operation === added)
    }

    /// What failed there and was followed by another step was dealt with, though nothing is decided here.
    @Test(arguments: [true, false])
    func aRegisteredSequence_isAskedNothingHere_andSucceedsAsItDoesThere(succeeds: Bool) async {
        let steps = Steps(.init(log: "/dev/null", steps: ["a", "b"]))
        let trial = Trial(steps)
        #expect(trial.mirrors.graph.members.map(\.path) == ["", "(decisions)"])
        trial.start(0)
        for (node, name) in [(2, "a+1"), (3, "b+2")] {
            let added = WireAdded.with {
                $0.attempt = UInt64(node)
                $0.node = 1
                $0.kind = .operation
                $0.type = "Emit"
            }
            _ = trial.mirrors.append(added, path: name)
            trial.mirrors.apply([.init(node: node, news: .added(producer: 1))])
            trial.start(node)
            let isGood = succeeds && node == 3
            trial.end(node, isGood ? .success(.text("x")) : .failure([AOperationError(TrialError(text: name))]))
        }
        trial.end(0, succeeds ? .success(.void) : .failure([]))
        await end(steps)
        #expect(steps.outcome?.isSuccess == succeeds && steps.state.said.isEmpty)
        #expect(steps.outcomes.map(\.isSuccess) == [false, succeeds])
        #expect(steps.publishedErrors.map { ($0.publishedError as? TrialError)?.text } == (succeeds ? [] : ["a+1", "b+2"]))
    }

    /// A worker asks such a group: here it is only told of what became of its children.
    @Test func aRegisteredGroup_isAskedNothingHere() async {
        let relay = Relay(.init(log: "/dev/null", steps: ["a", "b"]))
        let trial = Trial(relay)
        trial.start(0)
        trial.start(2)
        trial.end(2, .success(.text("a")))
        trial.end(0, .success(.void))
        await end(relay)
        #expect(relay.outcome?.isSuccess == true && relay.operations.count == 1 && relay.state.done.isEmpty)
    }
}
