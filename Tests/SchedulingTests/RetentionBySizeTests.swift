import Scheduling
import Testing

/// What has ended takes a bounded room.
@Suite struct RetentionBySizeTests {
    private static func configuration(_ bytes: Int64) -> Scheduler.Configuration {
        var configuration = Scheduler.Configuration()
        configuration.retentionBytes = bytes
        return configuration
    }

    private func graph(_ id: String) -> Graph { Sketch.group("root", [.op(id)]).graph() }

    private func ids(_ cluster: inout FakeCluster) -> [String] {
        if case .submissions(let views, _)? = cluster.ask(.list(before: "", limit: 0)) { views.map(\.id) } else { [] }
    }

    /// What a submission of one operation takes.
    private func size() -> Int64 {
        var cluster = FakeCluster(.init())
        cluster.attach(1, slots: 4)
        _ = cluster.submit(graph("a"), key: "k")
        cluster.end("a")
        return cluster.scheduler.keptSubmissions[0].bytes
    }

    @Test func whatEndedFirst_isForgottenFirst_onceThereIsTooMuch() {
        var cluster = FakeCluster(Self.configuration(2 * size()))
        cluster.attach(1, slots: 4)
        let running = cluster.submit(graph("runs"), key: "0") ?? "none"
        var ended: [String] = []
        for number in 1...4 {
            ended.append(cluster.submit(graph("n\(number)"), key: "\(number)") ?? "none")
            cluster.end("n\(number)")
            cluster.advance(1_000)
        }
        #expect(ids(&cluster) == ended.reversed() + [running], "within the first minute nothing is forgotten")
        cluster.stepWallClock(-5_000)
        cluster.advance(1_000)
        #expect(ids(&cluster) == ended.reversed() + [running], "nor when the clock is set back a little")
        cluster.stepWallClock(5_000)
        cluster.advance(130_000)
        #expect(ids(&cluster) == [ended[3], ended[2], running])
        #expect(cluster.scheduler.isForgotten(SubmissionNumber(2)) && cluster.scheduler.isForgotten(SubmissionNumber(3)))
        cluster.advance(1_000_000)
        #expect(ids(&cluster) == [ended[3], ended[2], running], "the rest has room")
    }

    /// What ended by a clock that was ahead, and was set right, would be young for as long: only what came later would go.
    @Test func whatEndedByAClockThatWasAhead_goesToo() {
        let (size, hour) = (size(), Int64(3_600_000))
        var cluster = FakeCluster(Self.configuration(2 * size))
        cluster.attach(1, slots: 4)
        cluster.stepWallClock(10 * hour)
        for number in 1...3 {
            _ = cluster.submit(graph("n\(number)"), key: "\(number)")
            cluster.end("n\(number)")
        }
        cluster.stepWallClock(-10 * hour)
        let last = cluster.submit(graph("last"), key: "last")
        cluster.end("last")
        cluster.advance(130_000)
        #expect(cluster.scheduler.keptSubmissions.map(\.bytes).reduce(0, +) <= 2 * size)
        cluster.advance(hour)
        #expect(ids(&cluster).count == 2 && last.map { ids(&cluster).contains($0) } == false, "by the clock it ended first")
    }

    @Test func whileTheHistoryIsBehind_theyMayTakeTwiceTheRoom_andNoMore() {
        var cluster = FakeCluster(Self.configuration(2 * size()))
        cluster.attach(1, slots: 4)
        cluster.step([.historyBehind(true)])
        for number in 1...6 {
            _ = cluster.submit(graph("n\(number)"), key: "\(number)")
            cluster.end("n\(number)")
            cluster.advance(1_000)
        }
        cluster.advance(200_000)
        #expect(ids(&cluster).count == 4)
        cluster.step([.historyBehind(false)])
        cluster.advance(200_000)
        #expect(ids(&cluster).count == 2)
    }

    /// Its follower lives, and has heard of its end.
    @Test func whatWasFollowedToItsEnd_givesWay_andARestartGoesOn() throws {
        var cluster = FakeCluster(Self.configuration(0))
        cluster.attach(1, slots: 4)
        for name in ["followed", "other"] {
            let id = cluster.submit(graph(name), key: name) ?? "none"
            _ = cluster.ask(.follow(submission: id))
            cluster.end(name)
            _ = cluster.ask(.follow(submission: id))
            #expect(ids(&cluster) == [id])
            if name == "followed" { cluster.advance(200_000) }
        }
        try cluster.restart(after: 1_000)
        cluster.reattach(1, slots: 4)
        cluster.advance(200_000)
        #expect(ids(&cluster) == [])
        #expect(cluster.scheduler.keptSubmissions.isEmpty)
    }

    @Test func largeValues_count() {
        var cluster = FakeCluster(.init())
        cluster.attach(1, slots: 4)
        _ = cluster.submit(graph("a"), key: "k")
        cluster.end("a", .success(Payload(encoding: .bytes, storage: .blob(digest: [UInt8](repeating: 1, count: 32), size: 5_000_000))))
        let kept = cluster.scheduler.keptSubmissions
        #expect(kept.count == 1 && kept[0].mayBeForgotten && kept[0].bytes > 5_000_000 && kept[0].bytes < 5_001_000)
    }
    /// Who keeps the files looks whether anything else names them.
    @Test func whatIsForgotten_saysWhichLargeValuesItNamed() {
        var cluster = FakeCluster(Self.configuration(0))
        cluster.attach(1, slots: 4)
        let digest = [UInt8](repeating: 1, count: 32)
        for key in ["1", "2"] {
            _ = cluster.submit(graph("a\(key)"), key: key)
            cluster.end("a\(key)", .success(Payload(encoding: .bytes, storage: .blob(digest: digest, size: 5_000_000))))
        }
        #expect(cluster.forgottenValues.isEmpty)
        cluster.advance(200_000)
        #expect(cluster.forgottenValues.map(\.digest) == [digest, digest] && cluster.forgottenValues[0].size == 5_000_000)
        var named = 0
        cluster.scheduler.forEachNamedValue { _ in named += 1 }
        #expect(named == 0)
    }
}
