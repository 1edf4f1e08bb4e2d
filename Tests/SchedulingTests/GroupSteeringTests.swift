import Scheduling
import Testing

/// What users have said of members stays said when a group around these begins anew.
@Suite struct GroupSteeringTests {
    private func cluster(_ sketches: Sketch..., ordered: Bool = false, stop: Bool = false) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", [.group("g", sketches, ordered: ordered, stop: stop, retries: 1)]).graph())
        return cluster
    }

    private func cancel(_ path: String, _ cluster: inout FakeCluster) {
        _ = cluster.ask(.cancel(submission: "last", path: path, reason: "not that one", now: false))
    }

    private enum Answer { case changed, unchanged, hasEnded }

    private func steer(_ request: Request, _ cluster: inout FakeCluster) -> Answer? {
        guard case .steered(_, let changed, let hasEnded, _)? = cluster.ask(request) else { return nil }
        return hasEnded ? .hasEnded : changed ? .changed : .unchanged
    }

    private func restart(_ cluster: inout FakeCluster) throws {
        try cluster.restart()
        cluster.reattach(1, slots: 4)
    }

    @Test(arguments: [false, true]) func cancelledMember_doesNotBeginAgain(restarts: Bool) throws {
        var cluster = cluster(.op("a"), .op("b"), .op("c", after: ["b"]))
        cancel("g/b", &cluster)
        cluster.end("g/b", .stopped)
        cluster.end("g/c")
        if restarts { try restart(&cluster) }
        cluster.end("g/a", failure("no"))
        #expect(cluster.state("g") == .retrying)
        if restarts { try restart(&cluster) }
        cluster.advance(70_000)
        #expect(cluster.heldPaths.sorted() == ["g/a", "g/c"], "what comes after it goes on")
        #expect(cluster.state("g/b") == .cancelled)
        #expect(cluster.explain("g/b")?.causes.first?.text == "was cancelled by a user: not that one")
        cluster.drain()
        #expect(cluster.dispatched.count { $0 == "g/b" } == 1)
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.cancelled == 1 && cluster.view()?.counts.succeeded == 2)
    }

    /// In an ordered group that stops the one before it runs again, and then all is over.
    @Test func cancelledMemberOfAnOrderedGroup_stopsItAgainInItsTurn() {
        var cluster = cluster(.op("a"), .op("b"), .op("c"), ordered: true, stop: true)
        cancel("g/b", &cluster)
        cluster.end("g/a")
        #expect(cluster.state("g") == .retrying)
        cluster.advance(70_000)
        #expect(cluster.heldPaths == ["g/a"])
        #expect(cluster.state("g/b") == .cancelled)
        #expect(cluster.state("g/c") == .blocked)
        cluster.end("g/a")
        #expect(cluster.dispatched == ["g/a", "g/a"])
        #expect(cluster.view()?.state == .failed)
    }

    @Test func cancelledGroup_andWhatIsInIt_doNotBeginAgain() throws {
        var cluster = cluster(.group("h", [.op("x"), .op("y")]), .op("a", after: ["h"]))
        cancel("g/h", &cluster)
        for path in ["g/h/x", "g/h/y"] { cluster.end(path, .stopped) }
        cluster.end("g/a", failure("no"))
        try restart(&cluster)
        cluster.advance(70_000)
        #expect(cluster.heldPaths == ["g/a"])
        for path in ["g/h", "g/h/x", "g/h/y"] { #expect(cluster.state(path) == .cancelled) }
    }

    /// What the group itself has stopped begins again.
    @Test func whatNobodyHasCancelled_beginsAgain() {
        var cluster = cluster(.op("a"), .op("b"), stop: true)
        cluster.end("g/a", failure("no"))
        cluster.end("g/b", .stopped)
        cluster.advance(70_000)
        #expect(cluster.heldPaths == ["g/a", "g/b"])
    }

    @Test func netThatBeginsAnew_leavesWhatWasCancelledInIt() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let tail = Sketch.op("t", receives: ["m"], retries: 1).having { $0.retriesNet = true }
        cluster.submit(Sketch.group("root", [.group("m", [.op("x"), .op("y")]), tail]).graph())
        cancel("m/y", &cluster)
        cluster.end("m/y", .stopped)
        cluster.end("m/x")
        cluster.end("t", failure("no"))
        cluster.advance(70_000)
        #expect(cluster.heldPaths == ["m/x"])
        cluster.end("m/x")
        #expect(cluster.heldPaths == ["t"])
        #expect(cluster.state("m/y") == .cancelled)
    }

    @Test(arguments: [false, true]) func pausedMember_isPausedAgain_untilItIsResumed(restarts: Bool) throws {
        var cluster = cluster(.op("a"), .op("b"))
        cluster.begin("g/b")
        #expect(steer(.pause(submission: "last", path: "g/b"), &cluster) == .changed)
        cluster.end("g/b")
        cluster.end("g/a", failure("no"))
        if restarts { try restart(&cluster) }
        cluster.advance(70_000)
        #expect(cluster.heldPaths == ["g/a"])
        #expect(cluster.state("g/b") == .paused)
        #expect(steer(.resume(submission: "last", path: "g/b"), &cluster) == .changed)
        #expect(cluster.heldPaths.sorted() == ["g/a", "g/b"])
        #expect(steer(.pause(submission: "last", path: "g/b"), &cluster) == .changed)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(steer(.resume(submission: "last", path: "g/b"), &cluster) == .hasEnded)
    }

    /// It has ended, and its group has not.
    @Test func pauseOfWhatHasEnded_canBeLifted_beforeItBeginsAgain() {
        var cluster = cluster(.op("a"), .op("b"))
        cluster.begin("g/b")
        #expect(steer(.pause(submission: "last", path: "g/b"), &cluster) == .changed)
        cluster.end("g/b")
        #expect(cluster.state("g/b") == .succeeded)
        #expect(steer(.resume(submission: "last", path: "g/b"), &cluster) == .changed)
        #expect(steer(.resume(submission: "last", path: "g/b"), &cluster) == .hasEnded)
        cluster.end("g/a", failure("no"))
        cluster.advance(70_000)
        #expect(cluster.heldPaths == ["g/a", "g/b"])
    }
}
