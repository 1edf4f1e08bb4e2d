import Scheduling
import Testing

/// Processes that take longer to die than their lease: what ran in them is given to others before anybody knows that they died.
@Suite(.timeLimit(.minutes(1)))
struct SlowDeathTests {
    private func lease(_ cluster: FakeCluster) -> Int64 { cluster.configuration.leaseMilliseconds }

    /// Nobody hears it any more for its lease; some time later its supervisor proves that it died by itself.
    private func dieSlowly(_ executor: Int, _ cluster: inout FakeCluster, after milliseconds: Int64? = nil) {
        cluster.disconnect(executor)
        cluster.advance(milliseconds ?? lease(cluster))
        cluster.die(executor)
    }

    @Test func slowDeaths_countUpToTheLimit_andTheWorkersAreNamed() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        for executor in 1...cluster.configuration.crashLimit {
            cluster.attach(executor, slots: 2)
            cluster.begin("a")
            #expect(cluster.heldPaths == ["a"])
            dieSlowly(executor, &cluster)
            try cluster.restart()
        }
        let failure = try #require(cluster.operations(failedOnly: true).last?.errors.first)
        #expect(failure.code == .workerLost)
        #expect(
            failure.message
                == "its worker process died under it 5 times, on h/1, h/2, h/3, h/4 and h/5; see the log there for the cause")
        cluster.attach(50)
        #expect(cluster.heldPaths.isEmpty)
    }

    /// Each is proven when the next attempt runs already.
    @Test func deathsProvenWhileAnotherAttemptRuns_countAtItsEnd() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let limit = cluster.configuration.crashLimit
        cluster.attach(1)
        for executor in 1...limit {
            cluster.begin("a")
            cluster.disconnect(executor)
            cluster.advance(lease(cluster))
            cluster.attach(executor + 1)
            #expect(cluster.find("a", on: executor + 1) != nil)
            cluster.die(executor)
            #expect(cluster.find("a", on: executor + 1) != nil)
        }
        var other = cluster
        other.end("a")
        #expect(other.view()?.state == .succeeded)
        try cluster.restart()
        cluster.advance(70_000)
        #expect(cluster.state("a") == .failed)
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.code) == [.workerLost])
    }

    @Test func oneAfterTheLastAllowed_isNotTried_andItsLikeIsQuarantined() throws {
        var cluster = FakeCluster()
        let graph = Sketch.group("root", [.given("{\"n\":1}", .op("a", type: "crash"))]).graph()
        cluster.submit(graph)
        for executor in 1...cluster.configuration.crashLimit {
            cluster.attach(executor, operations: ["crash"])
            dieSlowly(executor, &cluster)
        }
        cluster.attach(50, operations: ["crash"])
        #expect(cluster.heldPaths.isEmpty)
        cluster.submit(graph, key: "again")
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.code) == [.quarantined])
    }

    @Test func unitsThatSharedTheProcess_runAlone_andNothingIsCounted() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c")]).graph())
        #expect(cluster.heldPaths == ["a", "b"])
        dieSlowly(1, &cluster)
        // They stand in line when that becomes known; what had not begun is not blamed.
        cluster.attach(2, slots: 4)
        cluster.attach(3, slots: 4)
        cluster.end("c")
        #expect(cluster.find("a", on: nil)?.0 != cluster.find("b", on: nil)?.0)
        for path in ["a", "b"] {
            let owner = try #require(cluster.find(path, on: nil)?.0)
            #expect(cluster.held[owner]?.map(\.path) == [path])
        }
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    /// What runs under a key is taken from a silent worker later than other things.
    @Test func deathsAfterTheLockLease_count() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a", exclusive: [Exclusion(key: "k")])]).graph())
        for executor in 1...cluster.configuration.crashLimit {
            cluster.attach(executor)
            #expect(cluster.heldPaths == ["a"])
            dieSlowly(executor, &cluster, after: executor.isMultiple(of: 2) ? lease(cluster) : cluster.configuration.lockLeaseMilliseconds)
        }
        #expect(cluster.state("a") == .failed)
    }

    @Test func deathsThatWereNoneByThemselves_doNotCount() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        for executor in 1...(2 * cluster.configuration.crashLimit) {
            cluster.attach(executor)
            cluster.disconnect(executor)
            cluster.advance(lease(cluster))
            cluster.die(executor, crashed: false)
        }
        cluster.attach(100)
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func deathAfterTheUnitHasEnded_changesNothing() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.attach(1)
        cluster.disconnect(1)
        cluster.advance(lease(cluster))
        cluster.attach(2)
        cluster.end("a", on: 2)
        cluster.die(1)
        #expect(cluster.view()?.state == .succeeded)
    }

    /// What waits to be tried again, in line already or not yet, ends with the last death that it may have.
    @Test func whatWaitsToBeTriedAgain_ends() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a", retries: 1)]).graph())
        let limit = cluster.configuration.crashLimit
        for executor in 1..<limit {
            cluster.attach(executor)
            dieSlowly(executor, &cluster)
        }
        cluster.attach(limit)
        cluster.disconnect(limit)
        cluster.advance(lease(cluster))
        cluster.attach(limit + 1)
        cluster.end("a", on: limit + 1, failure("no"))
        #expect(cluster.state("a") != .failed)
        cluster.depart(limit + 1)
        cluster.die(limit)
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.code) == [.workerLost])
    }
}
