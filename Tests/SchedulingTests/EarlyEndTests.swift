import Scheduling
import Testing

/// Members of ordered groups that end before their turn, in groups that stop at the first failure: the stop comes with the turn.
@Suite struct EarlyEndTests {
    private func cancel(_ path: String, _ cluster: inout FakeCluster) {
        _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: false))
    }

    private func steps(_ names: String...) -> [Sketch] { names.map { .op($0) } }

    @Test(arguments: [false, true]) func cancelledMember_stopsTheGroupInItsTurn(restarts: Bool) throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.ordered("root", steps("a", "b", "c", "d")).graph())
        cancel("c", &cluster)
        #expect(cluster.stops.isEmpty && cluster.heldPaths == ["a"])
        #expect(cluster.state("c") == .cancelled)
        if restarts {
            try cluster.restart()
            cluster.reattach(1, slots: 4)
        }
        cluster.end("a")
        #expect(cluster.heldPaths == ["b"])
        cluster.end("b")
        #expect(cluster.dispatched == ["a", "b"])
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.succeeded == 2 && cluster.view()?.counts.cancelled == 2)
    }

    /// Several that end out of order, and one in its turn that fails before theirs comes.
    @Test(arguments: [false, true]) func severalThatWereCancelled_stopItOnce_andAFailureBeforeThemComesFirst(fails: Bool) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", [.ordered("g", steps("a", "b", "c", "d")), .op("r", receives: ["g"])]).graph())
        for path in ["g/d", "g/b"] { cancel(path, &cluster) }
        #expect(cluster.heldPaths == ["g/a"])
        cluster.end("g/a", fails ? failure("no") : .success(.void))
        #expect(cluster.dispatched == ["g/a", "r"])
        guard case .failure(let failures)? = cluster.find("r", on: nil)?.1.inputs.first else {
            Issue.record("nothing was received")
            return
        }
        #expect(failures.map(\.origin) == (fails ? ["g/a"] : []) + ["g/b", "g/d"], "what its own stop cancelled is left out")
    }

    /// By the deadline of its own, too.
    @Test func memberThatFailsBeforeItsTurn_stopsTheGroupInItsTurn() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.ordered("root", [.op("a"), Sketch.op("b").having { $0.deadlineMilliseconds = 1_000 }, .op("c")]).graph())
        cluster.advance(1_000)
        #expect(cluster.stops.isEmpty && cluster.heldPaths == ["a"])
        #expect(cluster.state("b") == .failed && cluster.state("c") == .blocked)
        cluster.end("a")
        #expect(cluster.dispatched == ["a"])
        #expect(cluster.state("c") == .cancelled && cluster.view()?.state == .failed)
    }

    @Test func membersCancelledBeforeTheirGroupBegins_stopItInTheirTurn_anUnorderedOneAtOnce() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .op("x"), .group("later", steps("a", "b", "c"), ordered: true, stop: true, after: ["x"]),
                    .group("first", steps("d", "e"), ordered: true, stop: true, after: ["x"]),
                    .group("unordered", steps("f", "g"), stop: true, after: ["x"]),
                ]
            ).graph())
        for path in ["later/b", "first/d", "unordered/g"] { cancel(path, &cluster) }
        #expect(cluster.state("first/e") == .blocked && cluster.state("unordered/f") == .cancelled)
        cluster.end("x")
        #expect(cluster.heldPaths == ["later/a"])
        #expect(cluster.state("first") == .failed && cluster.state("unordered") == .failed)
        cluster.end("later/a")
        #expect(cluster.dispatched == ["x", "later/a"])
        #expect(cluster.view()?.state == .failed)
    }

    /// It was stopped at once then, and that was told.
    @Test(arguments: [false, true]) func journalFromBefore_comesToWhatItCameTo(isOld: Bool) throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.ordered("root", steps("a", "b")).graph())
        cancel("b", &cluster)
        var scheduler = Scheduler(.init())
        for fact in isOld ? cluster.journal.ofTheFirstRules : cluster.journal { try scheduler.restore(fact) }
        #expect(scheduler.submissionCounts.unfinished == (isOld ? 0 : 1))
    }
}
