import Scheduling
import Testing

/// By when units must have started and ended.
@Suite struct DeadlineTests {
    @Test func memberCancelledBeforeItsGroupOpens_hasNoDeadlineAfterwards() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group(
                "root",
                [.op("first"), .group("g", [.op("a").having { $0.deadlineMilliseconds = 1_000 }, .op("b")], after: ["first"])]
            ).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "g/a", reason: "", now: false))
        cluster.end("first")
        #expect(cluster.heldPaths == ["g/b"])
        cluster.advance(2_000)
        #expect(cluster.state("g/a") == .cancelled)
    }

    private static let wall: Int64 = 1_700_000_000_000

    /// Errors of a failed operation, by code and message.
    private func errors(_ cluster: inout FakeCluster, _ path: String) -> [String] {
        cluster.operations(failedOnly: true).first { $0.path == path }?.errors.map { "\($0.code) \($0.message)" } ?? []
    }

    // MARK: Deadlines

    @Test func deadlineOfARunningOperation_stopsItAsACancellation_andFailsItWithoutRetry() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 5).having { $0.deadlineMilliseconds = 1_000 }]).graph())
        cluster.begin("a")
        cluster.advance(999)
        #expect(cluster.state("a") == .running)
        cluster.advance(1)
        #expect(cluster.state("a") == .stopping)
        cluster.end("a", .success(text("too late")))
        #expect(cluster.state("a") == .failed)
        #expect(errors(&cluster, "a") == ["deadline did not end within 1 s"])
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.timedOut == false)
    }

    @Test func deadline_ordersAStopWithGrace() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a").having { $0.deadline = Self.wall + 10_000 }]).graph())
        let unit = cluster.find("a", on: 1)?.1
        cluster.advance(9_999)
        cluster.jump(1)
        cluster.step([])
        #expect(cluster.stops.map(\.unit) == [unit?.unit])
        #expect(cluster.stops.map(\.reason) == [.cancelled])
        #expect(cluster.stops.map(\.now) == [false])
        cluster.end("a", .stopped)
        #expect(errors(&cluster, "a") == ["deadline did not end by 2023-11-14T22:13:30Z"])
    }

    @Test func deadline_countsAttemptsAndWaiting_fromTheStartOfTheGroupAround() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.ordered(
                "root",
                [
                    .op("first"),
                    .group(
                        "g",
                        [
                            .op("a", retries: 50).having { $0.deadlineMilliseconds = 20_000 },
                            .op("waits", after: ["a"]).having { $0.deadlineMilliseconds = 5_000 },
                        ]),
                ]
            ).graph())
        cluster.advance(60_000)
        cluster.end("first")
        cluster.advance(4_999)
        #expect(cluster.state("g/waits") == .blocked)
        cluster.advance(1)
        #expect(errors(&cluster, "g/waits") == ["deadline did not end within 5 s"])
        while cluster.state("g/a") != .failed {
            if cluster.holds("g/a") { cluster.end("g/a", failure("again")) }
            cluster.advance(100)
        }
        #expect(errors(&cluster, "g/a") == ["deadline did not end within 20 s"])
        #expect(cluster.view()?.finishedAt == Self.wall + 80_000)
    }

    @Test func deadlineOfAGroup_endsItsMembersAsCancelled_andIsNotRetried() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    Sketch.group("g", [.op("a"), .group("inner", [.op("b")])], retries: 3).having { $0.deadlineMilliseconds = 1_000 },
                    .op("after", receives: ["g"], forwards: true),
                ]
            ).graph())
        cluster.advance(1_000)
        #expect(cluster.state("g/inner") == .cancelled)
        #expect(cluster.state("g") == .stopping)
        cluster.end("g/a", .stopped)
        #expect(cluster.state("g/a") == .cancelled)
        #expect(errors(&cluster, "g") == ["deadline did not end within 1 s"])
        #expect(errors(&cluster, "after") == ["deadline did not end within 1 s"])
    }

    @Test func deadlineOfTheRoot_isToldApart_evenBeforeItBegan() {
        var cluster = FakeCluster()
        cluster.submit(
            Sketch.group("root", [.op("a"), .group("empty", [])]).having {
                $0.deadlineMilliseconds = 1_000
                $0.delayMilliseconds = 5_000
            }.graph())
        cluster.advance(1_000)
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.timedOut == true)
        #expect(cluster.view()?.finishedAt == Self.wall + 1_000)
        #expect(cluster.view()?.counts.cancelled == 1)
    }

    @Test func deadlineInThePast_endsTheWorkAtOnce() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a").having { $0.deadline = 1 }]).graph())
        #expect(cluster.dispatched == [])
        #expect(errors(&cluster, "a") == ["deadline did not end by 1970-01-01T00:00:00.001Z"])
    }

    @Test func userCancellation_outranksADeadline() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).having { $0.deadlineMilliseconds = 1_000 }.graph())
        cluster.advance(1_000)
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        cluster.end("a", .stopped)
        #expect(cluster.view()?.state == .cancelled)
        #expect(cluster.view()?.timedOut == false)
    }

    @Test func deadline_outranksATimeout_thatWouldBeTriedAgain() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group("root", [Sketch.group("g", [.op("a")], retries: 3, timeout: 1_000).having { $0.deadlineMilliseconds = 2_000 }])
                .graph())
        cluster.advance(2_000)
        cluster.end("g/a", .stopped)
        #expect(errors(&cluster, "g") == ["deadline did not end within 2 s"])
    }

    @Test func restart_keepsTheDeadline() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a").having { $0.deadlineMilliseconds = 10_000 }]).graph())
        cluster.advance(4_000)
        try cluster.restart(after: 5_000)
        cluster.advance(999)
        #expect(cluster.view()?.finishedAt == 0)
        cluster.advance(1)
        #expect(errors(&cluster, "a") == ["deadline did not end within 10 s"])
    }

    // MARK: Deadlines beside a start

    /// A deadline of 10 s, of one operation or what is around it, that is over while the coordinator is away.
    private func cutOff(_ sketches: [Sketch] = [.op("a")], after outage: Int64 = 60_000) throws -> (FakeCluster, [Assignment]) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", sketches).having { $0.deadlineMilliseconds = 10_000 }.graph())
        for path in cluster.heldPaths { cluster.begin(path) }
        let held = cluster.held[1] ?? []
        try cluster.restart(after: outage)
        return (cluster, held)
    }

    private func items(_ assignments: [Assignment], _ state: ExecutorAttachment.HeldState) -> [ExecutorAttachment.Held] {
        assignments.map { .init(unit: $0.unit, attempt: $0.attempt, state: state) }
    }

    @Test func workThatEndedInTime_counts_thoughTheCoordinatorHearsOfItLater() throws {
        var (cluster, held) = try cutOff([.op("a"), .op("b")])
        cluster.advance(500)
        #expect(cluster.state("") == .running, "nobody has told")
        cluster.attach(1, slots: 4, held: items(held, .finished))
        cluster.advance(100)
        #expect(cluster.state("") == .running, "its end is to come")
        cluster.end("a", lasting: 1_000, heardAfter: 55_000)
        #expect(cluster.state("a") == .succeeded && cluster.state("") == .running)
        cluster.end("b", lasting: 1_000, heardAfter: 55_000)
        #expect(cluster.view()?.state == .succeeded)
        cluster.advance(60_000)
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func workThatEndedTooLate_fails_howeverLateThatIsHeardOf() throws {
        var (cluster, held) = try cutOff()
        cluster.attach(1, slots: 4, held: items(held, .finished))
        cluster.end("a", lasting: 40_000, heardAfter: 10_000)
        #expect(cluster.stops.isEmpty, "it has ended")
        #expect(cluster.state("a") == .cancelled)
        #expect(cluster.view()?.state == .failed && cluster.view()?.timedOut == true)
    }

    @Test func operationWithADeadlineOfItsOwn_isJudgedByWhenItEnded() throws {
        let cases: [(heardAfter: Int64, state: OperationState)] = [(1_000, .failed), (55_000, .succeeded)]
        for (heardAfter, state) in cases {
            var cluster = FakeCluster()
            cluster.attach(1)
            cluster.submit(Sketch.group("root", [.op("a").having { $0.deadlineMilliseconds = 10_000 }]).graph())
            cluster.begin("a")
            let held = cluster.held[1] ?? []
            try cluster.restart(after: 60_000)
            cluster.attach(1, held: items(held, .finished))
            cluster.end("a", lasting: 100, heardAfter: heardAfter)
            #expect(cluster.state("a") == state)
        }
    }

    @Test func workThatStillRuns_isStoppedAsSoonAsThatIsTold() throws {
        var (cluster, held) = try cutOff([.op("a"), .op("b")])
        cluster.advance(500)
        cluster.attach(1, slots: 4, held: items([held[0]], .running) + items([held[1]], .finished))
        #expect(Set(cluster.stops.map(\.unit)).contains(held[0].unit))
        #expect(cluster.state("a") == .stopping)
    }

    @Test func executorThatDoesNotComeBack_isWaitedForUntilItsLeaseIsOver() throws {
        var (cluster, _) = try cutOff()
        let window = cluster.configuration.leaseMilliseconds + 2 * cluster.configuration.reconnectMaximumMilliseconds
        cluster.advance(window - 1)
        #expect(cluster.state("") == .running)
        cluster.advance(1)
        #expect(cluster.state("") == .stopping, "something of it may go on there")
        cluster.die(1, crashed: false)
        #expect(cluster.view()?.state == .failed && cluster.view()?.timedOut == true)
    }

    @Test func endThatIsNotTold_isNotWaitedForWithoutALimit() throws {
        var (cluster, held) = try cutOff()
        cluster.attach(1, slots: 4, held: items(held, .finished))
        let window = cluster.configuration.leaseMilliseconds + 2 * cluster.configuration.reconnectMaximumMilliseconds
        cluster.advance(2 * window - 1)
        #expect(cluster.state("") == .running)
        cluster.advance(1)
        #expect(cluster.state("a") == .stopping)
    }

    @Test func groupInWhichSomethingHadNotBegun_isJudgedAtOnce() throws {
        var (cluster, _) = try cutOff([.op("a"), .op("b", after: ["a"])])
        cluster.advance(1)
        #expect(cluster.state("") == .stopping)
    }

    // MARK: Limits beside a time in which the coordinator stood still

    /// What has begun, with a limit of 10 s on what is around it, and a coordinator that stands still for longer.
    private func stoodStill(
        _ root: Sketch = Sketch.group("root", [.op("a"), .op("b")]).having { $0.deadlineMilliseconds = 10_000 }, for pause: Int64 = 60_000
    ) -> (FakeCluster, [Assignment]) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(root.graph())
        for path in cluster.heldPaths { cluster.begin(path) }
        let held = cluster.held[1] ?? []
        cluster.jump(pause)
        cluster.step([.stoodStill])
        return (cluster, held)
    }

    @Test func workThatEndedInTime_counts_thoughTheCoordinatorStoodStill() {
        for reconnects in [false, true] {
            var (cluster, held) = stoodStill()
            #expect(cluster.state("") == .running, "nobody has told")
            cluster.advance(1_000)
            #expect(cluster.state("") == .running, "what was read may be from before")
            if reconnects { cluster.attach(1, slots: 4, held: items(held, .finished)) }
            for path in ["a", "b"] { cluster.end(path, lasting: 1_000, heardAfter: 55_000) }
            #expect(cluster.view()?.state == .succeeded)
        }
    }

    @Test func workThatStillRuns_isStoppedWhenItsWorkerIsHeardAgain() {
        var (cluster, held) = stoodStill()
        cluster.attach(1, slots: 4, held: items(held, .running))
        #expect(cluster.state("") == .stopping)
        (cluster, _) = stoodStill()
        cluster.advance(1_999)
        #expect(cluster.state("") == .running)
        cluster.advance(1)
        #expect(cluster.state("") == .stopping, "its worker was heard, and has told nothing")
    }

    @Test func operationIsNotTimedOut_whoseWorkerHasToldWhatTheCoordinatorDidNotRead() {
        var (cluster, held) = stoodStill(.group("root", [.op("a", timeout: 25_000)]))
        #expect(cluster.state("a") == .running)
        cluster.attach(1, slots: 4, held: items(held, .finished))
        cluster.end("a", lasting: 15_000, heardAfter: 45_000)
        #expect(cluster.view()?.state == .succeeded)
    }

    /// It has ended in time, and its value is on its way before the coordinator stands still, or while it does.
    @Test(arguments: [(true, false), (false, false), (false, true)])
    func valueOnItsWay_countsBesideAStandstill(isToldBefore: Bool, endedLate: Bool) throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [Sketch.op("a").having { $0.deadlineMilliseconds = 10_000 }]).graph())
        cluster.begin("a")
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        let peer = try #require(cluster.peers[owner])
        let news = Input.valueWaits(peer, unit.unit, unit.attempt, reason: "it comes")
        if isToldBefore { cluster.step([news]) }
        cluster.jump(12_000)
        cluster.step([.stoodStill])
        if !isToldBefore { cluster.step([news]) }
        for _ in 0..<12 {
            cluster.advance(1_000)
            #expect(cluster.state("a") == .running)
        }
        cluster.end("a", heardAfter: isToldBefore ? 24_000 : endedLate ? 13_000 : 15_000)
        #expect(cluster.view()?.state == (endedLate ? .failed : .succeeded))
    }

    @Test func coordinatorThatStandsStillAgainAndAgain_waitsNoLongerThanOnce() {
        let limits: [(String, Sketch)] = [
            ("", .group("root", [.op("a")]).having { $0.deadlineMilliseconds = 10_000 }), ("", .group("root", [.op("a")], timeout: 10_000)),
            ("a", .group("root", [.op("a", timeout: 10_000)])),
        ]
        for (path, root) in limits {
            var (cluster, _) = stoodStill(root)
            let window = cluster.configuration.leaseMilliseconds + 2 * cluster.configuration.reconnectMaximumMilliseconds
            for _ in 0..<Int(2 * window / 1_500) {
                #expect(cluster.state(path) == .running)
                cluster.advance(1_500)
                cluster.step([.stoodStill])
            }
            cluster.advance(1_500)
            #expect(cluster.state(path) == .stopping)
            cluster.advance(20_000)
            let told = cluster.journal.count { if case .timedOut = $0 { true } else { false } }
            #expect(told <= 1, "it is told once")
        }
    }

    @Test(arguments: [false, true]) func groupIsNotTimedOut_whoseMembersEndedInTime(afterARestart: Bool) throws {
        let root = Sketch.group("root", [.group("g", [.op("a")], timeout: 10_000)])
        for (heardAfter, state) in [(Int64(55_000), OperationState.succeeded), (1_000, .failed)] {
            var (cluster, held) = stoodStill(root, for: afterARestart ? 0 : 60_000)
            if afterARestart { try cluster.restart(after: 60_000) }
            #expect(cluster.state("g") == .running)
            cluster.attach(1, slots: 4, held: items(held, .finished))
            cluster.end("g/a", lasting: 100, heardAfter: heardAfter)
            #expect(cluster.state("g") == state)
        }
    }

    @Test func deadline_runsOnBootTime() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a").having { $0.deadlineMilliseconds = 10_000 }]).graph())
        cluster.stepWallClock(60_000)
        cluster.advance(9_999)
        #expect(cluster.view()?.finishedAt == 0)
        cluster.advance(1)
        #expect(cluster.view()?.state == .failed)
    }

    // MARK: Queue timeouts

    @Test func operationThatNobodyTakes_failsAfterItsQueueTimeout_withoutRetry() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group(
                "root", [.op("busy"), .op("a", after: ["late"], retries: 3).having { $0.queueTimeoutMilliseconds = 500 }, .op("late")]
            )
            .graph())
        cluster.end("busy")
        cluster.advance(10_000)
        cluster.end("late")
        cluster.begin("a")
        cluster.advance(10_000)
        #expect(cluster.state("a") == .running)
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)

        var other = FakeCluster()
        other.submit(Sketch.group("root", [.op("a", retries: 3).having { $0.queueTimeoutMilliseconds = 500 }]).graph())
        other.advance(499)
        #expect(other.state("a") == .queued)
        other.advance(1)
        #expect(errors(&other, "a") == ["timeout did not start within 500 ms after it was ready"])
    }

    @Test func operationThatAWorkerHoldsWithoutStartingIt_isStopped() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a").having { $0.queueTimeoutMilliseconds = 500 }]).graph())
        cluster.advance(500)
        #expect(cluster.state("a") == .stopping)
        cluster.end("a", .stopped)
        #expect(cluster.state("a") == .failed)
    }

    @Test func nextAttempt_hasItsOwnQueueTimeout_fromItsBackoffOn() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 1).having { $0.queueTimeoutMilliseconds = 2_000 }]).graph())
        cluster.begin("a")
        cluster.advance(5_000)
        cluster.end("a", failure("once"))
        cluster.disconnect(1)
        cluster.advance(1_999)
        #expect(cluster.state("a") == .retrying)
        cluster.advance(1_100)
        #expect(errors(&cluster, "a") == ["timeout did not start within 2 s after it was ready"])
    }

    @Test func restart_doesNotTimeOutWhatRuns() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a").having { $0.queueTimeoutMilliseconds = 500 }]).graph())
        cluster.begin("a")
        cluster.advance(5_000)
        try cluster.restart()
        cluster.reattach(1)
        cluster.advance(10_000)
        #expect(cluster.state("a") == .running)
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func childCancelledBeforeItsGroupBegins_isNotWatched() {
        var cluster = FakeCluster()
        cluster.attach(1)
        let child = Sketch.op("x").having { $0.deadlineMilliseconds = 1_000 }
        cluster.submit(Sketch.group("root", [.op("a"), .group("g", [child, .op("y")], after: ["a"])]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "g/x", reason: "", now: false))
        cluster.end("a")
        cluster.advance(2_000)
        #expect(cluster.heldPaths == ["g/y"])
    }

    @Test func queueTimeoutOfAGroup_isRefused() {
        let graph = Sketch.group("root", [Sketch.group("g", []).having { $0.queueTimeoutMilliseconds = 1 }]).graph()
        #expect(graph.faults().map(\.message) == ["has a `queueTimeout`, which is for operations; a group waits for no worker"])
    }
}
