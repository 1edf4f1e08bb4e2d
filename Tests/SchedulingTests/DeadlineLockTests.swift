import Scheduling
import Testing

/// Deadlines and queue timeouts of units that wait for locks or hold some.
@Suite struct DeadlineLockTests {
    private static let wall: Int64 = 1_700_000_000_000

    private func cluster(slots: Int = 8) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        return cluster
    }

    private func codes(_ cluster: inout FakeCluster, _ path: String) -> [FailureCode] {
        cluster.operations(failedOnly: true).first { $0.path == path }?.errors.map(\.code) ?? []
    }

    /// Who holds locks and who waits for them.
    private func locks(_ cluster: inout FakeCluster) -> [String] {
        guard case .locks(let views, _)? = cluster.ask(.locks(key: "", from: 0)) else { return ["no answer"] }
        func name(_ operation: String) -> String { String(operation.drop { $0 != "/" }.dropFirst()) }
        return views.map { view in
            "\(view.key): \(view.holders.map { name($0.operation) }.joined(separator: ",")) < "
                + view.waiting.map { name($0.operation) }.joined(separator: ",")
        }
    }

    @Test func deadlineOfAWaiter_givesItsPlaceInLineBack_andLeavesNoLockHeld() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .keyed("a", "x"), .keyed("b", "x", "y").having { $0.deadlineMilliseconds = 1_000 }, .keyed("c", "y"),
                    .keyed("d", "x"),
                ]
            ).graph())
        #expect(locks(&cluster) == ["x: a < b,d", "y:  < b,c"])
        cluster.advance(1_000)
        #expect(codes(&cluster, "b") == [.deadline])
        // Nobody is behind "b" any longer: "y" is free.
        #expect(cluster.heldPaths == ["a", "c"])
        #expect(locks(&cluster) == ["x: a < d", "y: c < "])
        cluster.end("c")
        cluster.end("a")
        cluster.end("d")
        #expect(cluster.dispatched == ["a", "c", "d"])
        #expect(locks(&cluster) == [])
    }

    @Test func deadlineOfAHolder_keepsTheLock_untilItsBodyHasEnded() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.keyed("a", "x", retries: 3).having { $0.deadlineMilliseconds = 1_000 }, .keyed("b", "x")]).graph())
        cluster.advance(1_000)
        #expect(cluster.state("a") == .stopping)
        #expect(locks(&cluster) == ["x: a < b"])
        cluster.end("a", .stopped)
        #expect(codes(&cluster, "a") == [.deadline])
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func deadlineBetweenTwoAttempts_passesTheLockOn() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.keyed("a", "x", retries: 3).having { $0.deadlineMilliseconds = 1_000 }, .keyed("b", "x")]).graph())
        cluster.advance(999)
        cluster.end("a", failure("no"))
        #expect(cluster.state("a") == .retrying)
        #expect(locks(&cluster) == ["x: a < b"])
        cluster.advance(1)
        #expect(codes(&cluster, "a") == [.deadline])
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func deadlineOfAGroup_bindsWhatIsInside_holdersAndWaiters() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    Sketch.group("g", [.keyed("holds", "x"), .keyed("waits", "x"), .group("inner", [.keyed("deep", "x", "y")])])
                        .having { $0.deadlineMilliseconds = 1_000 },
                    .keyed("next", "x"),
                ]
            ).graph())
        #expect(cluster.heldPaths == ["g/holds"])
        cluster.advance(1_000)
        #expect(cluster.state("g/waits") == .cancelled)
        #expect(cluster.state("g/inner/deep") == .cancelled)
        // What runs inside of the group ends before its locks go to others.
        #expect(locks(&cluster) == ["x: g < next", "y: g < "])
        cluster.end("g/holds", .stopped)
        #expect(codes(&cluster, "g") == [.deadline])
        #expect(cluster.heldPaths == ["next"])
        #expect(locks(&cluster) == ["x: next < "])
    }

    @Test func groupThatWaitsForItsLocks_endsAtItsDeadline_withItsMembers() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .keyed("a", "x"),
                    Sketch.holding("g", "x", [.op("inside"), .keyed("deep", "z")]).having { $0.deadlineMilliseconds = 1_000 },
                    .keyed("b", "x"),
                ]
            ).graph())
        #expect(locks(&cluster) == ["x: a < g,b", "z:  < g"])
        cluster.advance(1_000)
        #expect(codes(&cluster, "g") == [.deadline])
        #expect(cluster.state("g/inside") == .cancelled)
        #expect(locks(&cluster) == ["x: a < b"])
    }

    @Test func deadlineThatHasPassedAtAdmission_takesNoLock_andStartsNothing() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "x"), .op("b")]).having { $0.deadline = Self.wall - 1 }.graph())
        #expect(cluster.dispatched == [])
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.timedOut == true)
        #expect(cluster.view()?.finishedAt == Self.wall)
        #expect(locks(&cluster) == [])
    }

    @Test func memberWhoseDeadlineHasPassed_isNotStarted_whenItsGroupGetsItsLocks() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root",
                [Sketch.holding("g", "x", [.op("late").having { $0.deadline = Self.wall - 1 }, .op("free")]), .keyed("next", "x")]
            ).graph())
        #expect(cluster.dispatched == ["g/free"])
        #expect(codes(&cluster, "g/late") == [.deadline])
        cluster.end("g/free")
        #expect(cluster.dispatched == ["g/free", "next"])
    }

    @Test func groupWhoseMembersAreAllTooLate_passesItsLocksOn_inTheSameStep() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    Sketch.holding("g", "x", [.op("late").having { $0.deadline = Self.wall - 1 }]),
                    Sketch.holding("h", "x", [.keyed("inside", "x")]),
                ]
            ).graph())
        #expect(cluster.dispatched == ["h/inside"])
    }

    @Test func deadlineInLine_survivesARestart() throws {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.keyed("a", "x"), .keyed("b", "x").having { $0.deadlineMilliseconds = 10_000 }]).graph())
        cluster.advance(4_000)
        try cluster.restart(after: 1_000)
        cluster.reattach(1, slots: 8)
        cluster.advance(4_999)
        #expect(cluster.state("b") == .locking)
        cluster.advance(1)
        #expect(codes(&cluster, "b") == [.deadline])
        #expect(locks(&cluster) == ["x: a < "])
    }

    @Test func deadlineOfAHolder_onASilentExecutor_endsItWithTheLockLease() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.keyed("a", "x", retries: 3).having { $0.deadlineMilliseconds = 1_000 }, .keyed("b", "x")]).graph())
        cluster.disconnect(1)
        cluster.attach(2)
        cluster.advance(19_900)
        #expect(cluster.state("a") == .stopping)
        #expect(cluster.state("b") == .locking)
        cluster.advance(200)
        #expect(codes(&cluster, "a") == [.deadline])
        #expect(cluster.find("b", on: 2) != nil)
    }

    // MARK: Queue timeouts

    @Test func queueTimeout_coversTheWaitForLocks_andGivesThePlaceBack() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root", [.keyed("a", "x"), .keyed("b", "x", retries: 3).having { $0.queueTimeoutMilliseconds = 500 }, .keyed("c", "x")]
            ).graph())
        cluster.advance(499)
        #expect(cluster.state("b") == .locking)
        cluster.advance(1)
        #expect(codes(&cluster, "b") == [.timeout])
        #expect(locks(&cluster) == ["x: a < c"])
    }

    @Test func queueTimeout_coversTheWaitForSomebodyWhoCouldRunIt_beforeItsLocksAreAskedFor() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root", [Sketch.op("rare", type: "Rare", exclusive: [Exclusion(key: "x")]).having { $0.queueTimeoutMilliseconds = 500 }]
            ).graph())
        cluster.advance(499)
        #expect(cluster.state("rare") == .queued)
        cluster.advance(1)
        #expect(codes(&cluster, "rare") == [.timeout])
    }

    @Test func queueTimeout_countsTheWaitsForLocksAndForAWorker_together_andRunsOnBootTime() {
        var cluster = cluster(slots: 1)
        cluster.submit(Sketch.group("root", [.keyed("a", "x")]).graph(), key: "1")
        cluster.submit(
            Sketch.group("root", [.op("long"), .keyed("b", "x").having { $0.queueTimeoutMilliseconds = 5_000 }]).graph(), key: "2")
        cluster.advance(1_000)
        #expect(cluster.state("b") == .locking)
        cluster.stepWallClock(3_600_000)
        cluster.end("a")
        cluster.begin("long")
        cluster.advance(3_999)
        #expect(locks(&cluster) == ["x: b < "])
        #expect(cluster.state("b") == .queued)
        cluster.advance(1)
        // Its executor has it already, and is told.
        #expect(cluster.state("b") == .stopping)
        cluster.end("b", .stopped)
        #expect(codes(&cluster, "b") == [.timeout])
        #expect(locks(&cluster) == [])
    }

    @Test func queueTimeoutOfAHolderThatNobodyStarts_passesItsLockOn() {
        var cluster = cluster(slots: 1)
        cluster.submit(Sketch.group("root", [.op("busy")]).graph(), key: "1")
        cluster.begin("busy")
        cluster.submit(
            Sketch.group("root", [.keyed("a", "x").having { $0.queueTimeoutMilliseconds = 500 }, .keyed("b", "x")]).graph(), key: "2")
        cluster.advance(500)
        if cluster.holds("a") { cluster.end("a", .stopped) }
        #expect(codes(&cluster, "a") == [.timeout])
        #expect(locks(&cluster) == ["x: b < "])
    }
}
