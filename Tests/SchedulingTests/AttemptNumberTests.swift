import Scheduling
import Testing

/// How often an operation is said to have been tried: so often as it has begun, or may have.
@Suite struct AttemptNumberTests {
    private func attempts(_ path: String, _ cluster: inout FakeCluster) -> Int? {
        cluster.operations().first { $0.path == path }?.attempts
    }

    private func numbers(_ path: String, _ cluster: FakeCluster) -> [Int] {
        cluster.held.keys.sorted().flatMap { (cluster.held[$0] ?? []).filter { $0.path == path }.map(\.attemptNumber) }
    }

    private func held(_ path: String, by executor: Int, _ cluster: FakeCluster) throws -> Assignment {
        let found = cluster.find(path, on: executor)?.1
        return try #require(found, "executor \(executor) does not hold \(path)")
    }

    @Test func whatIsRecalledUnbegun_isGivenToAnotherUnderTheSameNumber() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.begin("a")
        let first = try held("b", by: 1, cluster)
        _ = cluster.ask(.drainWorker(name: "h/1", reason: ""))
        cluster.giveBackRecalled()
        cluster.attach(2)
        let second = try held("b", by: 2, cluster)
        #expect(second.attempt != first.attempt, "reports of the two are told apart")
        #expect([first.attemptNumber, second.attemptNumber] == [1, 1])
        cluster.drain()
        #expect(attempts("b", &cluster) == 1)
        try cluster.restart()
        #expect(attempts("b", &cluster) == 1)
    }

    @Test func attemptsThatNeverBegan_useUpNoRetry() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 1)]).graph())
        for _ in 0..<3 {
            let peer = try #require(cluster.peers[1])
            let unit = try held("a", by: 1, cluster)
            cluster.forget(unit, of: 1)
            cluster.step([.released(peer, unit.unit, unit.attempt)])
            cluster.attach(1)
        }
        cluster.end("a", failure("no"))
        #expect(cluster.state("a") == .retrying)
        cluster.advance(60_000)
        #expect(numbers("a", cluster) == [2])
        cluster.end("a")
        #expect(cluster.state("a") == .succeeded)
        #expect(attempts("a", &cluster) == 2)
    }

    /// Its executor has begun it, and could not: nothing of it has run.
    @Test(arguments: [false, true]) func whatHasBegun_andIsGivenBackAllTheSame_wasNoAttempt(isAccepting: Bool) throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        cluster.advance(10)
        let unit = try held("a", by: 1, cluster)
        let peer = try #require(cluster.peers[1])
        cluster.forget(unit, of: 1)
        cluster.step([.released(peer, unit.unit, unit.attempt, isAccepting: isAccepting)])
        if !isAccepting {
            #expect(numbers("a", cluster) == [], "its executor takes nothing more")
            cluster.attach(2)
        }
        #expect(numbers("a", cluster) == [1])
        #expect(cluster.operations().first { $0.path == "a" }?.earlierAttempts == [])
        cluster.begin("a")
        cluster.end("a")
        #expect(cluster.state("a") == .succeeded)
        #expect(attempts("a", &cluster) == 1)
        try cluster.restart()
        #expect(attempts("a", &cluster) == 1)
    }

    @Test func executorThatMayHaveBegunIt_countsAsAnAttempt() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.die(1, crashed: false)
        cluster.attach(2)
        #expect(numbers("a", cluster) == [2])
    }

    /// The same is said of an attempt that was forgotten, and that may have run: under its number something may be kept.
    @Test func whatIsStopped_andSaidToHaveNoStart_keepsItsNumber() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.begin("a")
        let unit = try held("b", by: 1, cluster)
        let peer = try #require(cluster.peers[1])
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        cluster.forget(unit, of: 1)
        cluster.step([.ended(peer, unit.unit, unit.attempt, .stopped, startedAt: 0, at: cluster.now.wall)])
        #expect(cluster.state("b") == .cancelled)
        #expect(attempts("b", &cluster) == 1)
    }

    @Test func linkThatNeverBegan_givesItsNumberBack() throws {
        var cluster = FakeCluster()
        cluster.attach(1, followsLinks: true)
        cluster.submit(Sketch.group("root", [.op("warm")]).graph(), key: "warm")
        cluster.end("warm")
        cluster.submit(
            Sketch.group("root", [.op("a", retries: 1), .op("b"), .op("c")], ordered: true).having { $0.recomputable = true }.graph())
        #expect(cluster.heldPaths == ["a", "b", "c"])
        for path in ["b", "c"] { cluster.forget(try held(path, by: 1, cluster), of: 1) }
        cluster.end("a", failure("no"))
        #expect(attempts("b", &cluster) == 0)
        cluster.advance(60_000)
        for path in ["a", "b", "c"] { cluster.end(path) }
        #expect(cluster.view()?.state == .succeeded)
        #expect([attempts("a", &cluster), attempts("b", &cluster), attempts("c", &cluster)] == [2, 1, 1])
    }

    @Test func linkThatMayHaveBegun_keepsItsNumber() throws {
        var cluster = FakeCluster()
        cluster.attach(1, followsLinks: true)
        cluster.submit(Sketch.group("root", [.op("warm")]).graph(), key: "warm")
        cluster.end("warm")
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")], ordered: true).having { $0.recomputable = true }.graph())
        #expect(numbers("b", cluster) == [1])
        cluster.disconnect(1)
        cluster.advance(Scheduler.Configuration().leaseMilliseconds)
        cluster.attach(2)
        cluster.end("a", on: 2)
        #expect(try held("b", by: 2, cluster).attemptNumber == 2)
    }
}
