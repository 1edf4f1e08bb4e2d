import Scheduling
import Testing

/// When units may start, and by when they must have ended.
@Suite struct TimingTests {
    private static let wall: Int64 = 1_700_000_000_000

    @Test func delay_countsFromWhenEverythingElseIsOver_andTakesNoSlot() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group("root", [.op("first"), .op("late", after: ["first"]).having { $0.delayMilliseconds = 1_000 }, .op("other")])
                .graph())
        cluster.advance(5_000)
        cluster.end("first")
        #expect(cluster.heldPaths == ["other"])
        #expect(cluster.state("late") == .blocked)
        cluster.end("other")
        cluster.advance(999)
        #expect(cluster.heldPaths == [])
        cluster.advance(1)
        #expect(cluster.heldPaths == ["late"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func end_isWhenTheBodyEnded_andWhatFollowsWaitsSinceItWasHeardOf() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b", after: ["a"])]).graph())
        _ = cluster.ask(.follow(submission: "last", .operations))
        cluster.advance(10_000)
        cluster.end("a", lasting: 20, heardAfter: 700)
        let heardAt = cluster.now.wall
        let told = cluster.sends.compactMap { send -> UnitEvent? in
            if case .events(let batch) = send.message { batch.events.first { $0.path == "a" } } else { nil }
        }
        #expect(told.map(\.at) == [heardAt - 700])
        cluster.end("b", lasting: 5, heardAfter: -50)
        // Through the bytes of its facts, and of a snapshot.
        for _ in 0..<2 {
            let views = Dictionary(uniqueKeysWithValues: cluster.operations().map { ($0.path, $0) })
            let (a, b, root) = (try #require(views["a"]), try #require(views["b"]), try #require(views[""]))
            #expect(a.startedAt == heardAt - 720 && a.finishedAt == heardAt - 700)
            #expect(b.queuedAt == heardAt && b.finishedAt == heardAt, "nothing ends in the future")
            #expect(root.finishedAt == heardAt)
            try cluster.restart()
        }
    }

    @Test func delayedMember_takesNoPlaceOfItsGroup() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group("root", [.op("late").having { $0.delayMilliseconds = 1_000 }, .op("a"), .op("b")], max: 1).graph())
        #expect(cluster.heldPaths == ["a"])
        cluster.advance(1_000)
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a")
        cluster.end("b")
        #expect(cluster.heldPaths == ["late"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func delayedGroup_opensLater_andNotAgainForARetry() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group("root", [Sketch.group("g", [.op("a")], retries: 1).having { $0.delayMilliseconds = 10_000 }])
                .having { $0.delayMilliseconds = 500 }.graph())
        #expect(cluster.view()?.state == .pending)
        cluster.advance(10_499)
        #expect(cluster.heldPaths == [])
        cluster.advance(1)
        #expect(cluster.heldPaths == ["g/a"])
        cluster.end("g/a", failure("once"))
        cluster.advance(1_001)
        #expect(cluster.heldPaths == ["g/a"])
    }

    @Test func delayedUnit_whoseProducerFailed_forwardsThatAtOnce() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group(
                "root", [.op("a"), .op("b", receives: ["a"], forwards: true).having { $0.delayMilliseconds = 60_000 }]
            ).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.state("b") == .failed)
    }

    @Test func restart_keepsTheInstant() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("late").having { $0.delayMilliseconds = 10_000 }]).graph())
        cluster.advance(4_000)
        try cluster.restart(after: 3_000)
        cluster.attach(1)
        cluster.advance(2_999)
        #expect(cluster.heldPaths == [])
        cluster.advance(1)
        #expect(cluster.heldPaths == ["late"])
    }

    @Test func notBefore_followsTheWallClock_andDelayDoesNot() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .op("time").having { $0.notBefore = Self.wall + 60_000 },
                    .op("delay").having { $0.delayMilliseconds = 60_000 },
                ]
            ).graph())
        cluster.advance(1_000)
        cluster.stepWallClock(-30_000)
        cluster.advance(59_000)
        #expect(cluster.heldPaths == ["delay"])
        cluster.advance(29_999)
        #expect(cluster.heldPaths == ["delay"])
        cluster.advance(1)
        #expect(cluster.heldPaths == ["delay", "time"])
    }

    @Test func notBefore_isSeenSoonAfterTheWallClockWasSetForward_evenWhenNothingElseHappens() {
        var cluster = FakeCluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .group("g", [.op("a").having { $0.delayMilliseconds = 1 }])
                        .having { $0.notBefore = Self.wall + 86_400_000 }
                ]
            ).graph())
        cluster.stepWallClock(86_400_000)
        #expect(cluster.state("g") == .blocked)
        cluster.advance(10_000)
        #expect(cluster.state("g") == .running)
    }

    @Test func notBefore_inThePast_delaysNothing() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a").having { $0.notBefore = 1 }]).graph())
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func cancelledWhileDelayed_endsAtOnce() {
        var cluster = FakeCluster()
        cluster.submit(
            Sketch.group(
                "root", [.op("a").having { $0.delayMilliseconds = 1_000 }, .group("g", [.op("b")]).having { $0.delayMilliseconds = 1 }]
            )
            .graph())
        _ = cluster.ask(.follow(submission: "last", .everything))
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        let told = cluster.sends.flatMap { send -> [UnitEvent] in
            if case .events(let batch) = send.message { batch.events } else { [] }
        }
        #expect(told.filter { $0.state == .cancelled }.map(\.path).sorted() == ["", "a", "g", "g/b"], "each is told, once")
        #expect(told.allSatisfy { $0.startedAt == 0 || $0.path.isEmpty }, "nothing in it has begun")
        #expect(cluster.view()?.state == .cancelled)
        #expect(cluster.operations().map(\.state) == [.cancelled, .cancelled, .cancelled, .cancelled])
        cluster.advance(5_000)
        #expect(cluster.dispatched == [])
    }

    @Test func optionsBeyondAllTime_areRefused() {
        let graph = Sketch.group("root", [.op("a").having { $0.delayMilliseconds = -1 }]).graph()
        #expect(graph.faults().map(\.message) == ["has a `delay` of -1 ms; it must be from 0 to 253402300799999"])
    }
}
