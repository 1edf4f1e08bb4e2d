import Scheduling
import Testing

/// What becomes of the work of an executor whose key is revoked.
@Suite struct RevocationTests {
    private static let why = "its worker's key was revoked"

    /// Text of the unit's losses.
    private func losses(_ path: String, _ cluster: inout FakeCluster) -> [String] {
        cluster.operations().first { $0.path == path }?.history.filter { $0.event == .lost }.map(\.text) ?? []
    }

    @Test func whatMayRunTwice_movesAtOnce_andItsHistoryNamesTheRevocation() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        cluster.attach(2)
        cluster.revoke(1)
        #expect(cluster.find("a", on: 2) != nil)
        #expect(losses("a", &cluster) == ["attempt 1 on h/1: \(Self.why)"])
        cluster.end("a", on: 2)
        #expect(cluster.view()?.state == .succeeded)
    }

    /// The process may go on until then: a lock is never held twice.
    @Test func whatRunsUnderAKey_movesWhenTheLockLeaseIsOver_andIsExplainedMeanwhile() throws {
        var cluster = FakeCluster()
        cluster.limits = ["db": 1]
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .op("free")]).graph())
        for path in ["a", "free"] { cluster.begin(path) }
        let until = cluster.now.wall + cluster.configuration.lockLeaseMilliseconds
        cluster.revoke(1)
        cluster.attach(2, slots: 2)
        #expect(cluster.find("free", on: 2) != nil && cluster.find("a", on: 2) == nil)
        let explained = try cluster.explained("a")
        guard case .worker(let wait)? = explained.blockers.first else { return #expect(Bool(false), "\(explained)") }
        #expect(wait.reason == .revoked(worker: "h/1", until: until))
        #expect(explained.blockers[0].text(now: explained.at).hasPrefix("is on h/1, whose key was revoked; by "))
        cluster.advance(19_900)
        #expect(cluster.find("a", on: 2) == nil)
        cluster.advance(200)
        #expect(cluster.find("a", on: 2) != nil)
        let loss = try #require(losses("a", &cluster).first)
        #expect(loss.hasPrefix("attempt 1 on h/1: \(Self.why); the lock lease was waited for"))
    }

    @Test func whatRunsAtMostOnce_failsWhenTheLockLeaseIsOver_andSaysWhy() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [Sketch.op("a").having { $0.atMostOnce = true }]).graph())
        cluster.begin("a")
        cluster.revoke(1)
        cluster.attach(2)
        cluster.advance(19_900)
        #expect(cluster.state("a") == .running)
        cluster.advance(200)
        let failure = try #require(cluster.operations().first { $0.path == "a" }?.errors.first)
        #expect(failure.code == .workerLost && failure.message.hasPrefix("\(Self.why) when it may have begun, and `atMostOnce`"))
    }

    @Test func whatIsBeingStopped_isNotAcknowledgedBeforeItMustHaveStopped() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        cluster.revoke(1)
        cluster.advance(10_000)
        #expect(cluster.state("a") == .stopping)
        cluster.advance(600_000)
        #expect(cluster.view()?.state == .cancelled)
    }

    /// Something may still run in it: until the orphan limit it is listed, also if nothing of it counts.
    @Test func worker_isListedAsRevoked_untilItMustHaveStoppedEverything_orIsBack() {
        var cluster = FakeCluster()
        func states() -> [WorkerView.State] {
            guard case .workers(let workers)? = cluster.ask(.workers) else { return [] }
            return workers.map(\.state)
        }
        cluster.attach(1)
        cluster.revoke(1)
        #expect(states() == [.revoked])
        // Its key was authorised again.
        cluster.attach(1)
        #expect(states() == [.attached])
        cluster.revoke(1)
        cluster.advance(599_000)
        #expect(states() == [.revoked])
        cluster.advance(2_000)
        #expect(states() == [])
    }

    @Test func workerThatIsLetInAgain_dropsWhatOthersHave_andGoesOnWithWhatItKept() {
        var cluster = FakeCluster()
        cluster.limits = ["db": 1]
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .op("free")]).graph())
        for path in ["a", "free"] { cluster.begin(path) }
        cluster.attach(2)
        cluster.revoke(1)
        cluster.advance(5_000)
        cluster.reattach(1, slots: 2)
        #expect(cluster.held[1]?.map(\.path) == ["a"] && cluster.find("free", on: 2) != nil)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.dispatched.count { $0 == "a" } == 1)
    }

    /// What is hosted can run nowhere else.
    @Test func submitter_keepsTheTimeOfOneThatIsNotHeard() {
        var cluster = FakeCluster()
        cluster.attach(9, isSubmitter: true)
        cluster.submit(Sketch.group("root", [Sketch.op("a").having { $0.isHosted = true }]).graph(), submitter: 9)
        cluster.revoke(9)
        cluster.advance(15_000)
        #expect(cluster.view()?.state == .running)
        cluster.advance(6_000)
        #expect(cluster.view()?.state == .failed)
    }

    /// The names of the states in which workers are listed.
    private func states(_ cluster: inout FakeCluster) -> [WorkerView.State] {
        guard case .workers(let workers)? = cluster.ask(.workers) else { return [] }
        return workers.map(\.state)
    }

    @Test func workerThatIsNotThere_whenItsKeyIsRevoked_isNamedAsRevoked_andItsWorkMovesAtOnce() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        cluster.attach(2)
        cluster.disconnect(1)
        #expect(cluster.find("a", on: 2) == nil)
        cluster.bar(1, .revoked)
        #expect(cluster.find("a", on: 2) != nil)
        #expect(losses("a", &cluster) == ["attempt 1 on h/1: \(Self.why)"])
        #expect(states(&cluster).contains(.revoked))
        cluster.bar(1, .revoked)
        #expect(losses("a", &cluster).count == 1)
    }

    @Test func workerThatIsSilent_whenItsKeyIsRevoked_isNamedAsRevoked_andItsLockKeepsItsLease() throws {
        var cluster = FakeCluster()
        cluster.limits = ["db": 1]
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.keyed("a", "db")]).graph())
        cluster.begin("a")
        cluster.attach(2)
        let until = cluster.now.wall + cluster.configuration.lockLeaseMilliseconds
        cluster.disconnect(1)
        cluster.advance(12_000)
        #expect(states(&cluster).contains(.silent))
        cluster.bar(1, .revoked)
        #expect(states(&cluster).contains(.revoked) && cluster.find("a", on: 2) == nil)
        let explained = try cluster.explained("a")
        guard case .worker(let wait)? = explained.blockers.first else { return #expect(Bool(false), "\(explained)") }
        #expect(wait.reason == .revoked(worker: "h/1", until: until))
        cluster.advance(8_100)
        #expect(cluster.find("a", on: 2) != nil)
        #expect(losses("a", &cluster).first?.contains("\(Self.why); the lock lease was waited for") == true)
    }

    /// Rights are changed by mistake, too: while they are too few nothing is given up sooner than with any other silence.
    @Test func workerWhoseRightsAreTooFew_isNamed_andKeepsItsTime() throws {
        let why = "its worker's key could not do any more what it needs"
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        cluster.disconnect(1)
        cluster.bar(1, .limited)
        #expect(states(&cluster) == [.limited])
        let explained = try cluster.explained("a")
        guard case .worker(let wait)? = explained.blockers.first, case .limited(worker: "h/1", _) = wait.reason else {
            return #expect(Bool(false), "\(explained)")
        }
        cluster.advance(2_000)
        cluster.reattach(1)
        #expect(states(&cluster) == [.attached] && losses("a", &cluster).isEmpty)
        cluster.disconnect(1)
        cluster.bar(1, .limited)
        cluster.attach(2)
        cluster.advance(2_000)
        #expect(cluster.find("a", on: 2) == nil)
        cluster.advance(1_500)
        #expect(cluster.find("a", on: 2) != nil)
        #expect(losses("a", &cluster) == ["attempt 1 on h/1: \(why)"])
    }

    private func waiting(_ path: String, _ cluster: inout FakeCluster) throws -> (wait: WorkerWait, text: String, remedy: String) {
        let explained = try cluster.explained(path)
        guard case .worker(let wait)? = explained.blockers.first else {
            Issue.record("\(explained)")
            throw NoWait()
        }
        return (wait, explained.blockers[0].text(now: explained.at), explained.blockers[0].remedy(for: path))
    }

    private struct NoWait: Error {}

    /// It was not given out, and the only one that could take it is kept out.
    @Test func whatWaits_whoseOnlyWorkersKeyWasRevoked_namesItAndSinceWhen_alsoWhenAllInItMustHaveStopped() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.begin("a")
        let since = cluster.now.wall
        cluster.revoke(1)
        for pause: Int64 in [1_000, 700_000] {
            cluster.advance(pause)
            for path in ["a", "b"] {
                let (wait, text, remedy) = try waiting(path, &cluster)
                #expect(wait == WorkerWait(reason: .barred(worker: "h/1", .revoked, since: since, others: 0), operation: "", absent: []))
                #expect(text.hasPrefix("no worker that is there could take it but h/1, whose key was revoked since "), "\(text)")
                #expect(!text.contains("not heard"), "\(text)")
                #expect(remedy.contains("`aop keys authorize` lets the key of h/1 in again, and `aop keys token` makes one"), "\(remedy)")
            }
            #expect(cluster.operations().first { $0.path == "b" }?.waiting?.text.hasSuffix("but h/1, whose key was revoked") == true)
            #expect(cluster.scheduler.explanationViolations() == [])
        }
        cluster.reattach(1)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    /// It was idle and is away: nothing was lost, and what comes is told all the same.
    @Test(arguments: [WorkerBar.revoked, .limited]) func idleWorkerThatIsAway_isNamedWithWhatBecameOfItsKey(bar: WorkerBar) throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.disconnect(1)
        cluster.advance(10_000)
        cluster.bar(1, bar)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let (wait, text, _) = try waiting("a", &cluster)
        #expect(wait.reason == .barred(worker: "h/1", bar, since: cluster.now.wall, others: 0))
        #expect(text.contains("whose key \(bar == .revoked ? "was revoked" : "may not do any more what it needs") since "), "\(text)")
        cluster.attach(1)
        #expect(cluster.find("a", on: 1) != nil)
    }

    /// The one that was heard last is the one that is missed.
    @Test func workersThatAreAwayForOtherReasons_areNamedBesides() throws {
        var cluster = FakeCluster()
        for executor in 1...3 { cluster.attach(executor, operations: ["rare"]) }
        cluster.attach(4)
        cluster.disconnect(1)
        cluster.advance(5_000)
        cluster.revoke(2)
        cluster.revoke(3)
        cluster.submit(Sketch.group("root", [.op("a", type: "rare"), .op("b", type: "rare")]).graph())
        let first = try waiting("a", &cluster)
        guard case .barred(_, .revoked, _, others: 1) = first.wait.reason else { return #expect(Bool(false), "\(first)") }
        #expect(first.text.hasSuffix("; could take it, but is not heard or takes no new work: h/1"), "\(first.text)")
        cluster.advance(100)
        cluster.attach(1, operations: ["rare"])
        cluster.begin("a")
        cluster.step([.draining(try #require(cluster.peers[1]))])
        let second = try waiting("b", &cluster)
        #expect(second.wait.reason == .operation("rare"), "\(second)")
        #expect(second.text.contains("; could take it, but is not heard or takes no new work: h/1"), "\(second.text)")
        #expect(second.text.contains("; could take it, but their keys were revoked: h/2, h/3"), "\(second.text)")
    }

    @Test func revocation_survivesARestart_asTheCauseOfTheLoss() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        cluster.revoke(1)
        try cluster.restart()
        #expect(losses("a", &cluster) == ["attempt 1 on h/1: \(Self.why)"])
    }
}
