import Scheduling
import Testing

@Suite struct LockScopeTests {
    @Test func group_takesWhatItsMembersName_inOneStep_andTheyTakeTurns() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .group("g", [.keyed("a", "x"), .keyed("b", "x"), .keyed("c", "y"), .op("free")]),
                    .keyed("outside", "y"),
                ]
            ).graph())
        #expect(cluster.heldPaths == ["g/free", "g/a", "g/c"])
        cluster.end("g/c")
        #expect(cluster.state("outside") == .locking)
        cluster.end("g/a")
        cluster.end("g/b")
        cluster.end("g/free")
        #expect(cluster.heldPaths == ["outside"])
    }

    @Test func groupThatIsBlocked_holdsNothing() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let held = Sketch.group("g", [.op("a"), .keyed("b", "y")], after: ["first"], exclusive: [Exclusion(key: "x")])
        cluster.submit(Sketch.group("root", [.op("first"), held, .keyed("x", "x"), .keyed("y", "y")]).graph())
        #expect(cluster.heldPaths == ["first", "x", "y"], "nobody waits for the keys of a group that has not begun")
        cluster.end("x")
        cluster.end("first")
        #expect(cluster.heldPaths == ["y"], "all keys at once, or none")
        cluster.end("y")
        #expect(Set(cluster.heldPaths) == ["g/a", "g/b"])
    }

    @Test func groupAndMember_onOneKey_doNotWaitForEachOther() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(
            Sketch.group(
                "root", [.holding("g", "x", [.op("plain"), .group("h", [.keyed("a", "x"), .keyed("b", "x")]), .keyed("c", "x")])]
            ).graph())
        #expect(cluster.find("g/plain", on: nil)?.1.fences.map(\.key) == ["x"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test(arguments: [1, 2])
    func twoGroups_thatEachHoldAKeyTheOthersMemberNeeds_runOneAfterTheOther(submissions: Int) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let one = Sketch.holding("one", "x", [.keyed("a", "y"), .op("b")])
        let two = Sketch.holding("two", "y", [.keyed("c", "x"), .op("d")])
        if submissions == 1 {
            cluster.submit(Sketch.group("root", [one, two]).graph())
        } else {
            cluster.submit(Sketch.group("root", [one]).graph(), key: "1")
            cluster.submit(Sketch.group("root", [two]).graph(), key: "2")
        }
        #expect(cluster.heldPaths.sorted() == ["one/a", "one/b"])
        cluster.drain()
        #expect(cluster.dispatched.sorted() == ["one/a", "one/b", "two/c", "two/d"])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func delayedOperation_asksForItsLockWhenTheDelayIsOver() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(
            Sketch.group("root", [Sketch.keyed("late", "x").having { $0.delayMilliseconds = 1_000 }, .keyed("a", "x"), .keyed("b", "x")])
                .graph())
        #expect(cluster.state("late") == .blocked)
        cluster.end("a")
        #expect(cluster.heldPaths == ["b"])
        cluster.advance(1_000)
        #expect(cluster.state("late") == .locking)
        cluster.end("b")
        #expect(cluster.heldPaths == ["late"])
    }

    @Test func root_holdsNothing_unlessItNamesAKey() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(Sketch.group("root", [.keyed("a", "x"), .op("b")]).graph(), key: "1")
        cluster.submit(Sketch.holding("root", "x", [.op("c"), .keyed("d", "y")]).graph(), key: "2")
        cluster.submit(Sketch.group("root", [.keyed("e", "y")]).graph(), key: "3")
        #expect(cluster.heldPaths.sorted() == ["a", "b"])
        cluster.end("a")
        #expect(cluster.heldPaths.sorted() == ["b", "c", "d"])
        cluster.end("d")
        cluster.end("c")
        #expect(cluster.heldPaths == ["b", "e"])
    }

    @Test func elementsOfAForEach_takeTheirLocksEachForItself() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let body = Sketch.op("body", exclusive: [Exclusion(key: "db", limit: 2)])
        cluster.submit(Sketch.group("root", [.forEach("each", of: nil, list: ["1", "2", "3", "4"], body: body)]).graph())
        #expect(cluster.heldPaths == ["each/0", "each/1"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func group_keepsItsLocks_whileItIsTriedAgain() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(
            Sketch.group("root", [.group("g", [.keyed("a", "x"), .keyed("b", "x")], retries: 1), .keyed("c", "x")]).graph())
        cluster.end("g/a", failure("no"))
        cluster.end("g/b")
        #expect(cluster.state("g") == .retrying)
        #expect(cluster.state("c") == .locking)
        cluster.advance(1_001)
        #expect(cluster.heldPaths == ["g/a"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func emptyGroupWithAKey_endsAtOnce_andTheKeyGoesOn() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.keyed("a", "x"), .holding("g", "x", []), .keyed("b", "x")]).graph())
        cluster.end("a")
        #expect(cluster.state("g") == .succeeded)
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func stopOfAGroup_byTheMemberThatGotTheLockFirst_isHarmless() {
        // The first group to be granted fails at once and thereby stops the other, granted in the same step.
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .op("bad"), .op("holder", exclusive: [Exclusion(key: "x", limit: 2)]),
                    .op("holder2", exclusive: [Exclusion(key: "x", limit: 2)]),
                    .group("g", [.op("fails", receives: ["bad"], forwards: true)], exclusive: [Exclusion(key: "x", limit: 1)]),
                    .keyed("other", "x"),
                ], stop: true
            ).graph())
        cluster.drain { $0.path == "bad" ? failure("bad") : .success(.void) }
        #expect(cluster.view()?.state == .failed)
    }
}
