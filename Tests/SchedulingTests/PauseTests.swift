import Scheduling
import Testing

/// `aop pause` and `aop resume`.
@Suite struct PauseTests {
    private func steer(_ request: Request, _ cluster: inout FakeCluster) -> (changed: Bool, alreadyEnded: Bool, pausedBy: String?)? {
        guard case .steered(_, let changed, let alreadyEnded, let pausedBy)? = cluster.ask(request) else { return nil }
        return (changed, alreadyEnded, pausedBy)
    }

    @discardableResult
    private func pause(_ cluster: inout FakeCluster) -> Bool? { pause("", &cluster) }

    @discardableResult
    private func resume(_ cluster: inout FakeCluster) -> Bool? { resume("", &cluster) }

    @discardableResult
    private func pause(_ path: String, _ cluster: inout FakeCluster) -> Bool? {
        steer(.pause(submission: "last", path: path), &cluster)?.changed
    }

    @discardableResult
    private func resume(_ path: String, _ cluster: inout FakeCluster) -> Bool? {
        steer(.resume(submission: "last", path: path), &cluster)?.changed
    }

    @Test func pausedSubmission_startsNothing_andWhatRunsGoesOn() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        cluster.submit(Sketch.ordered("root", [.group("g", [.op("a"), .op("b")]), .op("c")]).graph())
        cluster.begin("g/a")
        #expect(pause(&cluster) == true)
        #expect(pause(&cluster) == false)
        #expect(cluster.view()?.state == .paused)
        #expect(cluster.state("g/a") == .running)
        #expect(cluster.state("g/b") == .paused)
        #expect(cluster.state("c") == .blocked)
        cluster.end("g/a")
        try cluster.restart()
        cluster.attach(1, slots: 9)
        #expect(cluster.heldPaths == [])
        #expect(cluster.view()?.state == .paused)
        let id = cluster.view()?.id ?? ""
        #expect(cluster.operations().first { $0.path == "g/b" }?.waiting?.text == "paused; `aop resume \(id)` lets it go on")
        #expect(resume(&cluster) == true)
        #expect(resume(&cluster) == false)
        #expect(cluster.heldPaths == ["g/b"])
        cluster.end("g/b")
        cluster.end("c")
        #expect(cluster.view()?.state == .succeeded)
        let ended = steer(.pause(submission: "last", path: ""), &cluster)
        #expect(ended?.changed == false && ended?.alreadyEnded == true)
    }

    @Test func pausedGroup_doesNotOpen_itsNeighboursGoOn_andOperationsByThemselvesCanBePaused() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9)
        cluster.submit(
            Sketch.group("root", [.op("a"), .group("g", [.op("x"), .op("y")], after: ["a"]), .op("b", after: ["a"])]).graph())
        pause("g", &cluster)
        cluster.end("a")
        #expect(cluster.heldPaths == ["b"])
        #expect(cluster.state("g") == .paused)
        pause("g/x", &cluster)
        #expect(resume("g", &cluster) == true)
        #expect(Set(cluster.heldPaths) == ["b", "g/y"])
        #expect(cluster.state("g/x") == .paused)
        pause(&cluster)
        #expect(steer(.resume(submission: "last", path: "g/x"), &cluster)?.pausedBy == "")
        #expect(!cluster.holds("g/x"))
        resume(&cluster)
        #expect(cluster.holds("g/x"))
    }

    @Test func pausedMember_takesNoPlaceOfItsGroup() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c")], max: 1).graph())
        pause("b", &cluster)
        cluster.end("a")
        #expect(cluster.heldPaths == ["c"])
        resume("b", &cluster)
        #expect(cluster.heldPaths == ["c"])
        cluster.end("c")
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func locksOfWhatHasNotBegun_goToOthers_andAreAskedForAnew() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        cluster.submit(Sketch.group("root", [.op("busy")]).graph(), key: "busy")
        cluster.submit(Sketch.group("root", [.keyed("a", "k")]).graph(), key: "a")
        #expect(cluster.state("a") == .queued)
        pause(&cluster)
        cluster.submit(Sketch.group("root", [.keyed("b", "k")]).graph(), key: "b")
        cluster.end("busy")
        #expect(cluster.heldPaths == ["b"])
        guard case .submissions(let views, _)? = cluster.ask(.list(before: "", limit: 0)) else { return }
        _ = cluster.ask(.resume(submission: views[1].id, path: ""))
        #expect(cluster.heldPaths == ["b"])
        cluster.end("b")
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func locksOfWhatHasBegun_areKept_betweenAttempts() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.keyed("a", "k", retries: 1), .keyed("b", "k")]).graph())
        pause("a", &cluster)
        cluster.end("a", failure("no"))
        cluster.advance(70_000)
        #expect(cluster.heldPaths == [])
        #expect(cluster.state("a") == .paused)
        #expect(cluster.state("b") == .locking)
        resume("a", &cluster)
        cluster.advance(1)
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func whatWasSentAhead_comesBack_andItsLocksGoToOthers() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.keyed("a", "k"), .op("c")]).graph())
        cluster.submit(Sketch.group("root", [.keyed("b", "k")]).graph(), key: "b")
        guard case .submissions(let views, _)? = cluster.ask(.list(before: "", limit: 0)) else { return }
        _ = cluster.ask(.pause(submission: views[1].id, path: "a"))
        #expect(cluster.stops.map(\.reason) == [.recalled])
        cluster.giveBackRecalled()
        #expect(Set(cluster.heldPaths) == ["c", "b"])
        cluster.end("b")
        _ = cluster.ask(.resume(submission: views[1].id, path: "a"))
        #expect(Set(cluster.heldPaths) == ["c", "a"])
    }

    @Test func conditions_areEvaluatedAnew_afterResume() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        let probed = Sketch.op("a").having { $0.conditions = [Condition(.probe(Probe(type: "probe", parameters: 0)))] }
        cluster.submit(Sketch.group("root", [probed]).graph())
        #expect(cluster.find("a", on: 1)?.1.kind == .evaluate)
        pause(&cluster)
        cluster.end("a")
        #expect(cluster.heldPaths == [])
        resume(&cluster)
        #expect(cluster.find("a", on: 1)?.1.kind == .evaluate)
        cluster.end("a")
        #expect(cluster.find("a", on: 1)?.1.kind == .execute)
    }

    @Test func deadlinesGoOn_queueTimeoutsDoNot_andCancelWorks() {
        var cluster = FakeCluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    Sketch.op("late").having { $0.deadlineMilliseconds = 1_000 },
                    Sketch.op("queued").having { $0.queueTimeoutMilliseconds = 1_000 },
                    .op("cancelled"), Sketch.op("delayed").having { $0.delayMilliseconds = 500 },
                ]
            ).graph())
        pause(&cluster)
        cluster.advance(5_000)
        #expect(cluster.state("late") == .failed)
        #expect(cluster.state("queued") == .paused)
        #expect(cluster.state("delayed") == .paused)
        _ = cluster.ask(.cancel(submission: "last", path: "cancelled", reason: "", now: false))
        #expect(cluster.state("cancelled") == .cancelled)
        resume(&cluster)
        #expect(cluster.state("queued") == .queued)
        cluster.advance(900)
        #expect(cluster.state("queued") == .queued)
        cluster.advance(200)
        #expect(cluster.state("queued") == .failed)
        pause(&cluster)
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        #expect(cluster.view()?.state == .cancelled)
    }

    enum Restart: CaseIterable { case never, whilePaused, afterwards }

    private func restart(_ cluster: inout FakeCluster, attached: Int? = nil) throws {
        try cluster.restart(after: 100)
        if let attached { cluster.attach(attached) }
    }

    /// Longer than it may wait, and while that goes on.
    @Test(arguments: [20_000, 100], Restart.allCases)
    func queueTimeout_countsAnew_alsoWhileAConditionSaysNotNow(pause milliseconds: Int64, restarts: Restart) throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let probed = Sketch.op("a").having {
            $0.conditions = [Condition(.probe(Probe(type: "probe", parameters: 0)))]
            $0.queueTimeoutMilliseconds = 1_000
        }
        cluster.submit(Sketch.group("root", [probed]).graph())
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .retryAfter(milliseconds: 600_000), reason: "not there")]))
        cluster.advance(700)
        pause(&cluster)
        cluster.advance(milliseconds)
        if restarts == .whilePaused { try restart(&cluster, attached: 2) }
        resume(&cluster)
        cluster.advance(500)
        if restarts == .afterwards { try restart(&cluster, attached: 2) }
        cluster.advance(restarts == .afterwards ? 300 : 400)
        #expect(cluster.state("a") != .failed)
        cluster.advance(200)
        #expect(cluster.operations().last?.errors.map(\.typeName) == ["AOperationError.QueueTimeout"])
    }

    /// Its next attempt is due, and there is no worker.
    @Test(arguments: [20_000, 100], Restart.allCases)
    func queueTimeout_countsAnew_alsoOfAnotherAttempt(pause milliseconds: Int64, restarts: Restart) throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let tried = Sketch.op("a", retries: 1).having {
            $0.backoff = Backoff(kind: .constant, initialMilliseconds: 50, jitterPermille: 0)
            $0.queueTimeoutMilliseconds = 1_000
        }
        cluster.submit(Sketch.group("root", [tried]).graph())
        cluster.end("a", failure("no"))
        cluster.depart(1)
        cluster.advance(750)
        pause(&cluster)
        cluster.advance(milliseconds)
        if restarts == .whilePaused { try restart(&cluster) }
        resume(&cluster)
        cluster.advance(500)
        if restarts == .afterwards { try restart(&cluster) }
        cluster.advance(restarts == .afterwards ? 300 : 400)
        #expect(cluster.state("a") == .retrying)
        cluster.advance(200)
        #expect(cluster.operations().last?.errors.map(\.typeName) == ["AOperationError.QueueTimeout"])
    }

    @Test func whatIsNotThere_isNotFound() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        for request in [Request.pause(submission: "last", path: "nope"), .resume(submission: "zzz", path: "")] {
            guard case .failed(.notFound)? = cluster.ask(request) else {
                Issue.record("\(request)")
                continue
            }
        }
    }
}
