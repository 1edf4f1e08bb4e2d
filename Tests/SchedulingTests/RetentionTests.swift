import Scheduling
import Testing

/// What has ended long ago is forgotten; what has not, and what is looked at, is not.
@Suite struct RetentionTests {
    private static let retention: Int64 = 100_000

    private static var configuration: Scheduler.Configuration {
        var configuration = Scheduler.Configuration()
        configuration.retentionMilliseconds = retention
        return configuration
    }

    private func cluster() -> FakeCluster {
        var cluster = FakeCluster(Self.configuration)
        cluster.attach(1, slots: 4)
        return cluster
    }

    private func graph(_ id: String = "a") -> Graph { Sketch.group("root", [.op(id)]).graph() }

    private func ids(_ cluster: inout FakeCluster, before: String = "", limit: Int = 0) -> [String] {
        if case .submissions(let views, _)? = cluster.ask(.list(before: before, limit: limit)) { views.map(\.id) } else { [] }
    }

    private func isKnown(_ text: String, _ cluster: inout FakeCluster) -> Bool {
        if case .submission? = cluster.ask(.show(submission: text)) { true } else { false }
    }

    @Test func whatHasEnded_isForgottenAfterItsTime_andItsKeyIsFree() {
        var cluster = cluster()
        let first = cluster.submit(graph(), key: "k") ?? "none"
        cluster.end("a")
        cluster.advance(Self.retention - 1_000)
        #expect(isKnown(first, &cluster))
        #expect(cluster.submit(graph(), key: "k") == first, "the key still names it")
        cluster.advance(20_000)
        #expect(!isKnown(first, &cluster) && !isKnown("key=k", &cluster) && !isKnown("last", &cluster))
        #expect(ids(&cluster) == [])
        #expect(cluster.scheduler.isForgotten(SubmissionNumber(1)))
        let second = cluster.submit(graph("b"), key: "k") ?? "none"
        #expect(second != first)
        cluster.end("b")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func whatHasEnded_stays_whileTheHistoryIsBehind() {
        var cluster = cluster()
        let id = cluster.submit(graph(), key: "k") ?? "none"
        cluster.end("a")
        cluster.step([.historyBehind(true)])
        cluster.advance(3 * Self.retention)
        #expect(isKnown(id, &cluster))
        cluster.step([.historyBehind(false)])
        cluster.advance(700_000)
        #expect(!isKnown(id, &cluster))
    }

    /// Nothing is ever heard of the attempt under which the lock was released.
    @Test(arguments: [false, true]) func whatHasEnded_isForgotten_whoeverIsStillToReport(reportsLate: Bool) throws {
        var cluster = FakeCluster(Self.configuration)
        let need = Requirements(resources: [ResourceAmount(name: "gpus", amount: 1)])
        cluster.attach(2, slots: 1, host: FakeHost(supervisor: 2, resources: [ResourceAmount(name: "gpus", amount: 1)]))
        let taking = Sketch.keyed("a", "db").having { $0.requires = need }
        let id = cluster.submit(Sketch.group("root", [taking]).graph(), key: "1") ?? "none"
        cluster.begin("a")
        let attempt = try #require(cluster.find("a", on: nil)?.1)
        guard case .locks(let locks, _)? = cluster.ask(.locks(key: "db", from: 0)) else {
            Issue.record("no locks")
            return
        }
        let holders = locks.flatMap(\.holders).map(\.operation)
        _ = cluster.ask(.releaseLock(key: "db", holders: holders, reason: "", now: true))
        #expect(cluster.view()?.state == .failed)
        cluster.advance(Self.retention + 20_000)
        #expect(!isKnown(id, &cluster))
        cluster.submit(Sketch.group("root", [Sketch.op("b").having { $0.requires = need }]).graph(), key: "2")
        let isTaken = !cluster.holds("b")
        #expect(isTaken, "what runs in there may still use it")
        if reportsLate {
            let peer = try #require(cluster.peers[2])
            cluster.forget(attempt, of: 2)
            cluster.step([
                .ended(peer, attempt.unit, attempt.attempt, .success(text("late")), startedAt: cluster.now.wall, at: cluster.now.wall)
            ])
        } else {
            cluster.die(2)
            cluster.attach(3, slots: 1, host: FakeHost(supervisor: 2, resources: [ResourceAmount(name: "gpus", amount: 1)]))
        }
        let isGivenBack = cluster.holds("b")
        #expect(isGivenBack)
    }

    @Test func whatRuns_stays_andWhatWasFollowedToItsEndDoesNot() {
        var cluster = cluster()
        let running = cluster.submit(graph("runs"), key: "1") ?? "none"
        let followed = cluster.submit(graph("followed"), key: "2") ?? "none"
        let ended = cluster.submit(graph("ended"), key: "3") ?? "none"
        let last = cluster.submit(graph("last"), key: "4") ?? "none"
        _ = cluster.ask(.follow(submission: followed))
        _ = cluster.ask(.follow(submission: running))
        cluster.end("followed")
        cluster.end("ended")
        #expect(ids(&cluster) == [last, ended, followed, running])
        cluster.advance(3 * Self.retention)
        #expect(ids(&cluster) == [last, running])
        #expect(ids(&cluster, before: last) == [running])
        #expect(ids(&cluster, limit: 1) == [last])
        cluster.end("runs")
        cluster.advance(2 * Self.retention)
        #expect(ids(&cluster) == [last])
        #expect(cluster.state("last") == .queued)
    }

    @Test func whatIsForgotten_isSoAfterARestart_alsoWhereTheTimePassedMeanwhile() throws {
        var cluster = cluster()
        let first = cluster.submit(graph("a"), key: "1") ?? "none"
        let second = cluster.submit(graph("b"), key: "2") ?? "none"
        let third = cluster.submit(graph("c"), key: "3") ?? "none"
        cluster.end("b")
        cluster.advance(2 * Self.retention)
        cluster.end("c")
        try cluster.restart()
        cluster.reattach(1, slots: 4)
        #expect(!isKnown(second, &cluster))
        #expect(ids(&cluster) == [third, first])
        try cluster.restart(after: 2 * Self.retention)
        cluster.reattach(1, slots: 4)
        cluster.advance(20_000)
        #expect(ids(&cluster) == [first], "the last number is not given again")
        let fourth = cluster.submit(graph("d"), key: "4") ?? "none"
        #expect(ids(&cluster) == [fourth, first])
        try cluster.restart()
        cluster.reattach(1, slots: 4)
        #expect(ids(&cluster) == [fourth, first])
    }

    /// What is forgotten does not come back when the clock is set right.
    @Test func clockThatWasSetAhead_isNotBelievedAtOnce() {
        var configuration = Self.configuration
        configuration.retentionMilliseconds = 10 * 3_600_000
        var cluster = FakeCluster(configuration)
        cluster.attach(1, slots: 4)
        let old = cluster.submit(graph("a"), key: "1") ?? "none"
        cluster.end("a")
        cluster.advance(9 * 3_600_000)
        let new = cluster.submit(graph("b"), key: "2") ?? "none"
        cluster.end("b")
        cluster.stepWallClock(365 * 86_400_000)
        cluster.advance(3_500_000)
        #expect(ids(&cluster) == [new, old], "nothing is forgotten for an hour")
        cluster.stepWallClock(-365 * 86_400_000)
        cluster.advance(60_000)
        #expect(ids(&cluster) == [new, old], "it was set right")
        cluster.advance(120_000)
        #expect(ids(&cluster) == [new], "and what is due is forgotten then")
        cluster.stepWallClock(365 * 86_400_000)
        cluster.advance(3_700_000)
        #expect(ids(&cluster) == [], "after an hour it is taken for right")
    }

    @Test func clockAtAStartLongAfterTheLast_isNotBelievedAtOnce() throws {
        var cluster = cluster()
        let id = cluster.submit(graph("a"), key: "1") ?? "none"
        cluster.end("a")
        try cluster.restart(after: 2 * 3_600_000)
        cluster.advance(Self.retention - 20_000)
        #expect(ids(&cluster) == [id])
        cluster.advance(40_000)
        #expect(ids(&cluster) == [])
    }

    /// A start soon after one that is doubted says nothing of the clock.
    @Test func startSoonAfterOneThatIsDoubted_isDoubtedAsLong() throws {
        var configuration = Self.configuration
        configuration.retentionMilliseconds = 10 * 3_600_000
        var cluster = FakeCluster(configuration)
        cluster.attach(1, slots: 4)
        let id = cluster.submit(graph("a"), key: "1") ?? "none"
        cluster.end("a")
        cluster.stepWallClock(365 * 86_400_000)
        for _ in 0..<2 {
            try cluster.restart(after: 600_000)
            cluster.advance(1_000_000)
            #expect(ids(&cluster) == [id], "nothing is forgotten for an hour, however often it starts")
        }
        try cluster.restart(after: 600_000)
        cluster.advance(500_000)
        #expect(ids(&cluster) == [], "nor is it longer for that")
    }

    /// Epochs are taken from the clock, and there are only so many.
    @Test func startWithAClockInTheFarFuture_canBeFollowedByOthers() throws {
        var cluster = cluster()
        let id = cluster.submit(graph("a"), key: "1") ?? "none"
        cluster.stepWallClock(200 * 365 * 86_400_000)
        try cluster.restart()
        cluster.stepWallClock(-200 * 365 * 86_400_000)
        for _ in 0..<2 { try cluster.restart() }
        cluster.reattach(1, slots: 4)
        #expect(ids(&cluster) == [id])
        cluster.end("a")
        cluster.advance(Self.retention + 20_000)
        #expect(ids(&cluster) == [], "the clock that was set right is believed")
    }

    /// Entries in lines and timers are left where they are when a unit is stopped.
    @Test func whatIsLeftInLinesAndTimers_ofWhatIsForgotten_doesNothing() {
        var cluster = FakeCluster(Self.configuration)
        let waiting = Sketch.group(
            "root",
            [
                .op("plain"), .keyed("locked", "key"), .op("timed").having { $0.queueTimeoutMilliseconds = 900_000 },
                .op("late", retries: 3).having { $0.delayMilliseconds = 800_000 },
                .op("gpu").having { $0.requires = Requirements(resources: [ResourceAmount(name: "gpus", amount: 1)]) },
            ], timeout: 900_000
        ).having { $0.deadlineMilliseconds = 950_000 }
        let id = cluster.submit(waiting.graph()) ?? "none"
        _ = cluster.ask(.cancel(submission: id, path: "", reason: "", now: true))
        cluster.advance(3 * Self.retention)
        #expect(!isKnown(id, &cluster))
        cluster.attach(1, slots: 8, host: .full)
        cluster.advance(1_000_000)
        #expect(cluster.dispatched.isEmpty)
        cluster.submit(Sketch.group("root", [.keyed("next", "key")]).graph(), key: "next")
        cluster.end("next")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aJoinerThatIsLeft_saysThatTheFirstIsKnownNoMore() {
        var cluster = cluster()
        let joining = { (id: String) in Sketch.op(id).unique("one") }
        cluster.submit(Sketch.group("root", [joining("first")]).graph(), key: "1")
        let second = cluster.submit(Sketch.group("root", [joining("second"), .op("goes on")]).graph(), key: "2") ?? "none"
        cluster.end("first")
        cluster.advance(2 * Self.retention)
        #expect(ids(&cluster) == [second])
        #expect(cluster.operations(of: second).count == 3)
    }

    /// They came before anything was forgotten: as many sections follow as there were submissions.
    @Test func snapshotsOfTheFirstLayout_areRead() throws {
        var cluster = cluster()
        cluster.submit(graph("a"), key: "1")
        cluster.submit(graph("b"), key: "2")
        var scheduler = Scheduler(Self.configuration)
        for fact in cluster.journal.ofTheFirstRules { try scheduler.restore(fact) }
        var sections: [[UInt8]] = []
        scheduler.writeSnapshot { sections.append($0) }
        // Numbers of seven bits each: layout, sequence, epoch, that of the last late start, rules, how many there were, how many follow.
        let ends = sections[0].indices.filter { sections[0][$0] < 0x80 }
        #expect(sections[0][...ends[0]] == [15] && sections[0][ends[6]] == 2)
        var first = sections[0]
        first.removeSubrange(ends[5] + 1...ends[6])
        var restored = Scheduler(Self.configuration)
        for section in [first.ofLayout(1)] + sections.dropFirst() { try restored.restore(section: section[...]) }
        #expect(restored.hasWholeSnapshot)
        var again: [[UInt8]] = []
        restored.writeSnapshot { again.append($0) }
        #expect(again == sections)
    }

    @Test func snapshotOfANewerLayout_isThat_andNotDamaged() throws {
        let newer = #expect(throws: DecodingFailure.self) { try Scheduler.check(section: [100], isFirst: true) }
        #expect(newer?.newerLayout?.found == 100 && newer?.newerLayout?.known == 15)
        let damaged = #expect(throws: DecodingFailure.self) { try Scheduler.check(section: [0], isFirst: true) }
        #expect(damaged?.newerLayout == nil)
    }

    /// Many submissions, of which some wait for long; coordinators die. That all of the state is the same after each start, and
    /// the invariants, are checked by the cluster.
    @Test(arguments: 0..<12)
    func oneAfterTheOther_overManyStarts(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 770_000)
        var cluster = FakeCluster(Self.configuration)
        for executor in 0..<2 { cluster.attach(executor, slots: 2) }
        var endedAt: [String: Int64] = [:]
        var open: Set<String> = []
        for number in 0..<60 {
            if random.below(3) > 0 {
                let keyed = random.below(2) == 0
                let sketch = Sketch.group(
                    "root", [keyed ? .keyed("x\(number)", "k\(random.below(3))") : .op("x\(number)", retries: 1), .op("y\(number)")])
                if let id = cluster.submit(sketch.graph(), key: "\(number)") { open.insert(id) }
            }
            switch random.below(8) {
            case 0:
                let owners = cluster.peers.keys.sorted()
                try cluster.restart(after: Int64(random.below(150_000)))
                for owner in owners { cluster.reattach(owner, slots: 2) }
            case 1, 2: cluster.advance(Int64(random.below(90_000)))
            default:
                for _ in 0..<4 {
                    guard let owner = random.pick(cluster.peers.keys.sorted()), let unit = random.pick(cluster.held[owner] ?? []) else {
                        break
                    }
                    cluster.end(unit.path, on: owner, random.below(4) == 0 ? failure("no") : .success(.void))
                }
            }
            for id in open.sorted() {
                guard case .submission(let view)? = cluster.ask(.show(submission: id)), let finishedAt = view.finishedAtIfEnded else {
                    continue
                }
                endedAt[id] = finishedAt
                open.remove(id)
            }
            let known = Set(ids(&cluster, limit: 1_000))
            #expect(open.isSubset(of: known), "seed \(seed): what has not ended is forgotten")
            for (id, at) in endedAt where cluster.now.wall < at + Self.retention {
                #expect(known.contains(id), "seed \(seed): \(id) is forgotten too early")
            }
            for (id, at) in endedAt where cluster.now.wall > at + Self.retention + 20_000 {
                if known.contains(id) { cluster.advance(10_001) }
                #expect(!ids(&cluster, limit: 1_000).contains(id), "seed \(seed): \(id) is not forgotten")
            }
        }
        #expect(endedAt.count > 5)
    }
}

extension SubmissionView {
    fileprivate var finishedAtIfEnded: Int64? {
        switch state {
        case .succeeded, .failed, .cancelled: finishedAt
        case .pending, .running, .paused: nil
        }
    }
}
