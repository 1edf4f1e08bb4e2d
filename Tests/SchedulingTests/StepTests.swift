import Scheduling
import Testing

/// Groups that go step by step: each is decided on a worker when the one before is over.
@Suite struct StepTests {
    private let decider = "g/(decisions)"

    private func cluster() -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8, operations: ["noop", "steps"])
        return cluster
    }

    private func graph(_ children: [Sketch] = [], stop: Bool = false) -> Graph {
        let decider = DeciderNode(type: "steps", parameters: 0, occasion: .steps, isAskedAtBegin: true)
        return Sketch.group("root", [.deciding(.group("g", children, stop: stop), decider), .op("after", after: ["g"])]).graph()
    }

    /// The first of these is the step, or what `product` says; of what comes with it `forgiven` belongs to it.
    private func step(
        _ tops: Sketch..., product: Int = 1, belonging: [Int] = [], forgiving: [Int] = []
    ) -> AttemptOutcome {
        var addition = Addition.of(list: tops)
        addition.products = [product]
        return .decided(GroupDecision(addition: addition, forgiven: forgiving, forgivenNodes: belonging))
    }

    private let end = AttemptOutcome.decided(GroupDecision())

    @Test func itIsAskedWhenItBegins_andAfterEachStep_andTheNextForgivesTheOneBefore() throws {
        var cluster = cluster()
        cluster.submit(graph())
        let first = try #require(cluster.find(decider, on: nil)?.1)
        #expect(first.decision == DecisionQuestion(number: 1, child: nil, type: "", version: 0, parameters: []))
        #expect(!first.isHosted && first.operation == "steps" && first.inputs.isEmpty)
        cluster.end(decider, step(.op("x")))
        cluster.end("g/x+1", failure("no"))
        let second = try #require(cluster.find(decider, on: nil)?.1.decision)
        #expect(second.number == 2 && second.child == "g/x+1" && second.type == "noop")
        cluster.end(decider, step(.op("y"), forgiving: [try #require(second.childUnit)]))
        cluster.end("g/y+2")
        #expect(cluster.find(decider, on: nil)?.1.decision?.number == 3)
        cluster.end(decider, end)
        #expect(cluster.state("g") == .succeeded)
        #expect(cluster.heldPaths == ["after"])
    }

    @Test func withoutAStep_itSucceeds_andAFailureThatNothingFollowed_isItsOwn() {
        var cluster = cluster()
        cluster.submit(graph())
        cluster.end(decider, end)
        #expect(cluster.state("g") == .succeeded)
        cluster.drain()
        cluster.submit(graph(), key: "another")
        cluster.end(decider, step(.op("x")))
        cluster.end("g/x+1", failure("no"))
        cluster.end(decider, end)
        #expect(cluster.state("g") == .failed)
    }

    @Test func aStepThatIsANet_isOverWithAllOfIt_andCountsThroughItselfAlone() throws {
        var cluster = cluster()
        cluster.submit(graph())
        // What runs beside it is not waited for.
        cluster.end(decider, step(.op("a"), .op("b", after: ["a"]), .op("c", after: ["b"]), .op("beside"), product: 2, belonging: [1, 3]))
        cluster.end("g/a+1.1", failure("a"))
        cluster.end("g/b+1.2")
        #expect(cluster.heldPaths.sorted() == ["g/beside+1.4", "g/c+1.3"])
        cluster.end("g/c+1.3", failure("c"))
        #expect(cluster.find(decider, on: nil)?.1.decision?.child == "g/b+1.2")
        cluster.end(decider, end)
        cluster.end("g/beside+1.4")
        #expect(cluster.heldPaths == ["after"])
        #expect(cluster.state("g") == .succeeded)
    }

    @Test func whatIsNoStep_isAskedAboutByNobody_andItsFailureCounts() throws {
        var cluster = cluster()
        cluster.submit(graph([.op("first")]))
        cluster.end("g/first", failure("first"))
        cluster.end(decider, step(.op("x")))
        cluster.end("g/x+1", .production(.void, .of(.op("made"))))
        #expect(cluster.find(decider, on: nil)?.1.decision?.child == "g/x+1")
        cluster.end("g/made+2", failure("made"))
        cluster.end(decider, step(.op("y")))
        cluster.end("g/y+3")
        #expect(cluster.find(decider, on: nil)?.1.decision?.number == 3)
        cluster.end(decider, end)
        #expect(cluster.state("g") == .failed)
    }

    @Test func lossesWithinADecision_andBetweenTwo_changeNothing() throws {
        var cluster = cluster()
        cluster.submit(graph())
        cluster.end(decider, step(.op("x"), .op("y", after: ["x"]), product: 2, belonging: [1]))
        cluster.end("g/x+1.1")
        cluster.die(1, crashed: false)
        try cluster.restart()
        cluster.attach(2, slots: 8, operations: ["noop", "steps"])
        cluster.advance(10_000)
        cluster.end("g/y+1.2", failure("no"))
        let lost = try #require(cluster.find(decider, on: nil)?.1)
        cluster.die(2, crashed: false)
        try cluster.restart()
        cluster.attach(3, slots: 8, operations: ["noop", "steps"])
        cluster.advance(10_000)
        let again = try #require(cluster.find(decider, on: nil)?.1)
        #expect(again.attempt != lost.attempt && again.decision == lost.decision && again.decision?.child == "g/y+1.2")
        cluster.end(decider, step(.op("z"), forgiving: [try #require(again.decision?.childUnit)]))
        cluster.end("g/z+2")
        cluster.end(decider, end)
        #expect(cluster.heldPaths == ["after"])
        #expect(cluster.state("g") == .succeeded)
    }

    @Test(arguments: [true, false])
    func whatIsStopped_goesNoFurther(isCancelled: Bool) {
        var cluster = cluster()
        cluster.submit(graph(stop: !isCancelled))
        cluster.end(decider, step(.op("x")))
        if isCancelled {
            _ = cluster.ask(.cancel(submission: "last", path: "g", reason: "", now: false))
            cluster.end("g/x+1", .stopped)
        } else {
            cluster.end("g/x+1", failure("no"))
        }
        #expect(cluster.heldPaths == ["after"])
        #expect(cluster.state("g") == (isCancelled ? .cancelled : .failed))
    }
}
