import Scheduling
import Testing

extension Sketch {
    /// The end of a net whose retry is that of the net.
    static func tail(
        _ id: String, receives: [String], after: [String] = [], retries: Int, forwards: Bool = false, exclusive: [Exclusion] = [],
        _ change: (inout NodeOptions) -> Void = { _ in }
    ) -> Sketch {
        Sketch.op(id, receives: receives, after: after, retries: retries, forwards: forwards, exclusive: exclusive).having {
            $0.retriesNet = true
            change(&$0)
        }
    }
}

/// A retry at the end of a delivery net has what failed above it tried again.
@Suite struct RetryScopeTests {
    /// a → b → c, where c is tried again.
    private func chain(retries: Int, slots: Int = 1) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        cluster.submit(
            Sketch.group("root", [.op("a"), .op("b", receives: ["a"]), .tail("c", receives: ["b"], retries: retries)]).graph())
        return cluster
    }

    /// Ends what is handed out; who is not to succeed fails as often as `failures` says, and who received a failure fails with it.
    private func play(
        _ cluster: inout FakeCluster, _ failures: inout [String: Int], handling: Set<String> = [], rounds: Int = 20
    ) {
        for _ in 0..<rounds where cluster.view()?.finishedAt == 0 {
            cluster.drain { unit in
                if !handling.contains(unit.path), let received = unit.firstReceivedFailure { return .failure(received) }
                guard let left = failures[unit.path], left > 0 else { return .success(text(unit.path)) }
                failures[unit.path] = left - 1
                return failure("\(unit.path) \(left)")
            }
            cluster.advance(61_000)
        }
    }

    /// Else the net would wait for the place, and the receiver for the net.
    @Test(arguments: [0, 5_000])
    func receiverOfTheTailsStream_takesNoPlaceWhileTheNetBeginsAnew(delayMilliseconds: Int64) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let receiver = Sketch.op("r").having { $0.delayMilliseconds = delayMilliseconds }
        let members = [Sketch.op("a"), .tail("b", receives: ["a"], retries: 1), receiver]
        cluster.submit(Sketch.group("root", members, max: 1).graph().streaming("r", from: "b"))
        cluster.end("a", failure("no"))
        cluster.begin("b")
        cluster.advance(1_000)
        cluster.end("b", failure("not yet"))
        cluster.advance(61_000)
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a")
        cluster.begin("b")
        cluster.end("b")
        #expect(cluster.heldPaths == ["r"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func headFailsTwice_everythingBelowBeginsAnew_andAllSucceed() {
        var cluster = chain(retries: 2)
        var failures = ["a": 2]
        play(&cluster, &failures)
        #expect(cluster.dispatched == ["a", "b", "c", "a", "b", "c", "a", "b", "c"])
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.operations(values: true).dropFirst().map(\.value) == [text("a"), text("b"), text("c")])
    }

    @Test func successAboveTheFailedOne_isKept_andToldAtOnce() {
        var cluster = chain(retries: 1)
        cluster.end("a", .success(text("A")))
        #expect(cluster.state("a") == .succeeded)
        cluster.end("b", failure("no"))
        #expect(cluster.state("b") == .retrying)
        #expect(cluster.find("c", on: nil)?.1.inputs == [.failure([Failure(code: .operation, message: "no", origin: "b")])])
        cluster.end("c", failure("no as well"))
        cluster.advance(61_000)
        #expect(cluster.heldPaths == ["b"])
        #expect(cluster.find("b", on: nil)?.1.inputs == [.value(text("A"))])
        cluster.drain()
        #expect(cluster.dispatched == ["a", "b", "c", "b", "c"])
        #expect(cluster.view()?.state == .succeeded)
    }

    /// It has its locks from before it runs, and has not run.
    @Test(arguments: [false, true]) func tailThatPassesAFailureOn_hasNoLocks_untilItRuns(cancelsProducer: Bool) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group(
                "root", [.op("a"), .tail("c", receives: ["a"], retries: 2, forwards: true, exclusive: [Exclusion(key: "db")])]
            ).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.state("c") == .retrying)
        if cancelsProducer { _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false)) }
        cluster.advance(61_000)
        if cancelsProducer {
            cluster.advance(61_000)
            #expect(cluster.heldPaths.isEmpty)
            #expect(cluster.dispatched == ["a"])
            #expect(cluster.state("c") == .failed)
        } else {
            cluster.drain()
            #expect(cluster.dispatched == ["a", "a", "c"])
            #expect(cluster.view()?.state == .succeeded)
        }
    }

    @Test func failuresAreToldToNobody_untilTheTailHasDecided_alsoAcrossARestart() throws {
        var cluster = chain(retries: 1)
        for _ in 0..<2 {
            cluster.end("a", failure("of a"))
            cluster.end("b", failure("of b"))
            #expect(cluster.view()?.counts.failed == 0)
            #expect(cluster.state("a") == .retrying)
            #expect(cluster.operations().first { $0.path == "a" }?.lastFailure?.message == "of a")
            #expect(cluster.operations().first { $0.path == "a" }?.waiting?.kind == .retryScope)
            let before = cluster.operations()
            try cluster.restart()
            cluster.reattach(1)
            #expect(cluster.operations().prefix(3).map(\.state) == before.prefix(3).map(\.state))
            cluster.end("c", failure("of c"))
            cluster.advance(61_000)
        }
        #expect(cluster.view()?.state == .failed)
        let ended = cluster.operations()
        #expect(ended.dropFirst().map(\.state) == [.failed, .failed, .failed])
        #expect(ended.dropFirst().map { $0.errors.first?.message } == ["of a", "of b", "of c"])
        // Producers end before those that receive from them.
        #expect(ended.dropFirst().map(\.endNumber) == [1, 2, 3])
    }

    @Test func tailThatHandlesTheFailure_makesItFinal() {
        var cluster = chain(retries: 3)
        var failures = ["a": 1]
        play(&cluster, &failures, handling: ["c"])
        #expect(cluster.dispatched == ["a", "b", "c"])
        #expect(cluster.operations().dropFirst().map(\.state) == [.failed, .failed, .succeeded])
    }

    @Test func successThatFollowsOnAFailure_isMadeAnewWithIt() {
        var cluster = chain(retries: 3)
        var failures = ["a": 1, "c": 1]
        play(&cluster, &failures, handling: ["b"])
        #expect(cluster.dispatched == ["a", "b", "c", "a", "b", "c"])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func memberWithItsOwnRetry_isTriedAgainByItselfFirst_andGoesOnCounting() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 1), .tail("c", receives: ["a"], retries: 2)]).graph())
        var failures = ["a": 3]
        play(&cluster, &failures)
        #expect(cluster.dispatched == ["a", "a", "c", "a", "c", "a", "c"])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func fanIn_onlyTheFailedProducersBeginAnew() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group("root", [.op("a"), .op("b"), .op("c"), .tail("t", receives: ["a", "b", "c"], retries: 5)]).graph())
        var failures = ["a": 1, "c": 2]
        play(&cluster, &failures)
        #expect(["a", "b", "c", "t"].map { path in cluster.dispatched.count { $0 == path } } == [2, 1, 3, 3])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func delayIsWaitedForOnce_andInAGroupWithOnePlace_allHaveTheirTurn() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 3)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    Sketch.op("a").having { $0.delayMilliseconds = 200_000 }, .op("b", receives: ["a"]),
                    .tail("c", receives: ["b"], retries: 1) { $0.delayMilliseconds = 200_000 },
                ], max: 1
            ).graph())
        cluster.advance(200_000)
        cluster.end("a", failure("no"))
        cluster.end("b", failure("no"))
        cluster.advance(200_000)
        cluster.end("c", failure("no"))
        var failures: [String: Int] = [:]
        play(&cluster, &failures, rounds: 2)
        #expect(cluster.dispatched == ["a", "b", "c", "a", "b", "c"])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func forwardedFailures_areTriedAgainWithWhatTheyComeFrom() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group(
                "root", [.op("a"), .op("b", receives: ["a"], forwards: true), .tail("c", receives: ["b"], retries: 2, forwards: true)]
            ).graph())
        var failures = ["a": 2]
        play(&cluster, &failures)
        #expect(cluster.dispatched == ["a", "a", "a", "b", "c"])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func groupAndForEach_asMembers_beginAnewWithAllThatIsInThem() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .group("g", [.op("x"), .op("y")]), .forEach("each", of: "list", body: .op("body")), .op("list"),
                    .tail("c", receives: ["g", "each"], retries: 2),
                ]
            ).graph())
        cluster.end("g/x")
        cluster.end("g/y", failure("no"))
        cluster.end("list")
        cluster.end("each", .elements([[1], [2]]))
        cluster.end("each/0")
        cluster.end("each/1", failure("no"))
        #expect(cluster.state("g") == .retrying)
        #expect(cluster.state("each") == .retrying)
        cluster.end("c", failure("no"))
        cluster.advance(61_000)
        #expect(cluster.heldPaths.sorted() == ["each", "g/x", "g/y"])
        cluster.end("g/x")
        cluster.end("g/y", .success(text("Y")))
        cluster.end("each", .elements([[1]]))
        cluster.end("each/0", .success(text("E")))
        #expect(cluster.find("c", on: nil)?.1.inputs.last == .list([.value(text("E"))]))
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.dispatched.count { $0 == "list" } == 1)
    }

    @Test func groupWhoseConditionFails_isTriedAgain_andItsChildrenAreCancelledAtTheEndOnly() {
        var cluster = FakeCluster()
        cluster.attach(1)
        let gated = Sketch.group("g", [.op("x")], after: ["other"]).having { $0.conditions = [Condition(.noFailedDependencies)] }
        cluster.submit(Sketch.group("root", [.op("other"), gated, .tail("c", receives: ["g"], retries: 1)]).graph())
        cluster.end("other", failure("no"))
        for _ in 0..<2 {
            #expect(cluster.state("g/x") == .blocked)
            cluster.end("c", failure("no"))
            cluster.advance(61_000)
        }
        #expect(cluster.operations().dropFirst().map(\.state) == [.failed, .failed, .cancelled, .failed])
    }

    @Test func tailKeepsItsLockOverAllAttempts() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.limits = ["db": 1]
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .op("a"), .tail("c", receives: ["a"], retries: 1, exclusive: [Exclusion(key: "db")]),
                    .keyed("other", "db", after: ["a0"]), .op("a0"),
                ]
            ).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.holds("c"))
        cluster.end("a0")
        cluster.end("c", failure("no"))
        #expect(cluster.state("other") == .locking)
        cluster.advance(61_000)
        #expect(cluster.holds("a") && cluster.state("other") == .locking)
        cluster.end("a")
        cluster.end("c")
        #expect(cluster.holds("other"))
    }

    // MARK: Ends from elsewhere

    @Test func tailCancelled_whatIsHeldCounts() {
        var cluster = chain(retries: 3)
        cluster.end("a", failure("of a"))
        cluster.end("b", failure("of b"))
        cluster.end("c", failure("of c"))
        _ = cluster.ask(.cancel(submission: "last", path: "c", reason: "", now: false))
        #expect(cluster.operations().dropFirst().map(\.state) == [.failed, .failed, .cancelled])
        #expect(cluster.view()?.state == .failed)
    }

    @Test func memberCancelledWhileItIsHeld_isNotTriedAgain_andTheOthersAboveItCount() {
        var cluster = chain(retries: 1)
        cluster.end("a", failure("of a"))
        cluster.end("b", failure("of b"))
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        #expect(cluster.state("b") == .cancelled)
        #expect(cluster.state("a") == .retrying)
        cluster.end("c", failure("of c"))
        cluster.advance(61_000)
        #expect(cluster.state("a") == .failed)
        #expect(cluster.heldPaths == ["c"])
        cluster.drain()
        #expect(cluster.dispatched == ["a", "b", "c", "c"])
    }

    @Test func workersThatDie_areNoFailures() throws {
        var cluster = chain(retries: 1)
        cluster.end("a", failure("of a"))
        cluster.die(1)
        cluster.attach(2)
        cluster.end("b", failure("of b"))
        cluster.die(2, crashed: false)
        cluster.attach(3)
        cluster.end("c", failure("of c"))
        try cluster.restart()
        cluster.attach(4)
        cluster.advance(61_000)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.dispatched == ["a", "b", "b", "c", "c", "a", "b", "c"])
    }

    // MARK: Where a scope ends

    @Test(arguments: [
        Sketch.group("root", [.op("a"), .tail("c", receives: ["a"], retries: 1), .op("out", receives: ["a"])]),
        .group("root", [.op("a"), .tail("c", receives: ["a"], retries: 1), .op("out", after: ["a"])]),
        .group("root", [.op("a"), .tail("c", receives: ["a"], retries: 1), .tail("d", receives: ["a"], retries: 1)]),
        .group("root", [.group("g", [.op("a")]), .tail("c", receives: ["g"], retries: 1), .op("out", after: ["a"])]),
        .group("root", [.op("a"), .group("g", [.tail("c", receives: ["a"], retries: 1)])]),
        .ordered("root", [.op("a"), .tail("c", receives: ["a"], retries: 1)], stop: false),
        .group("root", [.op("a"), .op("c", receives: ["a"], retries: 1)]),
    ])
    func producerThatSomebodyElseWaitsFor_isNotTriedAgain(_ sketch: Sketch) {
        var cluster = FakeCluster()
        cluster.attach(1)
        let graph = sketch.graph()
        #expect(graph.faults().isEmpty, "\(graph.faults())")
        cluster.submit(graph)
        for _ in 0..<3 {
            cluster.drain { unit in unit.path.hasSuffix("out") ? .success(.void) : failure("no") }
            cluster.advance(61_000)
        }
        #expect(cluster.dispatched.count { $0.hasSuffix("a") } == 1)
        #expect(cluster.dispatched.count { $0.hasSuffix("c") } == 2)
        #expect(cluster.view()?.state == .failed)
    }

    @Test(arguments: [
        Sketch.group("root", [.op("a").having { $0.isAwaitedElsewhere = true }, .tail("c", receives: ["a"], retries: 1)]),
        .group("root", [.group("g", [.op("a").having { $0.isAwaitedElsewhere = true }]), .tail("c", receives: ["g"], retries: 1)]),
    ])
    func producerThatIsAwaitedElsewhere_isNotTriedAgain(_ sketch: Sketch) throws {
        var cluster = FakeCluster()
        cluster.submit(sketch.graph())
        try cluster.restart()
        cluster.attach(1)
        for _ in 0..<3 {
            cluster.drain { _ in failure("no") }
            cluster.advance(61_000)
        }
        #expect(cluster.dispatched.count { $0.hasSuffix("a") } == 1)
        #expect(cluster.view()?.state == .failed)
    }

    @Test func orderAmongMembers_isNoHindrance_andIsKept() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group("root", [.op("a"), .op("b", after: ["a"]), .tail("c", receives: ["a", "b"], retries: 1)]).graph())
        cluster.end("a", failure("no"))
        cluster.end("b")
        cluster.end("c", failure("no"))
        cluster.advance(61_000)
        #expect(cluster.heldPaths == ["a"])
        cluster.drain()
        #expect(cluster.dispatched == ["a", "b", "c", "a", "c"])
    }

    @Test(arguments: [
        ("names a lock", Sketch.keyed("a", "db")),
        ("names a lock", .group("a", [.keyed("x", "db")])),
        ("has `atMostOnce`", Sketch.op("a").having { $0.atMostOnce = true }),
        ("has a unique id", Sketch.op("a").having { $0.unique = Uniqueness(id: "u") }),
        ("has code in the process", Sketch.op("a").having { $0.isHosted = true }),
        ("has code in the process", Sketch.op("a").having { $0.say = SubmitterSay(holds: true) }),
    ])
    func memberThatCannotBeTriedAgain_isRefusedByName(_ what: String, _ member: Sketch) {
        let alone = Sketch.group("root", [member, .op("c", receives: ["a"], retries: 1)]).graph()
        #expect(alone.faults().isEmpty, "\(alone.faults())")
        let faults = Sketch.group("root", [member, .tail("c", receives: ["a"], retries: 1)]).graph().faults()
        #expect(faults.count == 1 && faults.allSatisfy { $0.message.hasPrefix(what) && $0.message.contains("`c`") }, "\(faults)")
    }

    @Test(arguments: [
        ("receives nothing", Sketch.group("root", [.op("a"), .tail("c", receives: [], after: ["a"], retries: 1)])),
        ("receives nothing", .group("root", [Sketch.group("g", [.op("a")], retries: 1).having { $0.retriesNet = true }])),
        ("is not the end of its net: `d`", .group("root", [.op("a"), .tail("c", receives: ["a"], retries: 1), .op("d", receives: ["c"])])),
    ])
    func retryOfANet_whereItEndsNowhere_isRefusedByName(_ what: String, _ sketch: Sketch) {
        let faults = sketch.graph().faults()
        #expect(faults.count == 1 && faults.allSatisfy { $0.message.contains(what) }, "\(faults)")
    }

    @Test func whatIsProducedIntoAGroup_mayHaveAScope_andASuccessThatDoesNotCountAddsNothing() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group("root", [.op("a"), .op("b", receives: ["a"]), .tail("c", receives: ["b"], retries: 1)]).graph())
        let net = Addition(
            graph: Sketch.group("", [.op("x"), .tail("y", receives: ["x"], retries: 1)]).graph(), products: [2])
        cluster.end("a", failure("no"))
        cluster.end("b", .production(text("b"), net))
        #expect(cluster.operations().count == 4)
        cluster.end("c", failure("no"))
        cluster.advance(61_000)
        cluster.end("a")
        cluster.end("b", .production(text("b"), net))
        #expect(cluster.operations().count == 6)
        cluster.end("c")
        let added = cluster.heldPaths
        cluster.end(added[0], failure("no"))
        cluster.drain { _ in failure("no") }
        cluster.advance(61_000)
        #expect(cluster.heldPaths == added)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }
}

extension Assignment {
    /// What its first failed producer failed with.
    var firstReceivedFailure: [Failure]? {
        for input in inputs {
            if case .failure(let failures) = input { return failures }
        }
        return nil
    }
}
