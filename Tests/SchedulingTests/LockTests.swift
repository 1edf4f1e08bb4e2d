import Scheduling
import Testing

@Suite struct LockTests {
    private func cluster(slots: Int = 8) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        return cluster
    }

    @Test func operationsOfOneKey_runOneAfterTheOther_acrossSubmissions_firstComeFirstServed() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .keyed("b", "db"), .op("free")]).graph(), key: "1")
        cluster.submit(Sketch.group("root", [.keyed("c", "db")]).graph(), key: "2")
        cluster.submit(Sketch.group("root", [.keyed("d", "other")]).graph(), key: "3")
        #expect(cluster.heldPaths.sorted() == ["a", "d", "free"])
        cluster.end("a")
        #expect(cluster.heldPaths.sorted() == ["b", "d", "free"])
        cluster.end("b")
        #expect(cluster.heldPaths.sorted() == ["c", "d", "free"])
    }

    /// Whoever waits for a place in its group takes the first that is free: that all others but one wait for it is no circle.
    @Test func holderThatWaitsForOneWithoutAPlace_isNoCircle_ifAnotherPlaceBecomesFree() {
        var cluster = cluster()
        let holder = Sketch.group("holder", [.op("reader", after: ["late"], exclusive: [Exclusion(key: "db")])])
        let group = Sketch.group("g", [.op("first"), .op("quick"), .op("late", after: ["quick"]), holder], max: 2)
        cluster.submit(Sketch.group("root", [group]).graph(), key: "1")
        cluster.end("g/quick")
        cluster.submit(Sketch.group("root", [.keyed("other", "db")]).graph(), key: "2")
        #expect(cluster.heldPaths == ["g/first"])
        cluster.end("g/first")
        #expect(cluster.heldPaths == ["g/late"])
        cluster.end("g/late")
        cluster.end("g/holder/reader")
        #expect(cluster.heldPaths == ["other"])
    }

    @Test func whoWaitsForALock_isLocking() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .keyed("b", "db")]).graph())
        #expect(cluster.state("a") == .queued)
        #expect(cluster.state("b") == .locking)
    }

    @Test func allKeysAtOnce_orNone_andNobodyOvertakes() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.keyed("a", "x"), .keyed("both", "x", "y"), .keyed("late", "y")]).graph())
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a")
        #expect(cluster.heldPaths == ["both"])
        cluster.end("both")
        #expect(cluster.heldPaths == ["late"])
    }

    /// It waits for those that were there before it, of either key, and for none of those that keep coming.
    @Test func requestForTwoKeys_isNotStarved_byRequestsForOneOfThem() {
        let before = 3
        var cluster = cluster()
        cluster.limits = ["x": 1, "y": 1]
        func submit(_ number: Int) {
            for key in ["x", "y"] { cluster.submit(Sketch.group("root", [.keyed("\(key)\(number)", key)]).graph(), key: "\(key)\(number)") }
        }
        for number in 0..<before { submit(number) }
        cluster.submit(Sketch.group("root", [.keyed("both", "x", "y")]).graph(), key: "both")
        for number in before..<(before + 100) {
            submit(number)
            if let first = cluster.heldPaths.first { cluster.end(first) }
        }
        cluster.drain()
        // Per key first come, first served: the bound is what stood before it in both lines, one of which stands still for its sake.
        #expect(cluster.dispatched.firstIndex(of: "both") == 2 * before, "\(cluster.dispatched.prefix(20))")
        for key in ["x", "y"] {
            let ofKey = cluster.dispatched.filter { $0 == "both" || $0.hasPrefix(key) }
            var expected = (0..<(before + 100)).map { "\(key)\($0)" }
            expected.insert("both", at: before)
            #expect(ofKey == expected)
        }
    }

    @Test(arguments: [["a", "b"], ["b", "a"]])
    func twoKeys_namedInOppositeOrders_doNotDeadlock(first: [String]) {
        var cluster = cluster()
        func op(_ id: String, _ keys: [String]) -> Sketch { .op(id, exclusive: keys.map { Exclusion(key: $0) }) }
        cluster.submit(Sketch.group("root", [op("one", first), op("two", first.reversed()), op("three", first)]).graph())
        #expect(cluster.heldPaths == ["one"])
        cluster.drain()
        #expect(cluster.dispatched == ["one", "two", "three"])
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func semaphore_letsAsManyRun_asTheSmallestLimitSays() {
        var cluster = cluster()
        func op(_ id: String, _ limit: Int) -> Sketch { .op(id, exclusive: [Exclusion(key: "db", limit: limit)]) }
        cluster.submit(Sketch.group("root", [op("a", 3), op("b", 3), op("c", 2), op("d", 3)]).graph())
        #expect(cluster.heldPaths == ["a", "b"])
        cluster.end("a")
        #expect(cluster.heldPaths == ["b", "c"])
        cluster.end("b")
        #expect(cluster.heldPaths == ["c", "d"])
    }

    @Test func lock_isKeptThroughRetries() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db", retries: 1), .keyed("b", "db")]).graph())
        cluster.end("a", failure("first"))
        #expect(cluster.heldPaths.isEmpty)
        cluster.advance(1_001)
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a", failure("second"))
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func lock_isNotAskedFor_beforeSomebodyCouldRunTheOperation() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("rare", type: "Rare", exclusive: [Exclusion(key: "db")]), .keyed("a", "db")]).graph())
        #expect(cluster.heldPaths == ["a"])
        #expect(cluster.state("rare") == .queued)
        cluster.attach(2, operations: ["Rare"])
        #expect(cluster.state("rare") == .locking)
        cluster.end("a")
        #expect(cluster.heldPaths == ["rare"])
    }

    @Test func lock_isGivenBack_whenNobodyIsLeftWhoCouldRunTheOperation_beforeItHasBegun() {
        var cluster = cluster(slots: 1)
        cluster.attach(2, slots: 1, operations: ["Rare"])
        cluster.submit(Sketch.group("root", [.op("busy", type: "Rare")]).graph(), key: "1")
        cluster.submit(
            Sketch.group("root", [.op("rare", type: "Rare", exclusive: [Exclusion(key: "db")]), .keyed("a", "db")]).graph(), key: "2")
        #expect(cluster.state("a") == .locking)
        cluster.die(2, crashed: false)
        #expect(cluster.find("a", on: 1) != nil)
        cluster.attach(3, slots: 2, operations: ["Rare"])
        cluster.end("a")
        #expect(cluster.holds("rare"))
    }

    @Test func lostAttempt_keepsTheLock_andItsOperationIsFirstInLine() {
        var cluster = cluster(slots: 1)
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .keyed("b", "db")]).graph())
        cluster.attach(2)
        cluster.die(1)
        #expect(cluster.heldPaths == ["a"])
        #expect(cluster.state("b") == .locking)
    }

    @Test func lockHolder_ofASilentExecutor_movesWhenTheLockLeaseIsOver() {
        var cluster = cluster(slots: 2)
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .op("free"), .keyed("b", "db")]).graph())
        cluster.disconnect(1)
        cluster.attach(2, slots: 2)
        cluster.advance(3_100)
        #expect(cluster.find("free", on: 2) != nil)
        cluster.advance(16_800)
        #expect(cluster.find("a", on: 2) == nil)
        #expect(cluster.find("b", on: 2) == nil)
        cluster.advance(200)
        #expect(cluster.find("a", on: 2) != nil)
        #expect(cluster.find("b", on: 2) == nil)
    }

    @Test func lockHolder_thatComesBackWithinTheLockLease_goesOn() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db")]).graph())
        cluster.disconnect(1)
        cluster.attach(2)
        cluster.advance(15_000)
        cluster.reattach(1)
        cluster.advance(60_000)
        #expect(cluster.dispatched == ["a"])
        cluster.end("a", on: 1)
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func attemptThatItsExecutorStopped_forTheLockLease_isTriedAgainUnderTheSameLock() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .keyed("b", "db")]).graph())
        cluster.disconnect(1)
        cluster.advance(15_000)
        cluster.reattach(1)
        guard let peer = cluster.peers[1], let unit = cluster.find("a", on: 1)?.1 else {
            Issue.record("a is not held")
            return
        }
        cluster.forget(unit, of: 1)
        cluster.step([.released(peer, unit.unit, unit.attempt, wasStopped: true)])
        #expect(cluster.dispatched == ["a", "a"])
        cluster.drain()
        #expect(cluster.dispatched == ["a", "a", "b"])
        #expect(cluster.view()?.counts.failed == 0)
    }

    @Test func stoppingLockHolder_ofASilentExecutor_endsWithTheLockLease() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db")]).graph())
        cluster.disconnect(1)
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        cluster.advance(19_900)
        #expect(cluster.state("a") == .stopping)
        cluster.advance(200)
        #expect(cluster.view()?.state == .cancelled)
    }

    @Test func tokens_riseWithEveryAttempt_acrossRestarts_andCarryTheEpoch() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db", "net", retries: 1), .keyed("b", "db")]).graph())
        var tokens: [UInt64] = []
        func note(_ path: String) throws {
            let unit = try #require(cluster.find(path, on: nil)?.1)
            tokens.append(try #require(unit.fences.first { $0.key == "db" }?.token))
        }
        try note("a")
        #expect(cluster.find("a", on: nil)?.1.fences.map(\.key) == ["db", "net"])
        cluster.end("a", failure("no"))
        cluster.advance(1_001)
        try note("a")
        try cluster.restart()
        cluster.attach(1)
        try note("a")
        #expect(UInt32(truncatingIfNeeded: (tokens.last ?? 0) >> 32) == cluster.scheduler.epoch)
        cluster.end("a")
        try note("b")
        #expect(tokens == tokens.sorted() && Set(tokens).count == 4)
    }

    /// What was handed out after the backup was made is known to nobody but what the lock protects.
    @Test func tokens_riseAcrossARestoredBackup() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db")]).graph())
        let backup = cluster.journal.count
        var tokens: [UInt64] = []
        func note() throws { tokens.append(try #require(cluster.find("a", on: nil)?.1.fences.first?.token)) }
        try note()
        for _ in 0..<3 {
            try cluster.restart(after: 2_000)
            cluster.attach(1)
            try note()
        }
        try cluster.restart(keeping: backup, after: 2_000)
        cluster.attach(1)
        try note()
        #expect(tokens == tokens.sorted() && Set(tokens).count == 5, "\(tokens)")
    }

    @Test func holdersAndLine_surviveARestart() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .keyed("b", "db"), .keyed("c", "db")]).graph(), key: "1")
        cluster.submit(Sketch.group("root", [.keyed("d", "db")]).graph(), key: "2")
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        cluster.drain()
        #expect(cluster.dispatched == ["a", "b", "c", "d"])
    }

    @Test func afterARestart_nobodyLosesItsPlace_beforeExecutorsHadTheTimeToAttach() throws {
        var cluster = cluster(slots: 1)
        cluster.attach(2, slots: 1, operations: ["Rare"])
        cluster.submit(
            Sketch.group("root", [.op("first", type: "Rare", exclusive: [Exclusion(key: "db")]), .keyed("second", "db")]).graph())
        try cluster.restart()
        cluster.attach(1)
        #expect(cluster.state("second") == .locking)
        cluster.advance(5_000)
        // "first" was assigned before: it keeps its lock.
        #expect(cluster.state("second") == .locking)
    }

    @Test func afterARestart_aHolderThatHasNotBegun_givesItsLockBack_whenNobodyComesWhoCouldRunIt() throws {
        var cluster = cluster(slots: 1)
        cluster.attach(2, slots: 1, operations: ["Rare"])
        cluster.submit(Sketch.group("root", [.op("busy", type: "Rare")]).graph(), key: "1")
        cluster.submit(
            Sketch.group("root", [.op("rare", type: "Rare", exclusive: [Exclusion(key: "db")]), .keyed("a", "db")]).graph(), key: "2")
        try cluster.restart()
        cluster.attach(1)
        #expect(cluster.state("a") == .locking)
        cluster.advance(5_000)
        #expect(cluster.find("a", on: 1) != nil)
    }

    @Test func cancelledWaiter_leavesTheLine() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.keyed("a", "x"), .keyed("b", "x", "y"), .keyed("c", "y")]).graph())
        #expect(cluster.heldPaths == ["a"])
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        #expect(cluster.heldPaths == ["a", "c"])
    }

    @Test func cancelledSubmission_givesEverythingBackAtOnce() {
        var cluster = cluster(slots: 1)
        cluster.submit(
            Sketch.group("root", [.op("x"), .keyed("a", "db"), .keyed("b", "db"), .group("g", [.keyed("c", "db")])]).graph(), key: "1")
        cluster.submit(Sketch.group("root", [.keyed("d", "db")]).graph(), key: "2")
        _ = cluster.ask(.cancel(submission: "1", path: "", reason: "", now: false))
        let first = cluster.ask(.list(before: "", limit: 0))
        guard case .submissions(let views, _)? = first, let oldest = views.last else {
            Issue.record("no list")
            return
        }
        _ = cluster.ask(.cancel(submission: oldest.id, path: "", reason: "", now: false))
        cluster.end("x", .stopped)
        #expect(cluster.heldPaths == ["d"])
    }

    @Test func deterministicGrants_giveTheSameJournal() {
        func run() -> [[UInt8]] {
            var cluster = FakeCluster()
            cluster.attach(1, slots: 3)
            for number in 0..<3 {
                cluster.submit(
                    Sketch.group("root", (0..<6).map { .keyed("o\($0)", "k\($0 % 3)", "k\(number)") }).graph(), key: "\(number)")
            }
            cluster.drain()
            return cluster.journal.map(FactCodec.encode)
        }
        #expect(run() == run())
    }
}
