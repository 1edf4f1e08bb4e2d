import Scheduling
import Testing

/// Sequences that once went wrong.
@Suite struct HardeningTests {
    /// Ends what `executor` holds with times of the executor's own clock.
    private func end(
        _ path: String, in cluster: inout FakeCluster, startedAt: Int64, at: Int64, _ outcome: AttemptOutcome = .success(.void)
    ) {
        guard let (owner, unit) = cluster.find(path, on: nil), let peer = cluster.peers[owner] else {
            Issue.record("nobody holds \(path)")
            return
        }
        cluster.forget(unit, of: owner)
        cluster.step([.ended(peer, unit.unit, unit.attempt, outcome, startedAt: startedAt, at: at)])
    }

    @Test(arguments: [-3, 0, 3_600_000, -3_600_000])
    func groupTimeout_doesNotDependOnTheExecutorsClock(offset: Int64) {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.ordered("root", [.op("a"), .group("g", [.op("b")], timeout: 5_000)]).graph())
        end("a", in: &cluster, startedAt: cluster.now.wall + offset, at: cluster.now.wall + offset)
        cluster.advance(4_999)
        #expect(cluster.state("g/b") != .stopping)
        cluster.advance(1)
        #expect(cluster.state("g/b") == .stopping)
    }

    @Test(arguments: [0, 3_000, 3_600_000])
    func clockThatIsAhead_leavesHowLongThingsTook(offset: Int64) {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.advance(2_000)
        end("a", in: &cluster, startedAt: cluster.now.wall - 2_000 + offset, at: cluster.now.wall + offset)
        let operation = cluster.operations().first { $0.path == "a" }
        #expect(operation?.startedAt == cluster.now.wall - 2_000 && operation?.finishedAt == cluster.now.wall)
    }

    @Test(arguments: [Int64.min, -5, 1, Int64.max], [Int64.min, -5, Int64.max])
    func absurdTimes_areHarmless(startedAt: Int64, at: Int64) throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.ordered("root", [.op("a", retries: 1), .group("g", [.op("b")], timeout: 5_000)]).graph())
        end("a", in: &cluster, startedAt: startedAt, at: at, failure("no"))
        cluster.advance(1_001)
        end("a", in: &cluster, startedAt: startedAt, at: at)
        try cluster.restart()
        cluster.reattach(1)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func operationThatCancelsItself_isCancelled_notRepeated() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.end("a", .stopped)
        #expect(cluster.dispatched == ["a"])
        #expect(cluster.state("a") == .cancelled)
    }

    @Test func waitingInsideAMember_forAnotherMemberOfALimitedGroup_isRefused() {
        let inside = Sketch.group("root", [.group("A", [.op("x", after: ["y"])]), .group("B", [.op("y")])], max: 1).graph()
        #expect(inside.faults().map { $0.message.contains("holds one of the places") } == [true])
        let beside = Sketch.group("root", [.group("A", [.op("x")], after: ["B"]), .group("B", [.op("y")])], max: 1).graph()
        #expect(beside.faults().isEmpty)
    }

    /// The place that is free otherwise may be had by one that needs what that member holds until it has ended, or that stands behind
    /// another submission's unit that does.
    @Test(arguments: [["db"], ["other"], []]) func whoNeedsAKeyBesideSuchAMember_mayHoldTheOtherPlace(needed: [String]) {
        func keyed(_ id: String, _ key: String) -> Sketch { .op(id).having { $0.exclusive = [Exclusion(key: key)] } }
        let graph = Sketch.group(
            "root",
            [
                .group("A", [keyed("k", "db"), .op("x", after: ["y"])]), .op("y"),
                .group("C", [.op("z").having { $0.exclusive = needed.map { Exclusion(key: $0) } }]),
            ], max: 2
        ).graph()
        #expect(graph.faults().map(\.path) == (needed.isEmpty ? [] : ["A/x"]))
        #expect(graph.faults().first?.message.contains("let `maxConcurrent` be at least 3") ?? true)
    }

    /// Members that hold places while they wait are fewer than the places.
    @Test func waitingInsideMembers_whileThereAreMorePlaces_isAdmitted_andGoesOn() {
        func members(_ count: Int) -> [Sketch] {
            (0..<count).map { .group("A\($0)", [.op("x\($0)", after: ["y"])]) } + [.group("B", [.op("y")])]
        }
        for (count, max, isSound) in [(1, 5, true), (1, 2, true), (2, 3, true), (2, 2, false), (3, 2, false)] {
            let faults = Sketch.group("root", members(count), max: max).graph().faults()
            #expect(faults.isEmpty == isSound, "\(count) of \(max): \(faults)")
            #expect(faults.count == (isSound ? 0 : count))
            #expect(faults.allSatisfy { $0.message.hasSuffix("or let `maxConcurrent` be at least \(count + 1)") }, "\(faults)")
        }
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(Sketch.group("root", members(2), max: 3).graph())
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func waitingInsideAMember_forOneThatHasEnded_isAdmitted() {
        let ordered = Sketch.group("root", [.group("B", [.op("y")]), .group("A", [.op("x", after: ["y"])])], ordered: true, max: 4)
        #expect(ordered.graph().faults().isEmpty)
        let after = Sketch.group("root", [.group("A", [.op("x", after: ["y"])], after: ["B"]), .group("B", [.op("y")])], max: 1)
        #expect(after.graph().faults().isEmpty)
        // Both wait inside, but never at the same time.
        let inTurn = [
            Sketch.group("A", [.op("x", after: ["y"])]), .group("C", [.op("z", after: ["w"])], after: ["A"]), .group("B", [.op("y")]),
            .group("D", [.op("w")]),
        ]
        #expect(Sketch.group("root", inTurn, max: 2).graph().faults().isEmpty)
        #expect(Sketch.group("root", inTurn, max: 1).graph().faults().map(\.path) == ["A/x", "C/z"])
    }

    /// Tried again it waits for its producer, and that for the place of one that waits for its key.
    @Test func whatKeepsAKey_whileItsNetNeedsThePlaceOfOneThatNeedsIt_isRefused() {
        func graph(max: Int, key: String = "k", after: [String] = []) -> Graph {
            let tail = Sketch.op("tail", receives: ["a"], retries: 1, exclusive: [Exclusion(key: "k")]).having { $0.retriesNet = true }
            return Sketch.group("root", [.op("a"), tail, .keyed("other", key, after: after)], max: max).graph()
        }
        let faults = graph(max: 1).faults()
        #expect(faults.map(\.path) == ["tail"])
        #expect(
            faults.first?.message
                == "keeps its keys while it is tried again with `a`, and `other`, which needs a key, too, may hold the place of a group with"
                + " `maxConcurrent` that this needs; let `other` wait (`after`), or let `maxConcurrent` be at least 2")
        #expect(graph(max: 2).faults().isEmpty && graph(max: 0).faults().isEmpty)
        #expect(graph(max: 1, key: "l").faults().map(\.path) == ["tail"])
        #expect(graph(max: 1, after: ["tail"]).faults().isEmpty)
    }

    /// It takes the keys of what is done first for a condition, and keeps them as well.
    @Test func whatKeepsTheKeyOfADependentOperation_whileItsNetNeedsThePlaceOfOneThatNeedsIt_isRefused() {
        func graph(max: Int) -> Graph {
            let asks = Sketch.op("tail", receives: ["a"], retries: 1).having {
                $0.retriesNet = true
                $0.conditions = [Condition(.probe(Probe(type: "probe", parameters: 0)))]
            }
            return Sketch.group("root", [.op("a"), .preparing(asks, [0: .keyed("?probe.0", "k")]), .keyed("other", "k")], max: max).graph()
        }
        #expect(graph(max: 1).faults().map(\.path) == ["tail"])
        #expect(graph(max: 2).faults().isEmpty)
    }

    /// Each group's place is held by a member that waits for a place of the other one.
    @Test func waitingInsideMembers_forPlacesOfEachOther_isRefused() {
        func graph(test: Int, second: [String] = []) -> Graph {
            Sketch.group(
                "root",
                [
                    .group("build", [.group("app", [.op("link", after: ["unit"])]), .op("lib")], max: 1),
                    .group("test", [.group("e2e", [.op("go", after: ["lib"])], after: second), .op("unit")], max: test),
                ]
            ).graph()
        }
        let faults = graph(test: 1).faults()
        #expect(faults.map(\.path) == ["build/app/link", "test/e2e/go"])
        #expect(
            faults.first?.message
                == "waits for `test/unit`, which does not go on before `test/unit` gets a place of `test`, while `build/app` holds one of a group"
                + " with `maxConcurrent`, and what has those of the one may wait for those of the other; let `build/app` itself wait (`after`), or"
                + " let `maxConcurrent` be at least 2")
        #expect(graph(test: 2).faults().isEmpty)
        #expect(graph(test: 1, second: ["lib"]).faults().isEmpty)
        // What goes on behind such a group, and what waits for something that holds no place, is none.
        let harmless = Sketch.group(
            "root",
            [
                .op("a"), .group("build", [.group("app", [.op("link", after: ["unit", "a"])]), .op("lib")], max: 1),
                .group("test", [.group("e2e", [.op("go", after: ["a"])]), .op("unit")], max: 1),
            ])
        #expect(harmless.graph().faults().isEmpty)
    }

    /// Who has a place for each member waits for none.
    @Test func groupWithAPlaceForEachMember_isAdmitted() {
        func graph(max: Int) -> Graph {
            Sketch.group(
                "root", [.group("A", [.op("x"), .op("z", after: ["y"])]), .group("B", [.op("y"), .op("w", after: ["x"])])], max: max
            ).graph()
        }
        #expect(graph(max: 2).faults().isEmpty)
        #expect(graph(max: 1).faults().map(\.path) == ["A/z", "B/w"])
    }

    /// Each group's member waits inside for one of the next group, which is only found to come about when all behind it are.
    @Test(arguments: [true, false]) func groupsThatWaitForEachOtherInALine_areAdmitted_inWhateverOrder(isForward: Bool) {
        let count = 1_000
        let groups = (0..<count).map { index in
            let next = isForward ? index + 1 : index - 1
            let after = (0..<count).contains(next) ? ["y\(index)", "y\(next)"] : ["y\(index)"]
            return Sketch.group(
                "g\(index)", [.op("y\(index)"), .group("b\(index)", [.op("x\(index)", after: after)], after: ["y\(index)"])], max: 1)
        }
        #expect(Sketch.group("root", groups).graph().faults().isEmpty)
    }

    /// As many delivery nets that keep their keys while they are tried again as there are places.
    @Test func manyNetsUnderAKey_areAdmittedWhereEachHasAPlace() {
        let count = 1_000
        let members = (0..<count).flatMap { index in
            [
                Sketch.op("a\(index)"),
                .op("t\(index)", receives: ["a\(index)"], retries: 1, exclusive: [Exclusion(key: "k")]).having { $0.retriesNet = true },
            ]
        }
        #expect(Sketch.group("root", members, max: count).graph().faults().isEmpty)
        #expect(Sketch.group("root", members, max: 8).graph().faults().count == 100)
    }

    /// Elements ask for their keys when nothing else is in their way: who waits for them holds none.
    @Test func waitingInsideAMember_thatHoldsNoKeyMeanwhile_leavesOthersTheirs() {
        let each = Sketch.forEach("F", of: nil, list: ["1", "2"], body: .op("x", after: ["y"], exclusive: [Exclusion(key: "db")]))
        let graph = Sketch.group("root", [each, .op("y"), .keyed("C", "other")], max: 2).graph()
        #expect(graph.faults().isEmpty, "\(graph.faults())")
    }

    /// Fifteen hundred members wait for the end of a long chain: what depends on no place is found once.
    @Test func manyMembersThatWaitInside_areChecked() {
        let chain = Sketch.ordered("chain", (0..<6_000).map { .op("c\($0)") })
        let many = Sketch.group("many", (0..<1_500).map { .group("m\($0)", [.op("w\($0)", after: ["chain"])]) }, max: 1)
        let circle = Sketch.group("zz", [.group("A", [.op("x", after: ["y"])]), .op("y")], max: 1)
        #expect(Sketch.group("root", [chain, many]).graph().faults().isEmpty)
        #expect(Sketch.group("root", [chain, many, circle]).graph().faults().map(\.path) == ["zz/A/x"])
    }

    @Test func waitingInsideAMember_forAnotherOne_byWayOfSomethingOutside_isRefused() {
        func graph(_ inside: Sketch) -> Graph {
            Sketch.group("root", [.group("G", [inside, .op("y")], max: 1), .group("B", [.op("b", after: ["y"])])]).graph()
        }
        let faults = graph(.group("A", [.op("x", after: ["B"])])).faults()
        #expect(faults.map(\.path) == ["G/A/x"])
        #expect(faults.first?.message.contains("waits for `B`, and that for `G/y`, while `G/A` holds one of the places") == true)
        #expect(graph(.group("A", [.op("x")], after: ["B"])).faults().isEmpty)
        let unlimited = Sketch.group(
            "root", [.group("G", [.group("A", [.op("x", after: ["B"])]), .op("y")]), .group("B", [.op("b", after: ["y"])])])
        #expect(unlimited.graph().faults().isEmpty)
    }

    @Test func limitOfAGroup_holdsAlsoWhenAMemberEndsAsItBegins() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .op("p"),
                    .group(
                        "G", [.op("z"), .op("b", receives: ["p"], forwards: true), .op("d", after: ["p"]), .op("y", after: ["z"])], max: 1),
                ]
            ).graph())
        cluster.end("p", failure("no"))
        cluster.end("G/z")
        #expect(cluster.heldPaths.filter { $0.hasPrefix("G/") }.count <= 1)
        cluster.drain()
        #expect(cluster.view()?.counts.pending == 0)
    }

    @Test func suspectsOfDifferentTypes_doNotWaitForEachOther() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2, operations: ["foo", "bar"])
        cluster.submit(Sketch.group("root", [.op("f", type: "foo"), .op("b", type: "bar")]).graph())
        cluster.die(1)
        cluster.attach(2, operations: ["bar"])
        #expect(cluster.heldPaths == ["b"])
    }

    /// What the one that is kept for it runs may take hours.
    @Test func suspect_isGivenToWhoeverHasNothingFirst_andLetsTheOthersGo() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph(), key: "suspects")
        cluster.begin("a")
        cluster.begin("b")
        cluster.attach(2, slots: 4)
        cluster.submit(Sketch.group("root", [.op("long")]).graph(), key: "long")
        cluster.begin("long")
        cluster.die(1)
        cluster.submit(Sketch.group("root", [.op("other")]).graph(), key: "other")
        // One executor is kept for both.
        #expect(cluster.held[2]?.map(\.path) == ["long"])
        // A fresh process in place of the one that died.
        cluster.attach(3, slots: 2)
        #expect(cluster.held[3]?.map(\.path) == ["a"])
        #expect(cluster.held[2]?.map(\.path) == ["long"])
        cluster.end("a")
        #expect(cluster.held[3]?.map(\.path) == ["b"])
        #expect(cluster.held[2].map { Set($0.map(\.path)) } == ["long", "other"])
    }

    @Test func returningExecutor_restartsItsOrphanLimit() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        cluster.disconnect(1)
        cluster.advance(10_000)
        cluster.reattach(1)
        cluster.advance(580_000)
        cluster.disconnect(1)
        cluster.advance(100_000)
        #expect(cluster.state("a") == .stopping)
    }

    @Test func cancelNow_afterCancel_stopsWithoutGrace_alsoAfterAReattachment() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")])]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        #expect(cluster.stops.map(\.now) == [false])
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: true))
        #expect(cluster.stops.map(\.now) == [true])
        cluster.reattach(1)
        #expect(cluster.stops.map(\.now) == [true])
    }

    @Test func listsThatMakeTooManyUnits_areRefused_orFail() {
        let list = (0..<50).map { "\($0)" }
        let nested = Sketch.group("root", [.forEach("o", of: nil, list: list, body: .forEach("i", of: nil, list: list, body: .op("x")))])
            .graph()
        #expect(nested.faults(limits: GraphLimits(unitsMax: 100)).first?.message.contains("limit of 100 units") == true)

        var configuration = Scheduler.Configuration()
        configuration.graphLimits.unitsMax = 100
        var cluster = FakeCluster(configuration)
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("list"), .forEach("o", of: "list", body: .group("g", [.op("x"), .op("y")]))]).graph())
        cluster.end("list")
        cluster.end("o", .elements((0..<50).map { Array("\($0)".utf8) }))
        #expect(cluster.operations(failedOnly: true).last?.errors.first?.code == .limit)
        #expect(cluster.view()?.state == .failed)
    }

    @Test func manyFailures_areDeliveredAsAListThatCanBeSent() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 300)
        cluster.submit(Sketch.group("root", [.group("g", (0..<300).map { .op("o\($0)") }), .op("r", receives: ["g"])]).graph())
        for index in 0..<300 { cluster.end("g/o\(index)", failure("bad \(index)")) }
        guard case .failure(let failures)? = cluster.find("r", on: nil)?.1.inputs.first else {
            Issue.record("no failure was delivered")
            return
        }
        #expect(failures.count == 101)
        #expect(failures.last?.message == "… and 200 more failures")
    }

    @Test func prefetchedUnits_areRecalledForAnIdleExecutor_whateverElseWaits() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("rare", type: "nobody")] + (0..<20).map { .op("o\($0)") }).graph())
        cluster.end("o0")
        cluster.end("o1")
        #expect((cluster.held[1]?.count ?? 0) > 1)
        cluster.attach(2)
        #expect(cluster.stops.contains { $0.reason == .recalled })
    }

    /// An executor begins what it has in turns between submissions, not in the order in which it was given.
    @Test(arguments: [false, true]) func whatWaitsBehindALongOne_goesToWhoeverHasAFreeSlot(otherIsBusy: Bool) {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", (0..<40).map { .op("short\($0)") }).graph(), key: "short")
        for index in 0..<4 { cluster.end("short\(index)") }
        cluster.submit(Sketch.group("root", [.op("long")]).graph(), key: "long")
        var next = 4
        while !cluster.holds("long"), next < 40 {
            cluster.end("short\(next)")
            next += 1
        }
        cluster.begin("long")
        #expect((cluster.held[1]?.count ?? 0) > 10)
        cluster.attach(2, slots: otherIsBusy ? 2 : 1)
        cluster.giveBackRecalled()
        // It keeps one of its slots to the end.
        let kept = otherIsBusy ? cluster.held[2]?.first?.path : nil
        if let kept { cluster.begin(kept) }
        for _ in 0..<60 {
            cluster.giveBackRecalled()
            guard let path = cluster.held[2]?.map(\.path).first(where: { $0 != kept }) else { break }
            cluster.end(path, on: 2)
        }
        #expect(cluster.held[1]?.map(\.path) == ["long"], "nothing waits behind it while another executor has a free slot")
        #expect(cluster.held[2]?.map(\.path) == (kept.map { [$0] } ?? []))
    }

    /// Short operations went before: dozens are sent ahead, and they are long.
    @Test func unitsSentAhead_areRecalled_whenTheyTurnOutLong() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", (0..<10).map { .op("short\($0)") }).graph(), key: "short")
        for index in 0..<10 { cluster.end("short\(index)") }
        cluster.submit(Sketch.group("root", (0..<300).map { .op("long\($0)") }).graph(), key: "long")
        let sent = cluster.held[1]?.count ?? 0
        #expect(sent > 30)
        cluster.submit(Sketch.group("root", [.op("other")]).graph(), key: "other")
        #expect(!cluster.holds("other"))
        cluster.end("long0", lasting: 20_000)
        #expect(cluster.stops.count { $0.reason == .recalled } > sent / 2)
        cluster.giveBackRecalled()
        var ended = 0
        while !cluster.holds("other"), ended < 3, let long = cluster.held[1]?.first {
            cluster.end(long.path, lasting: 20_000)
            ended += 1
        }
        #expect(cluster.holds("other"), "it has its turn, not after \(ended) long ones")
    }

    @Test func executorThatGivesBackUnasked_getsNothingNew() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        guard let peer = cluster.peers[1], let unit = cluster.find("a", on: 1)?.1 else {
            Issue.record("nothing handed out")
            return
        }
        cluster.forget(unit, of: 1)
        cluster.step([.released(peer, unit.unit, unit.attempt)])
        #expect(cluster.dispatched == ["a"])
    }
}
