import Scheduling
import Testing

/// What operations produce while they run becomes children of their group.
@Suite struct ProduceTests {
    private func cluster(slots: Int = 8) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        return cluster
    }

    @Test func whatASuccessBrings_becomesChildrenOfTheGroup_whichEndsAfterThem() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")]), .op("after", after: ["g"])]).graph())
        cluster.end("g/a", .production(.void, .of(.op("x"), .op("y", after: ["x"]))))
        #expect(cluster.heldPaths == ["g/x+1.1"])
        #expect(cluster.state("g") == .running)
        cluster.end("g/x+1.1")
        #expect(cluster.heldPaths == ["g/y+1.2"])
        cluster.end("g/y+1.2")
        #expect(cluster.heldPaths == ["after"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.total == 4)
    }

    @Test func outsideOfGroups_theSubmissionGetsIt() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.end("a", .production(.void, .of(.op("x"))))
        cluster.end("x+1", .production(.void, .of(.op("x"))))
        cluster.end("x+2", failure("no"))
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.total == 3)
    }

    @Test func anAttemptThatFails_orIsLost_leavesNone() throws {
        var cluster = cluster(slots: 1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 3)]).graph())
        cluster.end("a", failure("not yet"))
        cluster.advance(60_000)
        cluster.die(1)
        cluster.attach(2)
        cluster.end("a", .production(.void, .of(.op("x"))))
        #expect(cluster.heldPaths == ["x+1"])
        try cluster.restart()
        cluster.reattach(2)
        #expect(cluster.heldPaths == ["x+1"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.total == 2)
    }

    /// It took the node before the addition for what holds the key, and the coordinator ended.
    @Test func whatTheRootOfAnAdditionSaysOfItself_isNothingToWhatIsInIt() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")]), .group("h", [.op("b")])]).graph())
        var addition = Addition.of(.group("x", [.keyed("y", "k")]))
        addition.graph.nodes[0].options.exclusive = [Exclusion(key: "k")]
        cluster.end("g/a", .production(.void, addition))
        #expect(cluster.heldPaths.contains("g/x+1/y"))
        try cluster.restart()
        cluster.reattach(1)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    /// The root of an addition stands for the group, and nothing of it counts; it is in the journal all the same.
    @Test func whatCouldNotBeReadAgain_isRefused() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        var addition = Addition.of(.op("x"))
        addition.graph.nodes[0].options.notBefore = .max - 1
        cluster.end("a", .production(.void, addition))
        #expect(cluster.view()?.state == .failed)
        try cluster.restart()
        #expect(cluster.view()?.state == .failed)
    }

    @Test func underAnIdOfItsOwn_itStartsAtOnce_andIsThereOnce() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a", retries: 2)])]).graph())
        #expect(cluster.produce("g/a", .of(.op("x"), id: "part/1"))?.isNew == true)
        #expect(cluster.heldPaths == ["g/a", "g/part-1"])
        // The same attempt sends it again: it has not got the receipt.
        #expect(cluster.produce("g/a", .of(.op("x"), id: "part/1"))?.isNew == true)
        cluster.end("g/a", failure("again"))
        cluster.advance(60_000)
        let second = cluster.produce("g/a", .of(.op("x"), id: "part/1"))
        #expect(second?.isNew == false && second?.problem == nil)
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        #expect(cluster.heldPaths.sorted() == ["g/a", "g/part-1"])
        cluster.drain()
        #expect(cluster.view()?.counts.total == 2)
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func inAnOrderedGroup_itComesLast_andOneAfterTheOther() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c")], ordered: true).graph())
        cluster.end("a", .production(.void, .of(.op("x"), .op("y"))))
        #expect(cluster.heldPaths == ["b"])
        cluster.end("b")
        cluster.end("c", .production(.void, .of(.op("z"))))
        #expect(cluster.heldPaths == ["x+1.1"])
        cluster.end("x+1.1")
        cluster.end("y+1.2")
        #expect(cluster.heldPaths == ["z+2"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func inAnOrderedGroup_itComesLast_alsoIfTheLastHasEndedBeforeItsTurn() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c")], ordered: true).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "c", reason: "", now: false))
        cluster.end("a", .production(.void, .of(.op("x"))))
        #expect(cluster.heldPaths == ["b"])
        cluster.end("b", .production(.void, .of(.op("y"))))
        #expect(cluster.heldPaths == ["x+1"])
        cluster.end("x+1")
        #expect(cluster.heldPaths == ["y+2"])
        cluster.drain()
        #expect(cluster.view()?.counts.succeeded == 4)
    }

    @Test func namesThatAreTaken_getANumber() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a"), .op("x+1")]).graph())
        cluster.end("a", .production(.void, .of(.op("x"))))
        #expect(cluster.heldPaths.sorted() == ["x+1", "x+1-2"])
    }

    @Test func aBodyOfAForEach_producesIntoTheGroupAround() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.forEach("each", of: nil, list: ["1", "2"], body: .op("b"))])]).graph())
        cluster.end("g/each/1", .production(.void, .of(.op("x"))))
        cluster.end("g/each/0", .production(.void, .of(.forEach("inner", of: nil, list: ["1", "2"], body: .group("", [.op("y")])))))
        #expect(cluster.heldPaths.sorted() == ["g/inner+2/0/y", "g/inner+2/1/y", "g/x+1"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aGroupThatBeginsAnew_hasLostWhatWasAdded() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")], retries: 1)]).graph())
        cluster.end("g/a", .production(.void, .of(.op("x"), .group("h", [.op("y")]))))
        cluster.end("g/x+1.1", failure("no"))
        cluster.end("g/h+1.2/y", .production(.void, .of(.op("z"))))
        cluster.end("g/h+1.2/z+1")
        cluster.advance(60_000)
        #expect(cluster.heldPaths == ["g/a"])
        #expect(cluster.operations().map(\.path) == ["", "g", "g/a"])
        cluster.end("g/a", .production(.void, .of(.op("x"))))
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.total == 2)
    }

    /// The receipt was lost, and meanwhile its producer was stopped: what is there stays there.
    @Test func whatWasProducedBeforeTheStop_isThere_whenItIsSentAgain() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        #expect(cluster.produce("a", .of(.op("x"), id: "x"))?.isNew == true)
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        #expect(cluster.produce("a", .of(.op("x"), id: "x"))?.isNew == true)
        #expect(cluster.view()?.counts.total == 2)
    }

    @Test func whatIsProducedByWhoIsStopped_isNotThere() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        #expect(cluster.produce("a", .of(.op("x"), id: "x"))?.isNew == false)
        cluster.end("a", .production(.void, .of(.op("x"))))
        #expect(cluster.view()?.state == .cancelled)
        #expect(cluster.view()?.counts.total == 1)
    }

    // MARK: Dependent operations

    private func prepared(_ id: String, retries: Int = 0, _ make: Sketch = .op("?p.0")) -> Sketch {
        .preparing(
            Sketch.op(id, retries: retries).having { $0.conditions = [Condition(.probe(Probe(type: "probe", parameters: 0)))] },
            [0: make])
    }

    @Test func whatIsAdded_bringsTheDependentOperationsOfItsConditions_anewForEachAttempt() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")]), .op("after", after: ["g"])]).graph())
        cluster.end("g/a", .production(.void, .of(prepared("x", retries: 1), .op("y", after: ["x"]))))
        #expect(cluster.heldPaths == ["g/x+1.1/?p.0"])
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        cluster.end("g/x+1.1/?p.0")
        #expect(cluster.find("g/x+1.1", on: nil)?.1.kind == .evaluate)
        cluster.end("g/x+1.1")
        cluster.end("g/x+1.1", failure("once"))
        cluster.advance(2_000)
        #expect(cluster.heldPaths == ["g/x+1.1/?p.0"])
        cluster.end("g/x+1.1/?p.0", failure("no disk"))
        #expect(cluster.state("g/x+1.1") == .failed)
        let view = try #require(cluster.operations().first { $0.path == "g/x+1.1/?p.0" })
        #expect(view.isPreparation && view.added?.isPreparation == true && view.added?.producer == nil && view.attempts == 2)
        #expect(cluster.operations().first { $0.path == "g/x+1.1" }?.errors.map(\.origin) == ["g/x+1.1/?p.0"])
        cluster.end("g/y+1.2")
        cluster.end("after")
        #expect(cluster.view()?.state == .failed)
    }

    @Test func dependentOperationsOfAddedGroups_areNoneOfTheirChildren_andCancelledWithThem() {
        let group = Sketch.group("h", [.op("c")]).having { $0.conditions = [Condition(.probe(Probe(type: "probe", parameters: 0)))] }
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.end("a", .production(.void, .of(.preparing(group, [0: .group("?p.0", [.op("one")])]), prepared("x"))))
        #expect(cluster.heldPaths.sorted() == ["h+1.1/?p.0/one", "x+1.2/?p.0"])
        _ = cluster.ask(.cancel(submission: "last", path: "x+1.2", reason: "", now: false))
        cluster.end("x+1.2/?p.0", .stopped)
        #expect(cluster.state("x+1.2") == .cancelled)
        cluster.end("h+1.1/?p.0/one")
        cluster.end("h+1.1")
        #expect(cluster.heldPaths == ["h+1.1/c"])
        cluster.drain()
        #expect(cluster.state("h+1.1") == .succeeded)
    }

    @Test func aGroupThatBeginsAnew_hasLostTheDependentOperationsOfWhatWasAdded() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a"), .op("b")], retries: 1)]).graph())
        cluster.end("g/a", .production(.void, .of(prepared("x"))))
        cluster.end("g/x+1/?p.0")
        cluster.end("g/x+1")
        cluster.end("g/x+1")
        cluster.end("g/b", failure("no"))
        cluster.advance(60_000)
        #expect(cluster.operations().map(\.path) == ["", "g", "g/a", "g/b"])
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        cluster.end("g/a", .production(.void, .of(prepared("x"))))
        #expect(cluster.heldPaths.sorted() == ["g/b", "g/x+1/?p.0"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test(arguments: [Sketch.op("x").having { $0.prepares = 0 }, .preparing(.op("x"), [0: .op("?p.0")])])
    func dependentOperationsOfNoCondition_makeTheAttemptFail(sketch: Sketch) {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let problem = cluster.produce("a", .of(sketch, .op("y"), id: "x"))?.problem
        #expect(problem?.contains("which has no such condition") == true, "\(problem ?? "nothing")")
    }

    // MARK: Refused

    @Test(arguments: [
        (Sketch.op("x", type: "nowhere"), "unknown operation `nowhere`"),
        (Sketch.op("x", after: ["x"]), "would wait for ever"),
        (Sketch.op("x").having { $0.isHosted = true }, "produced on a worker"),
        (Sketch.op("x").having { $0.unique = Uniqueness(id: "u", joins: true) }, "a group around it may begin anew"),
        (Sketch.op("x", exclusive: [Exclusion(key: "A b")]), "AOP_FENCE_A_B"),
        (Sketch.op("x").having { $0.atMostOnce = true }, "has `retry`"),
    ])
    func whatCannotBeAdded_makesTheAttemptFail_byName(sketch: Sketch, text: String) {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.group("g", [.op("a")], retries: 1, exclusive: [Exclusion(key: "a B")])]).graph(), waitForWorkers: false)
        let problem = cluster.produce("g/a", .of(sketch, id: "x"))?.problem
        #expect(problem?.contains(text) == true, "\(problem ?? "nothing")")
        cluster.end("g/a", .production(.void, .of(.op("good"), sketch)))
        #expect(cluster.operations().map(\.path) == ["", "g", "g/a"])
        let message = cluster.operations().first { $0.path == "g/a" }?.errors.first?.message ?? ""
        #expect(message.contains(text) && message.contains("`x`"), "\(message)")
    }

    @Test func whatWouldJoinWhoeverHasItsID_isRefused() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")])]).graph())
        let problem = cluster.produce("g/a", .of(Sketch.op("x").having { $0.unique = Uniqueness(id: "u", joins: true) }, id: "x"))?.problem
        #expect(problem?.contains("joins whoever") == true, "\(problem ?? "nothing")")
    }

    @Test func whatWouldHoldAPlaceThatItWaitsFor_isRefused() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")], max: 1)]).graph())
        cluster.end("g/a", .production(.void, .of(.group("A", [.op("x", after: ["y"])]), .op("y"))))
        let message = cluster.operations().first { $0.path == "g/a" }?.errors.first?.message ?? ""
        #expect(message.contains("holds one of the places"), "\(message)")
        #expect(cluster.view()?.state == .failed)
    }

    @Test func moreUnitsThanASubmissionMayHave_areRefused() {
        var configuration = Scheduler.Configuration()
        configuration.graphLimits.unitsMax = 5
        var cluster = FakeCluster(configuration)
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.end("a", .production(.void, .of(.forEach("each", of: nil, list: ["1", "2", "3"], body: .op("b")))))
        #expect(cluster.operations().last?.errors.first?.message.contains("exceed the limit of 5") == true)
    }

    // MARK: Locks

    @Test func insideOfAGroupThatHoldsTheKey_whoComesLaterTakesTurns() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.holding("g", "k", [.op("a"), .keyed("b", "k")])]).graph())
        #expect(cluster.heldPaths == ["g/a", "g/b"])
        cluster.end("g/a", .production(.void, .of(.keyed("x", "k"))))
        #expect(cluster.heldPaths == ["g/b"])
        cluster.end("g/b")
        #expect(cluster.heldPaths == ["g/x+1"])
        #expect(cluster.find("g/x+1", on: nil)?.1.fences.map(\.key) == ["k"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aKeyThatOnlyAGroupFurtherOutHolds_isTakenThere() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.holding("g", "k", [.keyed("b", "k"), .holding("h", "l", [.op("a")])])]).graph())
        cluster.end("g/h/a", .production(.void, .of(.keyed("x", "k"))))
        #expect(cluster.heldPaths == ["g/b"])
        cluster.end("g/b")
        #expect(cluster.heldPaths == ["g/h/x+1"])
    }

    @Test func aRequestThatWouldCloseACircle_failsAtOnce() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.holding("g", "k", [.op("a")])]).graph(), key: "1")
        cluster.submit(Sketch.group("root", [.holding("h", "l", [.op("b")])]).graph(), key: "2")
        cluster.end("g/a", .production(.void, .of(.keyed("x", "l"))))
        #expect(cluster.heldPaths == ["h/b"])
        cluster.end("h/b", .production(.void, .of(.keyed("y", "k"))))
        let failed = cluster.operations(of: "key=2").first { $0.path == "h/y+1" }
        #expect(failed?.errors.first?.code == .lockCycle)
        guard case .circle(let keys, let holders)? = failed?.errors.first?.detail else {
            Issue.record("it does not say which circle: \(String(describing: failed))")
            return
        }
        #expect(keys.count == 1 && holders.count == 1)
        #expect(failed?.errors.first?.message.contains("`k`") == true, "\(String(describing: failed?.errors))")
        #expect(cluster.heldPaths == ["g/x+1"])
    }

    /// Each of them asks whether it would close a circle with those before it.
    @Test(.timeLimit(.minutes(1))) func manyThatNameOneKey_areTakenInTurns() {
        var cluster = cluster(slots: 1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.end("a", .production(.void, .of(list: (0..<400).map { Sketch.keyed("x\($0)", "k") })))
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded && cluster.view()?.counts.total == 401)
    }

    @Test func whoHoldsAKeyAndWaitsForAGroup_isNotWaitedForInThatGroup() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.group("g", [.op("a")]), .holding("h", "k", [.op("b", after: ["g"])])]).graph())
        cluster.end("g/a", .production(.void, .of(.keyed("x", "k"))))
        #expect(cluster.operations().first { $0.path == "g/x+1" }?.errors.first?.code == .lockCycle)
        cluster.drain()
        #expect(cluster.view()?.state == .failed)
    }

    @Test func whoHoldsAKeyAndWaitsForAPlace_isNotWaitedForByWhoHasIt() {
        var cluster = cluster()
        let few = Sketch.group("g", [.op("a"), .op("y", after: ["c"])], max: 1)
        cluster.submit(Sketch.group("root", [.op("c"), few, .holding("h", "k", [.op("b", after: ["y"])])]).graph())
        cluster.end("g/a", .production(.void, .of(.keyed("x", "k"))))
        #expect(cluster.operations().first { $0.path == "g/x+1" }?.errors.first?.code == .lockCycle)
        cluster.drain()
        #expect(cluster.dispatched == ["c", "g/a", "g/y", "h/b"])
    }

    @Test func followersWithDetails_areToldWhatIsNew_inOrder() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")])]).graph())
        _ = cluster.ask(.follow(submission: "last", .everything))
        cluster.end("g/a", .production(.void, .of(.group("h", [.op("x")]))))
        let events = cluster.sends.flatMap { send in if case .events(let batch) = send.message { batch.events } else { [UnitEvent]() } }
        let added = events.filter { $0.added != nil }
        #expect(added.map(\.path) == ["g/h+1", "g/h+1/x"])
        #expect(added.map(\.unit) == [3, 4])
        #expect(added.map(\.added?.parent) == [1, 3])
        #expect(added.map(\.added?.producer) == [2, nil])
        #expect(cluster.operations().map { $0.added?.producer } == [nil, nil, nil, 2, nil])
    }
}

extension Addition {
    static func of(_ sketches: Sketch..., id: String? = nil) -> Addition { of(list: sketches, id: id) }

    static func of(list sketches: [Sketch], id: String? = nil) -> Addition {
        let graph = Sketch.group("", sketches).graph()
        var products: [Int] = []
        for (node, written) in graph.nodes.enumerated().dropFirst() where written.parent == 0 { products.append(node) }
        return Addition(id: id, graph: graph, products: products)
    }
}

extension FakeCluster {
    /// What holds `path` produces something under an id of its own.
    mutating func produce(_ path: String, on executor: Int? = nil, _ addition: Addition) -> ProductReceipt? {
        guard let (owner, unit) = find(path, on: executor), let peer = peers[owner] else {
            Issue.record("nobody holds \(path)")
            return nil
        }
        step([.produced(peer, unit.unit, unit.attempt, number: 1, addition)])
        for send in sends {
            if case .productReceipts(let receipts) = send.message { return receipts.first }
        }
        return nil
    }
}
