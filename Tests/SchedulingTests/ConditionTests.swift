import Scheduling
import Testing

@Suite struct ConditionTests {
    private func cluster(slots: Int = 8) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        return cluster
    }

    private func rate(_ count: Int, per milliseconds: Int64, key: String = "api") -> Condition {
        Condition(.rateLimit(RateLimit(key: key, count: count, perMilliseconds: milliseconds)))
    }

    // MARK: Dependencies

    @Test func failedDependency_failsTheOperation_withoutRunning_inTheOrderOfItsConditions() {
        var cluster = cluster()
        let after = Sketch.op("b", after: ["a"]).having {
            $0.conditions = [
                Condition(.noCancelledDependencies, isNegated: true), Condition(.noFailedDependencies), Condition(.noCancelledDependencies),
            ]
        }
        cluster.submit(Sketch.group("root", [.op("a"), after]).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.dispatched == ["a"])
        let view = cluster.operations().first { $0.path == "b" }
        #expect(view?.state == .failed)
        #expect(view?.errors.map(\.publisher) == ["Not<NoCancelledDependencies>", "NoFailedDependencies"])
        #expect(view?.errors.allSatisfy { $0.isCondition && $0.code == .condition && $0.origin == "b" } == true)
        #expect(view?.errors.last?.message == "not all dependencies succeeded; failed: a")
        #expect(view?.conditions.map(\.verdict.finding) == [.failed, .failed, .satisfied])
    }

    @Test func cancelledDependency_failsBothConditions() {
        for kind in [Condition.Kind.noFailedDependencies, .noCancelledDependencies] {
            var cluster = cluster()
            let after = Sketch.op("b", after: ["a"]).having { $0.conditions = [Condition(kind)] }
            cluster.submit(Sketch.group("root", [.op("a"), after]).graph())
            _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
            cluster.end("a", .stopped)
            #expect(cluster.operations(failedOnly: true).last?.errors.first?.message == "not all dependencies succeeded; cancelled: a")
        }
    }

    @Test func membersOfAnOrderedGroup_areNoDeclaredDependencies() {
        var cluster = cluster()
        let second = Sketch.op("b").having { $0.conditions = [Condition(.noFailedDependencies)] }
        cluster.submit(Sketch.ordered("root", [.op("a"), second], stop: false).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func conditions_areJudgedForEachAttempt() {
        var cluster = cluster()
        let retried = Sketch.op("a", retries: 2).having { $0.conditions = [rate(100, per: 1_000)] }
        cluster.submit(Sketch.group("root", [retried]).graph())
        for _ in 0..<3 {
            cluster.end("a", failure("no"))
            cluster.advance(60_000)
        }
        let judged = cluster.journal.count { if case .judged = $0 { true } else { false } }
        #expect(judged == 3)
    }

    @Test func groupWhoseConditionFails_cancelsWhatIsInIt_andFails() {
        var cluster = cluster()
        let group = Sketch.group("g", [.op("x"), .group("inner", [.op("y")])], after: ["a"]).having {
            $0.conditions = [Condition(.noFailedDependencies)]
        }
        cluster.submit(Sketch.group("root", [.op("a"), group, .op("z", after: ["g"])]).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.heldPaths == ["z"])
        #expect(cluster.state("g") == .failed)
        #expect(cluster.state("g/x") == .cancelled)
        #expect(cluster.state("g/inner/y") == .cancelled)
        #expect(cluster.operations().first { $0.path == "g" }?.errors.map(\.publisher) == ["NoFailedDependencies"])
    }

    @Test func groupWhoseConditionFails_isTriedAgain() {
        var cluster = cluster()
        let group = Sketch.group("g", [.op("x")], after: ["a"], retries: 1).having { $0.conditions = [Condition(.noFailedDependencies)] }
        cluster.submit(Sketch.group("root", [.op("a"), group]).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.state("g") == .retrying)
        cluster.advance(60_000)
        #expect(cluster.state("g") == .failed)
        #expect(cluster.state("g/x") == .cancelled)
    }

    @Test func groupThatIsNotTriedAgainForItsCondition_endsAfterItsMembers() {
        var cluster = cluster()
        let group = Sketch.group("g", [.op("x")], after: ["a"], retries: 1).having {
            $0.conditions = [Condition(.noFailedDependencies)]
            $0.retryOn = [.exitCode(1)]
        }
        cluster.submit(Sketch.group("root", [.op("a"), group]).graph())
        cluster.end("a", failure("no"))
        #expect(cluster.state("g") == .failed)
        #expect(cluster.state("g/x") == .cancelled)
    }

    // MARK: Time windows. The cluster's clock begins at 22:13:20 UTC.

    @Test func closedTimeWindow_isWaitedFor_withoutSlotAndWithoutLocks() throws {
        var cluster = cluster(slots: 1)
        let night = Sketch.keyed("night", "db").having {
            $0.conditions = [Condition(.timeWindow(TimeWindow(startMinute: 23 * 60, endMinute: 6 * 60)))]
        }
        cluster.submit(Sketch.group("root", [night, .keyed("day", "db")]).graph())
        #expect(cluster.heldPaths == ["day"])
        let view = try #require(cluster.operations().first { $0.path == "night" })
        #expect(view.state == .evaluating)
        #expect(view.conditions.first?.verdict.reason == "it is not 23:00-06:00 UTC")
        #expect(view.conditions.first?.verdict.finding == .notNow(until: 1_700_002_800_000))
        cluster.end("day")
        try cluster.restart()
        cluster.attach(2)
        cluster.advance(46 * 60_000)
        #expect(cluster.heldPaths.isEmpty)
        cluster.advance(60_000)
        #expect(cluster.heldPaths == ["night"])
    }

    @Test func windowThatClosesBeforeALockIsFree_returnsTheLock() {
        var cluster = cluster()
        // Open until 22:15.
        let brief = Sketch.keyed("brief", "db").having {
            $0.conditions = [Condition(.timeWindow(TimeWindow(startMinute: 22 * 60, endMinute: 22 * 60 + 15)))]
        }
        cluster.submit(Sketch.group("root", [.keyed("first", "db"), brief, .keyed("last", "db")]).graph())
        #expect(cluster.state("brief") == .locking)
        cluster.advance(600_000)
        cluster.end("first")
        #expect(cluster.heldPaths == ["last"])
        #expect(cluster.state("brief") == .evaluating)
        cluster.end("last")
        cluster.advance(24 * 3_600_000)
        #expect(cluster.heldPaths == ["brief"])
    }

    @Test func stepOfTheWallClock_movesATimeWindow_andNegatedIsTheRestOfTheDay() {
        var cluster = cluster()
        let window = TimeWindow(startMinute: 22 * 60, endMinute: 23 * 60)
        let op = Sketch.op("a").having { $0.conditions = [Condition(.timeWindow(window), isNegated: true)] }
        cluster.submit(Sketch.group("root", [op]).graph())
        #expect(cluster.state("a") == .evaluating)
        cluster.stepWallClock(3_600_000)
        cluster.advance(20_000)
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func cancelledWhileItWaits_endsAtOnce() {
        var cluster = cluster()
        let op = Sketch.op("a").having { $0.conditions = [Condition(.timeWindow(TimeWindow(startMinute: 60, endMinute: 120)))] }
        cluster.submit(Sketch.group("root", [op]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        #expect(cluster.view()?.state == .cancelled)
    }

    @Test func unknownTimeZone_isRefused_andAKnownOneIsUsed() {
        var cluster = cluster()
        let window = TimeWindow(startMinute: 23 * 60, endMinute: 24 * 60, zone: "Test/East")
        let graph = Sketch.group("root", [Sketch.op("a").having { $0.conditions = [Condition(.timeWindow(window))] }]).graph()
        guard
            case .failed(.refused(_, let errors))? = cluster.ask(
                .submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: true))
        else {
            Issue.record("it was admitted")
            return
        }
        #expect(errors.map(\.path) == ["a"])
        #expect(errors.first?.message.contains("`Test/East`") == true)
        cluster.step([.zones([ZoneTable(name: "Test/East", offsetSeconds: 3_600, transitions: [])])])
        cluster.submit(graph)
        #expect(cluster.heldPaths == ["a"])
    }

    // MARK: Rate limits

    @Test func rateLimit_isTheWholeClusters_inTheOrderOfAsking() {
        var cluster = cluster()
        func op(_ id: String) -> Sketch { Sketch.op(id).having { $0.conditions = [rate(2, per: 10_000)] } }
        cluster.submit(Sketch.group("root", [op("a"), op("b"), op("c")]).graph(), key: "1")
        cluster.submit(Sketch.group("root", [op("d"), op("e"), .op("free")]).graph(), key: "2")
        #expect(cluster.heldPaths == ["a", "b", "free"])
        cluster.advance(9_999)
        #expect(cluster.dispatched == ["a", "b", "free"])
        cluster.advance(1)
        #expect(cluster.dispatched == ["a", "b", "free", "c", "d"])
        cluster.advance(10_000)
        #expect(cluster.dispatched == ["a", "b", "free", "c", "d", "e"])
    }

    @Test func rateLimit_survivesARestart_andTheLineToo() throws {
        var cluster = cluster()
        func op(_ id: String) -> Sketch { Sketch.op(id).having { $0.conditions = [rate(1, per: 60_000)] } }
        cluster.submit(Sketch.group("root", [op("a"), op("b"), op("c")]).graph())
        #expect(cluster.dispatched == ["a"])
        cluster.advance(30_000)
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        cluster.advance(29_000)
        #expect(cluster.dispatched == ["a"])
        cluster.advance(1_000)
        #expect(cluster.dispatched == ["a", "b"])
        cluster.advance(60_000)
        #expect(cluster.dispatched == ["a", "b", "c"])
    }

    /// Whoever is paused keeps nobody from running, and has its place again when it goes on.
    @Test func pausedOnes_leaveTheirTurns_andHaveTheirPlacesAgain() {
        var cluster = cluster()
        func op(_ id: String) -> Sketch { Sketch.op(id).having { $0.conditions = [rate(1, per: 10_000)] } }
        let first = cluster.submit(Sketch.group("root", ["a", "b", "c", "d", "e"].map(op)).graph(), key: "1") ?? ""
        _ = cluster.ask(.pause(submission: first, path: ""))
        cluster.submit(Sketch.group("root", [op("x"), op("y")]).graph(), key: "2")
        cluster.advance(10_000)
        #expect(cluster.dispatched == ["a", "x"])
        _ = cluster.ask(.resume(submission: first, path: ""))
        _ = cluster.ask(.pause(submission: first, path: "c"))
        cluster.advance(1)
        _ = cluster.ask(.resume(submission: first, path: "c"))
        for _ in 0..<5 { cluster.advance(10_000) }
        #expect(cluster.dispatched == ["a", "x", "b", "c", "d", "e", "y"])
    }

    @Test func cancelledOne_leavesItsTurnToTheNext() {
        var cluster = cluster()
        func op(_ id: String) -> Sketch { Sketch.op(id).having { $0.conditions = [rate(1, per: 10_000)] } }
        cluster.submit(Sketch.group("root", [op("a"), op("b"), op("c")]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        cluster.advance(10_000)
        #expect(cluster.dispatched == ["a", "c"])
    }

    @Test func negatedRateLimit_holdsWhileTheLimitIsUsedUp() {
        var cluster = cluster()
        let limit = RateLimit(key: "api", count: 1, perMilliseconds: 10_000)
        let other = Sketch.op("other").having { $0.conditions = [Condition(.rateLimit(limit), isNegated: true)] }
        let first = Sketch.op("first").having { $0.conditions = [Condition(.rateLimit(limit))] }
        cluster.submit(Sketch.group("root", [first, other]).graph(), key: "1")
        #expect(cluster.heldPaths == ["first", "other"])
        cluster.drain()
        cluster.advance(10_000)
        cluster.submit(Sketch.group("root", [other]).graph(), key: "2")
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.publisher) == ["Not<RateLimit>"])
    }

    @Test(arguments: 0..<40)
    func starts_keepTheLimit_underFaults(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 7_000)
        var cluster = FakeCluster()
        let count = 1 + random.below(3)
        let per = Int64(1_000 + random.below(5_000))
        let operations = (0..<12).map { index in
            Sketch.op("o\(index)", retries: random.below(2)).having { $0.conditions = [rate(count, per: per)] }
        }
        cluster.submit(Sketch.group("root", operations, max: random.below(4)).graph())
        cluster.attach(1, slots: 3)
        for _ in 0..<80 {
            switch random.below(8) {
            case 0:
                try cluster.restart(after: Int64(random.below(3_000)))
                cluster.reattach(1, slots: 3)
            case 1: cluster.advance(Int64(random.below(3_000)))
            case 2:
                guard let path = cluster.operations().map(\.path).last, random.below(5) == 0 else { continue }
                _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: true))
            default:
                guard let path = random.pick(cluster.heldPaths) else { continue }
                cluster.end(path, random.below(4) == 0 ? failure("no") : .success(.void))
            }
        }
        for _ in 0..<100 {
            cluster.drain()
            cluster.advance(per)
        }
        #expect(try cluster.hasFinished(1), "seed \(seed)")
        let starts = cluster.journal.compactMap { fact -> Int64? in
            if case .judged(_, let verdicts, let at) = fact, verdicts.allSatisfy({ $0.finding == .satisfied }) { at } else { nil }
        }
        for (first, next) in zip(starts, starts.dropFirst(count)) { #expect(next - first >= per, "seed \(seed)") }
    }

    @Test func sendingAhead_doesNotStarveUnitsWithConditions() {
        var cluster = cluster(slots: 2)
        let flood = (0..<1_000).map { Sketch.op("f\($0)") }
        let rare = Sketch.op("rare").having { $0.conditions = [rate(1_000, per: 1_000)] }
        cluster.submit(Sketch.group("root", flood).graph(), key: "flood")
        for _ in 0..<40 { if let path = cluster.heldPaths.first { cluster.end(path) } }
        cluster.submit(Sketch.group("root", [rare]).graph(), key: "rare")
        while !cluster.dispatched.contains("rare"), let path = cluster.heldPaths.first { cluster.end(path) }
        #expect(cluster.dispatched.contains("rare"))
        #expect(cluster.dispatched.count < 400)
    }

    // MARK: Admission

    @Test(arguments: [
        (Condition.Kind.timeWindow(TimeWindow(startMinute: 60, endMinute: 60)), "ends when it starts"),
        (.timeWindow(TimeWindow(startMinute: 1_440, endMinute: 60)), "which has 1440"),
        (.rateLimit(RateLimit(key: "", count: 1, perMilliseconds: 1)), "the key of a rate limit is empty"),
        (.rateLimit(RateLimit(key: "k", count: 0, perMilliseconds: 1)), "count of 0"),
        (.rateLimit(RateLimit(key: "k", count: 1, perMilliseconds: 0)), "at least 1 ms"),
    ])
    func badConditions_areRefused(kind: Condition.Kind, message: String) {
        let graph = Sketch.group("root", [Sketch.op("a").having { $0.conditions = [Condition(kind)] }]).graph()
        let faults = graph.faults()
        #expect(faults.count == 1 && faults.first?.message.contains(message) == true, "\(faults)")
    }
}
