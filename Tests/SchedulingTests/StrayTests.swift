import Scheduling
import Testing

/// Attempts that were given up because their executor was not heard, and may go on: `cancelled` is told when they cannot any more.
@Suite(.timeLimit(.minutes(1)))
struct StrayTests {
    private static let lease = Scheduler.Configuration().leaseMilliseconds
    private static let orphanLimit = Scheduler.Configuration().orphanLimitMilliseconds

    /// Its first attempt is with an executor that was not heard for its lease, the second one with another.
    private func strayed(
        _ path: String = "a", in graph: Graph = Sketch.group("root", [.op("a"), .op("b")]).graph()
    ) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(graph)
        cluster.begin(path)
        cluster.disconnect(1)
        cluster.advance(Self.lease)
        cluster.attach(2, slots: 4)
        #expect(cluster.find(path, on: 2) != nil)
        return cluster
    }

    private func cancel(_ path: String = "a", now: Bool = false, _ cluster: inout FakeCluster) {
        _ = cluster.ask(.cancel(submission: "last", path: path, reason: "enough", now: now))
    }

    /// Cancelled, and its second attempt has stopped.
    private func cancelled(_ path: String = "a", now: Bool = false) -> FakeCluster {
        var cluster = strayed()
        cancel(path, now: now, &cluster)
        cluster.end("a", on: 2, .stopped)
        return cluster
    }

    /// Its failure was held for the net, which is tried again: those behind it are not told that failure once more.
    @Test func cancelledInANet_isWaitedForByThoseThatBeginAnew() {
        let members = [Sketch.op("a"), .op("b", receives: ["a"]), .tail("c", receives: ["b"], retries: 1)]
        var cluster = strayed(in: Sketch.group("root", members).graph())
        cluster.end("a", on: 2, failure("broken"))
        cluster.end("b", on: 2, failure("no a"))
        cluster.begin("c")
        cancel("a", &cluster)
        #expect(cluster.state("a") == .stopping)
        cluster.end("c", on: 2, failure("no b"))
        cluster.advance(10_000)
        #expect(cluster.find("b", on: 2) == nil, "what it receives has not ended")
        cluster.die(1, crashed: false)
        #expect(cluster.state("a") == .cancelled)
        #expect(cluster.find("b", on: 2)?.1.firstReceivedFailure?.first?.code == .cancelled)
        cluster.end("b", on: 2)
        cluster.end("c", on: 2)
        #expect(cluster.view()?.state == .failed)
    }

    /// A group that asks for its lock anew is to end, and waits only for what was given up in it before.
    @Test func stoppedGroup_thatWaitsForAStray_standsInNoLine() {
        let members = [
            Sketch.holding("other", "x", [.op("b")]), .group("g", [.op("a"), .keyed("k", "x", after: ["a"])], stop: true), .op("sib"),
        ]
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.group("outer", members, stop: true, retries: 1)]).graph())
        for path in ["outer/sib", "outer/other/b"] { cluster.end(path, on: 1) }
        cluster.begin("outer/g/a")
        cluster.disconnect(1)
        cluster.advance(Self.lease)
        cluster.attach(2, slots: 4)
        cluster.end("outer/g/a", on: 2, failure("broken"))
        cluster.advance(10_000)
        #expect(cluster.find("outer/other/b", on: 2) != nil && cluster.state("outer/g") == .locking)
        cluster.end("outer/sib", on: 2, failure("broken, too"))
        #expect(cluster.state("outer/g") == .stopping)
        cluster.end("outer/other/b", on: 2, .stopped)
        #expect(cluster.state("outer") == .stopping || cluster.state("outer") == .running)
        cluster.die(1, crashed: false)
        #expect(cluster.state("outer") == .failed)
    }

    @Test func cancelled_waitsForTheProofThatItsProcessIsGone() {
        var cluster = cancelled()
        #expect(cluster.state("a") == .stopping)
        #expect(cluster.view()?.state == .running)
        cluster.die(1, crashed: false)
        #expect(cluster.state("a") == .cancelled)
        cluster.end("b")
        #expect(cluster.view()?.state == .failed, "only a member was cancelled")
    }

    @Test func cancelled_waitsUntilItsExecutorIsBackWithoutIt() {
        var cluster = cancelled()
        cluster.attach(1)
        #expect(cluster.state("a") == .cancelled)
    }

    @Test func cancelled_waitsUntilItsExecutor_whichIsBackWithIt_saysThatItHasEnded() throws {
        var cluster = cancelled()
        cluster.reattach(1, endsDropped: false)
        #expect(cluster.state("a") == .stopping)
        // Also if it is heard no more before it has said so.
        cluster.disconnect(1)
        cluster.advance(Self.lease)
        try cluster.restart()
        for executor in [2, 1] { cluster.reattach(executor, slots: 4, endsDropped: false) }
        #expect(cluster.state("a") == .stopping)
        cluster.endDropped(1)
        #expect(cluster.state("a") == .cancelled)
    }

    @Test func cancelled_waitsForTheOrphanLimit_sinceItWasHeard() {
        var cluster = cancelled()
        cluster.advance(Self.orphanLimit - Self.lease - 1)
        #expect(cluster.state("a") == .stopping)
        cluster.advance(1)
        #expect(cluster.state("a") == .cancelled)
    }

    /// Nobody knows when it was heard: the limit counts from the start.
    @Test func afterARestart_itStillWaits() throws {
        for isCancelledBefore in [true, false] {
            var cluster = isCancelledBefore ? cancelled() : strayed()
            cluster.advance(Self.orphanLimit / 2)
            try cluster.restart()
            cluster.reattach(2, slots: 4)
            if !isCancelledBefore {
                cancel("a", &cluster)
                cluster.end("a", on: 2, .stopped)
            }
            cluster.advance(Self.orphanLimit - 1)
            #expect(cluster.state("a") == .stopping)
            cluster.advance(1)
            #expect(cluster.state("a") == .cancelled)
        }
    }

    /// A member that has succeeded in another attempt may still run where nobody hears it.
    @Test func group_isCancelledWhenNothingInItGoesOn() throws {
        var cluster = strayed("g/a", in: Sketch.group("root", [.group("g", [.op("a"), .op("c")]), .op("b", after: ["g"])]).graph())
        cluster.end("g/a", on: 2)
        cancel("g", &cluster)
        cluster.end("g/c", on: 2, .stopped)
        #expect(cluster.state("g/a") == .succeeded)
        #expect(cluster.state("g/c") == .cancelled)
        #expect(cluster.state("g") == .stopping)
        try cluster.restart()
        #expect(cluster.state("g") == .stopping)
        cluster.attach(1)
        #expect(cluster.state("g") == .cancelled)
    }

    /// What has not begun again has nothing but the attempt that was given up.
    @Test func queuedAgain_andCancelled_waits() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        cluster.disconnect(1)
        cluster.advance(Self.lease)
        #expect(cluster.state("a") == .queued)
        cancel("", &cluster)
        #expect(cluster.state("a") == .stopping && cluster.view()?.state == .running)
        cluster.die(1)
        #expect(cluster.view()?.state == .cancelled)
    }

    @Test func otherOutcomes_doNotWait() {
        var cluster = strayed()
        cluster.end("a", on: 2)
        cluster.end("b", on: 2, failure("no"))
        #expect(cluster.view()?.state == .failed)
        // Its limit and its proof say nothing to anybody.
        cluster.advance(Self.orphanLimit)
        cluster.die(1)
        #expect(cluster.view()?.state == .failed)
    }

    @Test func whatItStillReports_isNoOutcome_andEndsTheWait() {
        var cluster = cancelled()
        cluster.reattach(1, endsDropped: false)
        cluster.endDropped(1)
        #expect(cluster.state("a") == .cancelled)
        #expect(cluster.operations().first { $0.path == "a" }?.value == nil)
    }

    @Test func cancelNow_endsItWithoutGrace_whenItsExecutorIsBack() throws {
        var cluster = cancelled(now: true)
        cluster.reattach(1, endsDropped: false)
        let order = try #require(cluster.stops.first)
        #expect(order.now && order.reason == .cancelled)
        cluster.endDropped(1)
        #expect(cluster.state("a") == .cancelled)
    }

    @Test func revokedWorker_hasUntilTheOrphanLimit() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        cluster.revoke(1)
        cluster.attach(2)
        cancel("a", &cluster)
        cluster.end("a", on: 2, .stopped)
        cluster.advance(Self.orphanLimit - 1)
        #expect(cluster.state("a") == .stopping)
        cluster.advance(1)
        #expect(cluster.state("a") == .cancelled)
    }

    @Test func explain_namesTheWorkerAndTheLimit() throws {
        var cluster = strayed("g/a", in: Sketch.group("root", [.group("g", [.op("a")])]).graph())
        let heard = cluster.now.wall - Self.lease
        cancel("g", &cluster)
        cluster.end("g/a", on: 2, .stopped)
        for path in ["g/a", "g"] {
            guard case .stopping(let wait)? = try cluster.explained(path).blockers.first else {
                Issue.record("\(path) is not being stopped")
                continue
            }
            #expect(wait.running?.worker == "h/1" && wait.until == heard + Self.orphanLimit)
        }
        let history = cluster.operations().first { $0.path == "g/a" }?.history.map(\.event)
        #expect(history?.contains(.requested) == true)
        cluster.die(1)
        #expect(cluster.operations().first { $0.path == "g/a" }?.history.last?.event == .acknowledged)
    }

    /// The unique id and the place in the group are its own until then.
    @Test func nextMember_beginsAfterIt() {
        var cluster = strayed("o/a", in: Sketch.group("root", [.ordered("o", [.op("a"), .op("b")], stop: false)]).graph())
        cancel("o/a", &cluster)
        cluster.end("o/a", on: 2, .stopped)
        #expect(cluster.heldPaths.filter { $0 == "o/b" } == [])
        cluster.die(1, crashed: false)
        #expect(cluster.find("o/b", on: 2) != nil)
    }

    /// A group with a condition has failed, and is to be tried again with the one around it; an attempt in it may go on.
    private func failedBesideAStray() -> FakeCluster {
        let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))
        let inner = Sketch.group("g", [.op("a")]).having { $0.conditions = [probe] }
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.group("o", [inner], retries: 1)]).graph())
        cluster.end("o/g")
        cluster.begin("o/g/a")
        cluster.disconnect(1)
        cluster.advance(Self.lease)
        cluster.attach(2)
        cluster.end("o/g/a", on: 2, failure("no"))
        return cluster
    }

    /// Its members are cancelled, and one of them has to wait; it is not to be judged again meanwhile.
    @Test func groupThatBeganAnew_andWhoseConditionFails_waitsForWhatMayGoOnInIt() {
        var cluster = failedBesideAStray()
        cluster.advance(120_000)
        cluster.end("o/g", on: 2, .answers([ConditionAnswer(condition: 0, finding: .failed, reason: "no disk")]))
        #expect(cluster.state("o/g") != .failed)
        cluster.die(1, crashed: false)
        #expect(cluster.state("o/g") == .failed && cluster.view()?.state == .failed)
    }

    /// It waits for a worker that judges it when it is cancelled, and one of its members has to wait: nobody is to judge it any more.
    @Test func groupThatBeganAnew_andIsStoppedInLine_standsInNoneAnyMore() {
        var cluster = failedBesideAStray()
        cluster.die(2, crashed: false)
        cluster.advance(120_000)
        cancel("o/g", &cluster)
        cluster.attach(3)
        #expect(cluster.find("o/g", on: 3) == nil)
        #expect(cluster.state("o/g") == .stopping)
        #expect(cluster.explain("o/g")?.blockers.map(\.kind) == [.stopping])
        cluster.die(1, crashed: false)
        #expect(cluster.state("o/g") == .cancelled)
    }

    /// Its elements are others by then, and what goes on was one of those before.
    @Test func elementOfAForEachThatBeganAnew_waitsForWhatHadItsPlace() {
        let each = Sketch.forEach("f", of: nil, list: ["1", "2"], body: .op("x"))
        var cluster = strayed("o/f/0", in: Sketch.group("root", [.group("o", [each], retries: 1)]).graph())
        cluster.end("o/f/0", on: 2, failure("no"))
        cluster.end("o/f/1", on: 2)
        cluster.advance(120_000)
        cancel("o/f/0", &cluster)
        cluster.end("o/f/0", on: 2, .stopped)
        cluster.end("o/f/1", on: 2)
        #expect(cluster.state("o/f/0") == .stopping && cluster.state("o/f/1") == .succeeded)
        cluster.die(1, crashed: false)
        #expect(cluster.state("o/f/0") == .cancelled)
        #expect(cluster.view()?.state == .failed)
    }

    /// What is done before the conditions of an operation does not begin any more when that has failed, and its end waits for none of it.
    @Test func dependentOperationOfOneThatFails_endsWithIt() {
        let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))
        let prepared = Sketch.preparing(
            .op("b", receives: ["a"], forwards: true).having { $0.conditions = [probe] }, [0: .group("p", [.op("x")])])
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.group("o", [.op("a"), prepared], retries: 1)]).graph())
        cluster.end("o/a")
        cluster.begin("o/b/p/x")
        cluster.disconnect(1)
        cluster.advance(Self.lease)
        cluster.attach(2)
        cluster.end("o/b/p/x", on: 2)
        cluster.end("o/b", on: 2, .answers([ConditionAnswer(condition: 0, finding: .failed, reason: "no disk")]))
        cluster.advance(120_000)
        cluster.end("o/a", on: 2, failure("no"))
        #expect(cluster.state("o/b") == .failed && cluster.state("o/b/p/x") == .cancelled)
        #expect(cluster.view()?.state == .failed)
    }

    @Test func snapshotsOfTheFourthLayout_areRead() throws {
        let cluster = strayed()
        var scheduler = Scheduler(cluster.configuration)
        for fact in cluster.journal.ofTheFirstRules {
            switch fact {
            case .attemptStrayed: break
            // It had no times of attempts then.
            case .attemptLost(let unit, let attempt, let cause, _, let at):
                try scheduler.restore(.attemptLost(unit, attempt, cause, at: at))
            default: try scheduler.restore(fact)
            }
        }
        var sections: [[UInt8]] = []
        scheduler.writeSnapshot { sections.append($0) }
        // Without the list of attempts that may go on, and without a trace; both are empty.
        var fourth = sections.map { $0 }
        fourth[0] = fourth[0].ofLayout(4)
        for _ in 0..<2 { #expect(fourth[1].removeLast() == 0) }
        var restored = Scheduler(cluster.configuration)
        for section in fourth { try restored.restore(section: section[...]) }
        var again: [[UInt8]] = []
        restored.writeSnapshot { again.append($0) }
        #expect(again == sections)
    }
}
