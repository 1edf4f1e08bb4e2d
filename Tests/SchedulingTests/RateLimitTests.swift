import Scheduling
import Testing

/// Limits that differ under one key: who stands behind whom in its line, and which starts are remembered.
@Suite struct RateLimitTests {
    private func cluster() -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        return cluster
    }

    private func limit(_ count: Int, per milliseconds: Int64, key: String = "api") -> Condition {
        Condition(.rateLimit(RateLimit(key: key, count: count, perMilliseconds: milliseconds)))
    }

    private func limited(_ id: String, _ count: Int, per milliseconds: Int64, after: [String] = []) -> Sketch {
        Sketch.op(id, after: after).having { $0.conditions = [limit(count, per: milliseconds)] }
    }

    // MARK: The first in line

    enum Leaving: CaseIterable { case cancelled, cancelledAround, paused, pausedAround, queueTimedOut, deadlinePassed }

    /// Whoever stands behind one that has longer to wait does not wait for that when it is not there any more; also in another submission.
    @Test(arguments: Leaving.allCases, [false, true])
    func firstInLine_isNotWaitedFor_whenItHasLeft(leaving: Leaving, restarts: Bool) throws {
        var cluster = cluster()
        let slow = Sketch.op("slow").having {
            $0.conditions = [limit(1, per: 20_000)]
            if leaving == .queueTimedOut { $0.queueTimeoutMilliseconds = 5_000 }
            if leaving == .deadlinePassed { $0.deadlineMilliseconds = 5_000 }
        }
        let id = cluster.submit(Sketch.group("root", [limited("first", 1, per: 1_000), .group("g", [slow])]).graph(), key: "1") ?? ""
        cluster.submit(Sketch.group("root", [limited("fast", 1, per: 1_000)]).graph(), key: "2")
        if restarts {
            try cluster.restart(after: 500)
            cluster.reattach(1, slots: 8)
        }
        cluster.advance(restarts ? 4_499 : 4_999)
        #expect(cluster.dispatched == ["first"])
        switch leaving {
        case .cancelled: _ = cluster.ask(.cancel(submission: id, path: "g/slow", reason: "", now: false))
        case .cancelledAround: _ = cluster.ask(.cancel(submission: id, path: "g", reason: "", now: false))
        case .paused: _ = cluster.ask(.pause(submission: id, path: "g/slow"))
        case .pausedAround: _ = cluster.ask(.pause(submission: id, path: "g"))
        case .queueTimedOut, .deadlinePassed: cluster.advance(1)
        }
        #expect(cluster.dispatched == ["first", "fast"])
    }

    @Test func firstInLine_isNotWaitedFor_whenItHasLeft_inTheSameSubmission() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root", [limited("first", 1, per: 1_000), limited("slow", 1, per: 86_400_000), limited("fast", 1, per: 1_000)]
            ).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "slow", reason: "", now: false))
        cluster.advance(999)
        #expect(cluster.dispatched == ["first"])
        cluster.advance(1)
        #expect(cluster.dispatched == ["first", "fast"])
    }

    /// It is the first again, and waits as long as its own limit says.
    @Test func firstInLine_isThatAgain_whenItGoesOn() {
        var cluster = cluster()
        let operations = [
            limited("first", 1, per: 1_000), limited("slow", 1, per: 20_000), limited("b", 1, per: 1_000), limited("c", 1, per: 1_000),
        ]
        cluster.submit(Sketch.group("root", operations).graph())
        cluster.advance(5_000)
        _ = cluster.ask(.pause(submission: "last", path: "slow"))
        #expect(cluster.dispatched == ["first", "b"])
        _ = cluster.ask(.resume(submission: "last", path: "slow"))
        cluster.advance(19_999)
        #expect(cluster.dispatched == ["first", "b"])
        cluster.advance(1)
        #expect(cluster.dispatched == ["first", "b", "slow"])
        cluster.advance(1_000)
        #expect(cluster.dispatched == ["first", "b", "slow", "c"])
    }

    @Test func groupThatIsFirstInLine_isNotWaitedFor_whenItHasLeft() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [limited("first", 1, per: 1_000)]).graph(), key: "1")
        let group = Sketch.group("g", [.op("x"), .op("y")]).having { $0.conditions = [limit(1, per: 20_000)] }
        let id = cluster.submit(Sketch.group("root", [group]).graph(), key: "2") ?? ""
        cluster.submit(Sketch.group("root", [limited("fast", 1, per: 1_000)]).graph(), key: "3")
        cluster.advance(5_000)
        #expect(cluster.dispatched == ["first"])
        _ = cluster.ask(.cancel(submission: id, path: "g", reason: "", now: false))
        #expect(cluster.dispatched == ["first", "fast"])
    }

    /// Two that start at once have the line looked at too early.
    @Test func limitWithinLessThanASecond_isUsedUpEachTime() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", ["a", "b", "c", "d", "e", "f"].map { limited($0, 2, per: 300) }).graph())
        #expect(cluster.dispatched == ["a", "b"])
        cluster.advance(300)
        #expect(cluster.dispatched == ["a", "b", "c", "d"])
        cluster.advance(300)
        #expect(cluster.dispatched == ["a", "b", "c", "d", "e", "f"])
    }

    /// It stands in one line after the other.
    @Test func oneWithTwoLimits_isNotWaitedFor_inTheSecondLine() {
        var cluster = cluster()
        let first = Sketch.op("first").having { $0.conditions = [limit(1, per: 1_000), limit(1, per: 1_000, key: "other")] }
        let both = Sketch.op("both").having { $0.conditions = [limit(1, per: 20_000), limit(1, per: 30_000, key: "other")] }
        let id = cluster.submit(Sketch.group("root", [first, both]).graph(), key: "1") ?? ""
        cluster.advance(20_000)
        let behind = Sketch.op("behind").having { $0.conditions = [limit(1, per: 1_000, key: "other")] }
        cluster.submit(Sketch.group("root", [behind, limited("free", 1, per: 1_000)]).graph(), key: "2")
        cluster.advance(2_000)
        #expect(cluster.dispatched == ["first", "free"])
        _ = cluster.ask(.cancel(submission: id, path: "both", reason: "", now: false))
        #expect(cluster.dispatched == ["first", "free", "behind"])
    }

    // MARK: What is remembered

    /// Five start under a limit that remembers one by itself.
    @Test(arguments: [false, true]) func startsBeforeTheFirstOneUnderALargerLimit_countForIt(restarts: Bool) throws {
        var cluster = cluster()
        let small = Sketch.group("small", (0..<5).map { limited("s\($0)", 1, per: 10) })
        let large = Sketch.group("large", (0..<6).map { limited("l\($0)", 6, per: 8_000) }, after: ["small"])
        cluster.submit(Sketch.group("root", [small, large]).graph())
        cluster.advance(100)
        #expect(cluster.dispatched == (0..<5).map { "small/s\($0)" })
        if restarts {
            try cluster.restart()
            cluster.reattach(1, slots: 8)
        }
        for path in cluster.heldPaths { cluster.end(path) }
        #expect(cluster.dispatched.count == 6, "one of the six has room beside the five")
        cluster.advance(8_000)
        #expect(cluster.dispatched.count == 11)
    }

    /// Also of those that are negated, which count no starts.
    @Test func negatedLimit_seesAsManyStartsAsItCounts() {
        var cluster = cluster()
        let other = Sketch.op("other", after: ["small"]).having {
            $0.conditions = [Condition(.rateLimit(RateLimit(key: "api", count: 3, perMilliseconds: 8_000)), isNegated: true)]
        }
        let small = Sketch.group("small", (0..<3).map { limited("s\($0)", 1, per: 10) })
        cluster.submit(Sketch.group("root", [small, other]).graph())
        cluster.advance(100)
        for path in cluster.heldPaths { cluster.end(path) }
        #expect(cluster.heldPaths == ["other"])
    }

    @Test(arguments: [false, true]) func whatIsAdded_namesItsLimits(restarts: Bool) throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [Sketch.op("a")] + (0..<5).map { limited("s\($0)", 1, per: 10) }).graph(), key: "1")
        #expect(cluster.produce("a", .of(limited("x", 6, per: 8_000), id: "x"))?.isNew == true)
        cluster.advance(100)
        #expect(cluster.dispatched == ["a", "s0", "s1", "s2", "s3", "s4", "x"])
        if restarts {
            try cluster.restart(after: 100)
            cluster.reattach(1, slots: 8)
        }
        cluster.submit(Sketch.group("root", [limited("y", 6, per: 8_000)]).graph(), key: "2")
        #expect(!cluster.dispatched.contains("y"))
        cluster.advance(8_000)
        #expect(cluster.dispatched.contains("y"))
    }

    /// Of the starts before it was named as many count as were remembered by then.
    @Test func limitThatIsNamedLater_seesWhatIsRemembered() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", (0..<3).map { limited("s\($0)", 1, per: 10) }).graph(), key: "1")
        cluster.advance(100)
        cluster.submit(Sketch.group("root", (0..<3).map { limited("l\($0)", 3, per: 8_000) }).graph(), key: "2")
        #expect(cluster.dispatched == ["s0", "s1", "s2", "l0", "l1"])
    }

    private func remembered(by scheduler: Scheduler) -> String {
        Mirror(reflecting: scheduler).descendant("durable", "rates", "records").map { stateDescription(of: $0) } ?? "nothing"
    }

    /// Only what had started was known then.
    @Test(arguments: [false, true]) func journalFromBefore_remembersAsManyStartsAsItDid(isOld: Bool) throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [limited("a", 1, per: 10), limited("b", 6, per: 8_000, after: ["a"])]).graph())
        #expect(cluster.dispatched == ["a"])
        var scheduler = Scheduler(.init())
        for fact in isOld ? cluster.journal.ofTheFirstRules : cluster.journal { try scheduler.restore(fact) }
        #expect(remembered(by: scheduler).contains("kept:\(isOld ? 1 : 6),"), "\(remembered(by: scheduler))")
        // The next start goes by the newest rules, and knows what is still to come.
        var outputs = Outputs()
        scheduler.start(at: cluster.now, incarnation: Incarnation(99), into: &outputs)
        #expect(remembered(by: scheduler).contains("kept:6,"), "\(remembered(by: scheduler))")
    }

    @Test func limitUnderWhichNothingHasStarted_isInTheSnapshot() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [limited("a", 6, per: 8_000)]).graph())
        var sections: [[UInt8]] = []
        cluster.scheduler.writeSnapshot { sections.append($0) }
        var restored = Scheduler(.init())
        for section in sections { try restored.restore(section: section[...]) }
        #expect(remembered(by: restored) == remembered(by: cluster.scheduler))
        #expect(remembered(by: restored).contains("kept:6,"), "\(remembered(by: restored))")
    }
}
