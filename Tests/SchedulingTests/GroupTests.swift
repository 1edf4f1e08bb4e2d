import Scheduling
import Testing

@Suite struct GroupTests {
    @Test func orderedGroup_startsEachMemberAfterThePreviousEnded() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.ordered("root", [.op("a"), .op("b"), .op("c")]).graph())
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a")
        #expect(cluster.heldPaths == ["b"])
        cluster.end("b")
        cluster.end("c")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func memberCancelledBeforeItsTurn_letsNobodyBeginBeforeTheirs() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.ordered("root", ["a", "b", "c", "d", "e"].map { .op($0) }, stop: false).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "c", reason: "", now: false))
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a")
        #expect(cluster.heldPaths == ["d"])
        _ = cluster.ask(.cancel(submission: "last", path: "e", reason: "", now: false))
        #expect(cluster.view()?.state == .running)
        cluster.end("d")
        #expect(cluster.view()?.counts.cancelled == 3)
        #expect(cluster.view()?.counts.succeeded == 2)
    }

    @Test func group_handsOutAllChildrenAtOnce_andEndsAfterTheLast() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c")]).graph())
        #expect(cluster.heldPaths == ["a", "b", "c"])
        cluster.end("c")
        cluster.end("a")
        #expect(cluster.view()?.state == .running)
        cluster.end("b")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func emptyGroups_succeed_nestedToo() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.group("empty", []), .ordered("alsoEmpty", [])]).graph())
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func maxConcurrent_boundsWhatIsHandedOut() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(Sketch.group("root", (0..<5).map { .op("o\($0)") }, max: 2).graph())
        #expect(cluster.heldPaths == ["o0", "o1"])
        cluster.end("o1")
        #expect(cluster.heldPaths == ["o0", "o2"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func orderedGroup_withStop_cancelsWhatFollowsAFailure() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.ordered("root", [.op("a"), .op("b"), .op("c")]).graph())
        cluster.end("a", failure("no"))
        let view = cluster.view()
        #expect(view?.state == .failed)
        #expect(view?.counts.failed == 1)
        #expect(view?.counts.cancelled == 2)
        #expect(cluster.dispatched == ["a"])
    }

    @Test func group_withoutStop_goesOnAfterAFailure() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.ordered("root", [.op("a"), .op("b")], stop: false).graph())
        cluster.end("a", failure("no"))
        cluster.end("b")
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.succeeded == 1)
    }

    @Test func group_withStop_stopsRunningSiblings_andWaitsForThem() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")], stop: true).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.stops.map(\.reason) == [.cancelled])
        #expect(cluster.view()?.state == .running)
        #expect(cluster.state("b") == .stopping)
        cluster.end("b", .stopped)
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.state("b") == .cancelled)
    }

    @Test(arguments: [false, true])
    func group_withStop_stopsWhenAChildIsCancelledByItself(hasBegun: Bool) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c", after: ["a"])], stop: true).graph())
        _ = cluster.ask(.cancel(submission: "last", path: hasBegun ? "a" : "c", reason: "", now: false))
        if hasBegun {
            #expect(cluster.state("b") != .stopping, "the child has not ended yet")
            cluster.end("a", .stopped)
        } else {
            cluster.end("a", .stopped)
        }
        #expect(cluster.state("b") == .stopping)
        cluster.end("b", .stopped)
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.cancelled == 3)
    }

    @Test func slot_isFreeWhenTheBodyIsOver_notBefore() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.begin("a")
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        #expect(cluster.state("a") == .stopping)
        #expect(cluster.heldPaths == ["a"])
        cluster.advance(1_000)
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a", .stopped)
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func cancelledChild_makesTheGroupFail_notCancelled() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")], max: 1).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        cluster.end("a")
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.cancelled == 1)
    }

    @Test func nestedGroups_inAnyDepth_complete() {
        // Without a sketch, which would be walked by a thread with a small stack.
        let depth = 999
        var graph = Sketch.group("root", [.op("leaf")]).graph()
        let leaf = graph.nodes.removeLast()
        for level in 1..<depth {
            graph.nodes.append(Node(id: "g\(level)", parent: level - 1, kind: .group(GroupNode(isOrdered: level.isMultiple(of: 2)))))
        }
        graph.nodes.append(Node(id: leaf.id, parent: depth - 1, kind: leaf.kind))
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(graph)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func twoSubmissions_takeTurns() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", (0..<4).map { .op("a\($0)") }).graph(), key: "first")
        cluster.submit(Sketch.group("root", (0..<4).map { .op("b\($0)") }).graph(), key: "second")
        cluster.attach(1)
        cluster.drain()
        #expect(cluster.dispatched == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"])
    }

    @Test func units_goOnlyToExecutorsThatRegisteredTheirType() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4, operations: ["noop"])
        cluster.submit(Sketch.group("root", [.op("a", type: "special"), .op("b")]).graph())
        #expect(cluster.heldPaths == ["b"])
        cluster.attach(2, operations: ["special"])
        #expect(cluster.find("a", on: 2) != nil)
    }

    @Test func work_isSpreadOverFreeSlotsFirst() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.attach(2, slots: 2)
        cluster.submit(Sketch.group("root", (0..<3).map { .op("o\($0)") }).graph())
        #expect(cluster.held[1]?.count == 2)
        #expect(cluster.held[2]?.count == 1)
    }
}
