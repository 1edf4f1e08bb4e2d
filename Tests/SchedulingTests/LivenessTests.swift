import Scheduling
import Testing

@Suite struct LivenessTests {
    @Test func deadExecutor_losesItsUnitsAtOnce_byProof() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(2)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let owner = cluster.find("a", on: nil)?.0 ?? 0
        cluster.die(owner)
        #expect(cluster.find("a", on: 3 - owner) != nil)
        #expect(cluster.sends.contains { if case .acknowledgeEnd = $0.message { true } else { false } })
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func disconnectedExecutor_keepsItsUnits_untilItsLeaseIsOver() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.disconnect(1)
        cluster.attach(2)
        cluster.advance(2_999)
        #expect(cluster.find("a", on: 2) == nil)
        cluster.advance(2)
        #expect(cluster.find("a", on: 2) != nil)
    }

    /// Of what runs there, and of what runs there under a key.
    @Test(arguments: [-86_400_000, 86_400_000] as [Int64]) func stepOfTheWallClock_endsNoLeaseOfASilentExecutor(step: Int64) {
        var cluster = FakeCluster()
        let (lease, lockLease) = (cluster.configuration.leaseMilliseconds, cluster.configuration.lockLeaseMilliseconds)
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .keyed("b", "db")]).graph())
        cluster.disconnect(1)
        cluster.attach(2, slots: 2)
        func isThere(_ path: String) -> Bool { cluster.find(path, on: 2) != nil }
        cluster.stepWallClock(step)
        cluster.advance(lease - 1)
        #expect(!isThere("a"))
        cluster.stepWallClock(-step)
        cluster.advance(2)
        #expect(isThere("a"))
        cluster.stepWallClock(step)
        cluster.advance(lockLease - lease - 101)
        #expect(!isThere("b"))
        cluster.stepWallClock(-step)
        cluster.advance(200)
        #expect(isThere("b"))
    }

    /// Leases, timeouts, and the time that what is stopped has, run on boot time.
    @Test(arguments: [-86_400_000, 86_400_000] as [Int64]) func stepOfTheWallClock_movesNoLease_andNoLimit(step: Int64) {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", timeout: 1_000), .op("b")]).graph())
        cluster.begin("a")
        cluster.stepWallClock(step)
        // The executor enforces the timeout; the coordinator does a grace and four seconds later.
        cluster.advance(1_000)
        cluster.stepWallClock(-step)
        cluster.advance(cluster.configuration.graceMillisecondsDefault)
        cluster.stepWallClock(step)
        cluster.advance(3_999)
        #expect(cluster.state("a") == .running)
        cluster.advance(1)
        #expect(cluster.state("a") == .stopping)
        cluster.disconnect(1)
        cluster.attach(2)
        cluster.stepWallClock(step)
        cluster.advance(cluster.configuration.orphanLimitMilliseconds - 1)
        #expect(cluster.state("a") == .stopping)
        cluster.advance(1)
        #expect(cluster.state("a") == .failed)
    }

    @Test func reattachingExecutor_goesOnWithWhatItRuns() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(2)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.disconnect(1)
        cluster.advance(1_000)
        cluster.reattach(1)
        cluster.advance(10_000)
        #expect(cluster.dispatched == ["a"])
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func unitThatNeverArrived_isQueuedAgainAtOnce() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.attach(1, held: [])
        #expect(cluster.dispatched == ["a", "a"])
    }

    @Test func restartedCoordinator_disturbsNoRunningWork() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", (0..<4).map { .op("o\($0)") }).graph())
        try cluster.restart()
        cluster.reattach(1, slots: 2)
        #expect(cluster.heldPaths == ["o0", "o1"])
        cluster.drain()
        #expect(cluster.dispatched == ["o0", "o1", "o2", "o3"])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func afterARestart_unitsWaitForTheirExecutor_untilTheWindowIsOver() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        try cluster.restart()
        cluster.attach(2)
        cluster.advance(3_900)
        #expect(cluster.find("a", on: 2) == nil)
        cluster.advance(200)
        #expect(cluster.find("a", on: 2) != nil)
    }

    @Test func epochsAndAttempts_rise() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let first = cluster.find("a", on: 1)?.1.attempt
        let epoch = cluster.scheduler.epoch
        try cluster.restart()
        cluster.attach(1)
        let second = try #require(cluster.find("a", on: 1)?.1.attempt)
        #expect(cluster.scheduler.epoch > epoch)
        #expect(second > (try #require(first)))
    }

    @Test func unitThatKillsItsProcess_fails_andItsNeighboursDoNot() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("killer"), .op("innocent"), .op("other")]).graph())
        var executor = 1
        for _ in 0..<30 where cluster.view()?.state != .failed {
            cluster.attach(executor, slots: 3)
            while let mine = cluster.held[executor]?.first(where: { $0.path != "killer" }), cluster.held[executor]?.count == 1 {
                cluster.end(mine.path)
            }
            if cluster.find("killer", on: executor) != nil { cluster.die(executor) }
            executor += 1
        }
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.succeeded == 2)
        #expect(cluster.operations(failedOnly: true).last?.errors.first?.code == .workerLost)
    }

    @Test func drainingExecutor_getsNothingNew_andGivesBack() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        guard let peer = cluster.peers[1], let unit = cluster.find("a", on: 1)?.1 else {
            Issue.record("nothing handed out")
            return
        }
        cluster.step([.draining(peer), .released(peer, unit.unit, unit.attempt)])
        #expect(cluster.dispatched == ["a"])
        cluster.attach(2, slots: 2)
        #expect(cluster.held[2]?.map(\.path) == ["b", "a"])
    }

    @Test func cancelledWork_onASilentExecutor_isNotAcknowledgedBeforeItMustHaveStopped() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.disconnect(1)
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        cluster.advance(10_000)
        #expect(cluster.state("a") == .stopping)
        cluster.advance(600_000)
        #expect(cluster.view()?.state == .cancelled)
    }

    @Test func ownPause_costsNobodyItsLease() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(2)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        // The coordinator was not run for a minute: no input, no timer.
        cluster.sleepThroughTimers(60_000)
        cluster.advance(2_000, hearing: false)
        #expect(cluster.dispatched == ["a"])
    }
}

extension FakeCluster {
    /// Time passes without the scheduler being woken; then it is.
    mutating func sleepThroughTimers(_ milliseconds: Int64) {
        jump(milliseconds)
        step([])
    }
}
