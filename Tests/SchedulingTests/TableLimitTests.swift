import Scheduling
import Testing

/// Tables that would grow for ever have an end.
@Suite struct TableLimitTests {
    private func locked(_ key: String) -> Graph { Sketch.group("root", [.op("a", exclusive: [Exclusion(key: key)])]).graph() }

    private func submit(_ cluster: inout FakeCluster, _ graph: Graph, key: String) -> Reply? {
        cluster.ask(.submit(key: key, name: "", graph: ExaminedGraph(graph), waitForWorkers: true))
    }

    @Test func keysBeyondTheLimit_areRefused_andThoseThatAreKnownGoOn() throws {
        var configuration = Scheduler.Configuration()
        configuration.keysMax = 2
        var cluster = FakeCluster(configuration)
        #expect(cluster.submit(locked("one"), key: "1") != nil)
        #expect(cluster.submit(locked("two"), key: "2") != nil)
        guard case .failed(.refused(let message, _))? = submit(&cluster, locked("three"), key: "3") else {
            Issue.record("it was not refused")
            return
        }
        #expect(message.hasPrefix("2 keys of locks and rate limits are known, 1 more would exceed the limit of 2 (keys); "))
        #expect(cluster.submit(locked("two"), key: "4") != nil)
        try cluster.restart()
        guard case .failed(.refused)? = submit(&cluster, locked("three"), key: "3") else {
            Issue.record("it was not refused after a restart")
            return
        }
    }

    @Test func keysOfRateLimits_count_andSoDoThoseOfWhatIsAdded() {
        func limited(_ key: String) -> Sketch {
            .op("a").having { $0.conditions = [Condition(.rateLimit(RateLimit(key: key, count: 1, perMilliseconds: 1_000)))] }
        }
        var configuration = Scheduler.Configuration()
        configuration.keysMax = 2
        var cluster = FakeCluster(configuration)
        cluster.attach(1, slots: 8)
        #expect(cluster.submit(Sketch.group("root", [limited("one")]).graph(), key: "1") != nil)
        #expect(cluster.submit(Sketch.group("root", [limited("two"), .op("b")]).graph(), key: "2") != nil)
        cluster.advance(10)
        guard case .failed(.refused(let message, _))? = submit(&cluster, Sketch.group("root", [limited("three")]).graph(), key: "3") else {
            Issue.record("it was not refused")
            return
        }
        #expect(message.hasPrefix("2 keys of locks and rate limits are known, 1 more would exceed the limit of 2 (keys); "))
        #expect(submit(&cluster, Sketch.group("root", [limited("two")]).graph(), key: "4") != nil)
        let problem = cluster.produce("b", .of(.op("x", exclusive: [Exclusion(key: "four")]), id: "x"))?.problem
        #expect(problem?.contains("would exceed the limit of 2 (keys)") == true, "\(problem ?? "taken")")
    }

    /// Nothing has started under it, and under a negated one nothing ever counts.
    @Test(arguments: [false, true]) func keyOfARateLimit_countsFromWhenItIsNamed(isNegated: Bool) {
        func limited(_ key: String) -> Graph {
            let limit = Condition(.rateLimit(RateLimit(key: key, count: 1, perMilliseconds: 1_000)), isNegated: isNegated)
            return Sketch.group("root", [Sketch.op("a").having { $0.conditions = [limit] }]).graph()
        }
        var configuration = Scheduler.Configuration()
        configuration.keysMax = 1
        var cluster = FakeCluster(configuration)
        #expect(cluster.submit(limited("one"), key: "1") != nil)
        guard case .failed(.refused)? = submit(&cluster, limited("two"), key: "2") else {
            Issue.record("it was not refused")
            return
        }
        #expect(cluster.submit(limited("one"), key: "3") != nil)
    }

    @Test func followsBeyondTheLimit_areBusy() {
        var configuration = Scheduler.Configuration()
        configuration.followsPerPeerMax = 1
        var cluster = FakeCluster(configuration)
        let graph = Sketch.group("root", [.op("a")]).graph()
        let (one, other) = (cluster.submit(graph, key: "1") ?? "none", cluster.submit(graph, key: "2") ?? "none")
        guard case .following? = cluster.ask(.follow(submission: one)),
            case .following? = cluster.ask(.follow(submission: one, .everything)),
            case .failed(.busy(let text))? = cluster.ask(.follow(submission: other))
        else {
            Issue.record("the limit does not hold")
            return
        }
        #expect(text.contains("follows 1 submissions (followsPerPeer)"))
        _ = cluster.ask(.unfollow(submission: one))
        guard case .following? = cluster.ask(.follow(submission: other)) else {
            Issue.record("there is room again, and it is not used")
            return
        }
        guard case .failed(.busy)? = cluster.ask(.follow(submission: one)) else {
            Issue.record("the limit does not hold any more")
            return
        }
        for id in [other, one] { _ = cluster.ask(.cancel(submission: id, path: "", reason: "", now: true)) }
        guard case .following? = cluster.ask(.follow(submission: other)), case .following? = cluster.ask(.follow(submission: one)) else {
            Issue.record("what has ended takes room")
            return
        }
    }
}
