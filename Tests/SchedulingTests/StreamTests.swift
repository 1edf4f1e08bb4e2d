import Scheduling
import Testing

/// Operations that receive what others send while these run.
@Suite struct StreamTests {
    private func cluster(_ executors: Int = 1, slots: Int = 8) -> FakeCluster {
        var cluster = FakeCluster()
        for executor in 1...executors { cluster.attach(executor, slots: slots) }
        return cluster
    }

    private let pair = Sketch.group("root", [.op("p"), .op("r")]).graph().streaming("r", from: "p")

    @Test func aReceiver_startsWhenItsProducerHasBegun_andNamesItsAttempt() {
        var cluster = cluster()
        cluster.submit(pair)
        #expect(cluster.heldPaths == ["p"])
        cluster.begin("p")
        #expect(cluster.heldPaths == ["p", "r"])
        #expect(cluster.find("r", on: nil)?.1.stream == StreamSource(path: "p", attemptNumber: 1))
        #expect(cluster.find("p", on: nil)?.1.stream == nil)
        cluster.end("p")
        cluster.end("r")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aSuccess_countsWhenTheProducerHasEnded() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("p"), .op("r"), .op("after", after: ["r"])]).graph().streaming("r", from: "p"))
        cluster.begin("p")
        cluster.begin("r")
        cluster.end("r", .success(text("five")))
        #expect(cluster.state("r") == .running)
        #expect(cluster.operations().first { $0.path == "r" }?.waiting?.kind == .stream)
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        #expect(cluster.heldPaths == ["p"])
        cluster.end("p", failure("no"))
        #expect(cluster.state("r") == .succeeded)
        #expect(cluster.operations(values: true).first { $0.path == "r" }?.value == text("five"))
        #expect(cluster.heldPaths == ["after"])
    }

    /// What both have produced is added with the end of one of them.
    @Test func twoThatCountTogether_addWhatEachHasProduced() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("p"), .op("r")]).graph().streaming("r", from: "p"))
        cluster.begin("p")
        cluster.begin("r")
        cluster.end("r", .production(.void, .of(.op("x"))))
        cluster.end("p", .production(.void, .of(.op("y"))))
        cluster.end("x+2", .production(.void, .of(.op("z"))))
        #expect(Set(cluster.heldPaths) == ["y+1", "z+3"], "\(cluster.heldPaths)")
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    /// A receiver in the submitting program begins there when its producer is known to have begun.
    @Test func afterARestart_aProducerIsKnownToHaveBegun_beforeItsWorkerIsBack() throws {
        var cluster = cluster()
        cluster.submit(pair)
        cluster.begin("p")
        try cluster.restart()
        #expect(cluster.state("p") == .running)
        #expect(cluster.state("r") == .queued)
        cluster.reattach(1, slots: 8)
        #expect(cluster.state("p") == .running)
    }

    @Test func aLostProducer_letsItsReceiverBeginAnew_withoutAFailure() {
        var cluster = cluster(2, slots: 1)
        cluster.submit(pair)
        cluster.begin("p")
        let (owner, _) = cluster.find("p", on: nil) ?? (0, nil as Assignment?) as! (Int, Assignment)
        let other = 3 - owner
        #expect(cluster.find("r", on: other) != nil)
        cluster.begin("r")
        cluster.die(owner)
        #expect(cluster.stops.map(\.reason) == [.cancelled])
        // The only slot is the receiver's until its attempt has ended.
        #expect(cluster.heldPaths == ["r"])
        cluster.end("r", .stopped)
        #expect(cluster.heldPaths == ["p"])
        cluster.attach(4)
        #expect(cluster.heldPaths == ["p"])
        cluster.begin("p")
        #expect(cluster.find("r", on: 4)?.1.stream == StreamSource(path: "p", attemptNumber: 2))
        cluster.end("r")
        cluster.end("p")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test(arguments: [AttemptOutcome.success(.void), .failure([Failure(code: .timeout, message: "late")]), .stopped])
    func howAGivenUpAttemptEnds_doesNotMatter(outcome: AttemptOutcome) {
        var cluster = cluster(2)
        cluster.submit(Sketch.group("root", [.op("p", retries: 1), .op("r")]).graph().streaming("r", from: "p"))
        cluster.begin("p")
        cluster.end("p", failure("again"))
        cluster.end("r", outcome)
        #expect(cluster.state("r") == .queued)
        cluster.advance(60_000)
        #expect(cluster.heldPaths == ["p"])
        cluster.begin("p")
        cluster.end("p")
        cluster.end("r")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aSuccessThatWaits_isVoidWhenAnotherAttemptFollows() throws {
        var cluster = cluster(2, slots: 1)
        cluster.submit(pair)
        cluster.begin("p")
        cluster.end("r", .success(text("void")))
        let owner = cluster.find("p", on: nil)?.0 ?? 0
        cluster.die(owner)
        #expect(cluster.heldPaths == ["p"])
        #expect(cluster.state("r") == .queued)
        try cluster.restart()
        cluster.reattach(3 - owner)
        cluster.begin("p")
        cluster.end("p")
        #expect(cluster.heldPaths == ["r"])
        cluster.end("r", .success(text("good")))
        #expect(cluster.operations(values: true).first { $0.path == "r" }?.value == text("good"))
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aProducerThatNeverBegins_letsItsReceiverRunOnce() {
        var cluster = cluster(1, slots: 1)
        cluster.submit(Sketch.group("root", [.op("busy"), .op("p"), .op("r", after: ["busy"])]).graph().streaming("r", from: "p"))
        _ = cluster.ask(.cancel(submission: "last", path: "p", reason: "", now: false))
        #expect(cluster.state("p") == .cancelled)
        cluster.end("busy")
        #expect(cluster.find("r", on: nil)?.1.stream?.path == "p")
        cluster.end("r", failure("there is nothing"))
        #expect(cluster.state("r") == .failed)
    }

    @Test func aFailure_countsAtOnce_andIsTriedAgainByItsOwnPolicy() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("p"), .op("r", retries: 1)]).graph().streaming("r", from: "p"))
        cluster.begin("p")
        cluster.end("r", failure("one"))
        #expect(cluster.state("r") == .retrying)
        cluster.advance(60_000)
        #expect(cluster.find("r", on: nil)?.1.stream == StreamSource(path: "p", attemptNumber: 1))
        cluster.end("r", failure("two"))
        #expect(cluster.state("r") == .failed)
        #expect(cluster.heldPaths == ["p"])
    }

    @Test func inTheOnlySlot_orBehindItInOrder_itReadsAfterTheEnd() {
        var cluster = cluster(1, slots: 1)
        cluster.submit(pair)
        cluster.begin("p")
        cluster.end("p")
        cluster.end("r")
        #expect(cluster.view()?.state == .succeeded)
        cluster.attach(2, slots: 4)
        cluster.submit(
            Sketch.group("root", [.op("p"), .op("x"), .op("r")], ordered: true).graph().streaming("r", from: "p"), key: "second")
        cluster.begin("p")
        #expect(cluster.heldPaths == ["p"])
        cluster.end("p")
        cluster.end("x")
        #expect(cluster.heldPaths == ["r"])
        cluster.end("r")
        cluster.submit(Sketch.group("root", [.op("p"), .op("r")], ordered: true).graph().streaming("r", from: "p"), key: "third")
        cluster.begin("p")
        #expect(cluster.heldPaths == ["p"])
        cluster.end("p")
        cluster.end("r")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func ofThoseThatWaitForMore_theBeginIsTakenBack() {
        var cluster = cluster(2)
        cluster.submit(Sketch.group("root", [.op("p"), .op("x"), .op("r", after: ["x"])]).graph().streaming("r", from: "p"))
        cluster.begin("p")
        let owner = cluster.find("p", on: nil)?.0 ?? 0
        let isShared = cluster.find("x", on: owner) != nil
        cluster.die(owner, crashed: false)
        if !isShared { cluster.end("x") } else { cluster.end("x", on: 3 - owner) }
        #expect(cluster.heldPaths == ["p"])
        cluster.begin("p")
        #expect(cluster.heldPaths == ["p", "r"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aStreamOfAStream_isVoidWithIt() {
        var cluster = cluster(1)
        cluster.attach(2)
        cluster.submit(
            Sketch.group("root", [.op("p", retries: 1), .op("q"), .op("r")]).graph().streaming("q", from: "p").streaming("r", from: "q"))
        cluster.begin("p")
        cluster.begin("q")
        cluster.end("r")
        cluster.end("q")
        #expect(cluster.heldPaths == ["p"])
        cluster.end("p", failure("again"))
        #expect(["q", "r"].allSatisfy { cluster.state($0) == .queued })
        cluster.advance(60_000)
        cluster.begin("p")
        #expect(cluster.heldPaths.sorted() == ["p", "q"])
        cluster.begin("q")
        cluster.end("r")
        cluster.end("q")
        #expect(cluster.state("q") == .running)
        cluster.end("p")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func whatItHasProduced_isThereWhenItsSuccessCounts_underNamesThatAreFreeThen() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("p"), .op("r"), .op("other")]).graph().streaming("r", from: "p"))
        cluster.begin("p")
        cluster.end("r", .production(.void, .of(.op("x", exclusive: [Exclusion(key: "k")]))))
        cluster.end("other", .production(.void, .of(.op("x"))))
        #expect(cluster.heldPaths.sorted() == ["p", "x+1"])
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        cluster.end("p")
        #expect(cluster.heldPaths.sorted() == ["x+1", "x+2"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aReceiverThatWaits_canBeCancelled_butWhatHasSucceededIsNotStopped() {
        var cluster = cluster()
        cluster.submit(pair)
        cluster.begin("p")
        cluster.end("r")
        _ = cluster.ask(.cancel(submission: "last", path: "r", reason: "", now: false))
        #expect(cluster.state("r") == .cancelled)
        cluster.drain()
        cluster.submit(Sketch.group("root", [.op("p"), .op("r")], stop: true).graph().streaming("r", from: "p"), key: "second")
        cluster.begin("p")
        cluster.end("r")
        cluster.end("p", failure("no"))
        #expect(cluster.state("r") == .succeeded)
        #expect(cluster.view()?.state == .failed)
    }

    @Test func itsLocks_goToOthersWhileItsProducerHasToBeginAnew() {
        var cluster = cluster(1, slots: 1)
        cluster.limits = ["k": 1]
        cluster.submit(
            Sketch.group("root", [.op("p"), .keyed("r", "k"), .keyed("other", "k", after: ["gate"]), .op("gate")]).graph()
                .streaming("r", from: "p"))
        cluster.begin("p")
        cluster.die(1, crashed: false)
        cluster.attach(2, slots: 3)
        cluster.end("gate")
        #expect(cluster.heldPaths.sorted() == ["other", "p"])
        cluster.begin("p")
        cluster.end("other")
        #expect(cluster.heldPaths.sorted() == ["p", "r"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func pausing_holdsAReceiverBack() {
        var cluster = cluster()
        cluster.submit(pair)
        _ = cluster.ask(.pause(submission: "last", path: "r"))
        cluster.begin("p")
        #expect(cluster.heldPaths == ["p"])
        _ = cluster.ask(.resume(submission: "last", path: "r"))
        #expect(cluster.heldPaths == ["p", "r"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    // MARK: Admission

    private func refusal(_ graph: Graph) -> String? {
        var cluster = cluster()
        guard case .failed(let failure)? = cluster.ask(.check(graph: graph, waitForWorkers: true)) else {
            if case .checked(let errors)? = cluster.ask(.check(graph: graph, waitForWorkers: true)) { return errors.first?.message }
            return nil
        }
        return "\(failure)"
    }

    @Test func whatCannotBe_isRefused() {
        #expect(
            refusal(Sketch.group("root", [.group("g", [.op("x")]), .op("r")]).graph().streaming("r", from: "g"))?.contains("is a group")
                == true)
        #expect(
            refusal(Sketch.group("root", [.op("p", after: ["r"]), .op("r")]).graph().streaming("r", from: "p"))?.contains("cycle") == true)
        #expect(
            refusal(Sketch.group("root", [.op("r"), .op("p")], ordered: true).graph().streaming("r", from: "p"))?.contains("cycle") == true)
        #expect(
            refusal(
                Sketch.group("root", [.op("p"), Sketch.op("r").having { $0.atMostOnce = true }]).graph().streaming("r", from: "p"))?
                .contains("atMostOnce") == true)
        #expect(
            refusal(Sketch.group("root", [.holding("g", "k", [.op("r")]), .keyed("p", "k")]).graph().streaming("r", from: "p"))?
                .contains("needs the key") == true)
        #expect(
            refusal(
                Sketch.group("root", [.op("p"), .forEach("each", of: nil, list: ["1"], body: .op("r"))]).graph().streaming("r", from: "p")
            )?.contains("forEach") == true)
        #expect(refusal(pair) == nil)
    }

    @Test func elementsOfAnotherType_areRefused() throws {
        var cluster = FakeCluster()
        var sender = OperationSignature(name: "send")
        sender.sent = ValueType(.json, name: "Swift.Int")
        var receiver = OperationSignature(name: "receive")
        receiver.streamed = ValueType(.json, name: "Swift.String")
        cluster.attach(1, operations: [sender, receiver, OperationSignature(name: "noop")])
        func errors(_ receiver: String) -> [String] {
            let graph = Sketch.group("root", [.op("p", type: "send"), .op("r", type: receiver)]).graph().streaming("r", from: "p")
            guard case .checked(let errors)? = cluster.ask(.check(graph: graph, waitForWorkers: false)) else { return ["?"] }
            return errors.map(\.message)
        }
        #expect(errors("receive").first?.contains("Swift.String") == true)
        #expect(errors("receive").first?.contains("which sends Swift.Int") == true)
        #expect(errors("noop").first?.contains("StreamReceiver") == true)
        try cluster.restart()
        #expect(errors("receive").first?.contains("which sends Swift.Int") == true)
        receiver.streamed = sender.sent
        cluster.attach(2, operations: [sender, receiver])
        #expect(errors("receive").isEmpty)
    }
}

extension Graph {
    /// The same graph; `receiver` receives what `producer` sends. Ids of the whole graph.
    func streaming(_ receiver: String, from producer: String) -> Graph {
        var graph = self
        func index(_ id: String) -> Int { graph.nodes.firstIndex { $0.id == id } ?? bodyIndex() }
        // A forEach's body has no id.
        func bodyIndex() -> Int { graph.nodes.indices.last { graph.nodes[$0].id.isEmpty } ?? 0 }
        let target = index(receiver)
        graph.nodes[target].options.stream = index(producer)
        return graph
    }
}
