import Testing

@testable import Scheduling

/// What is told of failures that were tried again, where no attempt of a worker has failed: by conditions, and of groups.
@Suite struct EarlierFailureTests {
    private static let backoff = Backoff(kind: .constant, initialMilliseconds: 50, jitterPermille: 0)

    private func gated(_ id: String, retries: Int = 0) -> Sketch {
        Sketch.op(id, retries: retries).having {
            $0.conditions = [Condition(.probe(Probe(type: "probe", parameters: 0)))]
            $0.backoff = Self.backoff
        }
    }

    private func cluster(_ sketches: Sketch...) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", sketches).graph())
        return cluster
    }

    private func refuse(_ path: String, _ reason: String, _ cluster: inout FakeCluster) {
        cluster.end(path, .answers([ConditionAnswer(condition: 0, finding: .failed, reason: reason)]))
    }

    private func events(_ event: String, _ path: String, _ cluster: inout FakeCluster) -> [ExplainedEvent] {
        cluster.explain(path)?.history.filter { $0.event == event } ?? []
    }

    private func failures(_ path: String, _ cluster: inout FakeCluster) -> [String] { events("failed", path, &cluster).map(\.text) }

    // MARK: Conditions

    @Test func whatFailsByACondition_andIsTriedAgain_isToldWithTimeAndReason_alsoAfterARestart() throws {
        var cluster = cluster(gated("a", retries: 1))
        cluster.advance(10)
        refuse("a", "no 1", &cluster)
        let first = ExplainedEvent(at: cluster.now.wall, event: "failed", text: "failed before it began: probe: no 1")
        #expect(cluster.state("a") == .retrying)
        #expect(events("failed", "a", &cluster) == [first])
        try cluster.restart()
        cluster.attach(1, slots: 4)
        #expect(events("failed", "a", &cluster) == [first])
        cluster.advance(1_000)
        refuse("a", "no 2", &cluster)
        #expect(cluster.state("a") == .failed)
        #expect(events("failed", "a", &cluster) == [first], "the last one is its end")
        #expect(cluster.explain("a")?.history.last?.text == "failed: no 2")
        #expect(cluster.operations().first { $0.path == "a" }?.earlierAttempts == [], "nothing has run")
    }

    /// Since when it could have begun is still known when it waits for another try.
    @Test func firstTimeInTheQueue_stays_whenItIsTriedAgain() {
        var cluster = cluster(gated("a", retries: 3))
        let submitted = cluster.now.wall
        for number in 1...3 {
            cluster.advance(200)
            refuse("a", "no \(number)", &cluster)
        }
        let queued = events("queued", "a", &cluster)
        #expect(queued.count == 2 && queued.first?.at == submitted, "\(queued)")
        #expect(queued.last?.at ?? 0 > submitted && queued.last?.text.hasSuffix(", again") == true, "\(queued)")
    }

    @Test func ofMany_theLastAreKept_andTheOthersCounted() {
        var cluster = cluster(gated("a", retries: 30))
        for number in 1...25 {
            refuse("a", "no \(number)", &cluster)
            cluster.advance(100)
        }
        let texts = failures("a", &cluster)
        #expect(texts.count == 11 && texts.first == "and 15 more attempts failed before", "\(texts)")
        #expect(texts.last == "failed before it began: probe: no 25", "\(texts)")
        let kept = cluster.scheduler.durable.submissions[0].earlierFailures[1]
        #expect(kept?.count == 25 && kept?.last.count == 20 && kept?.last.first?.text == "probe: no 6")
    }

    /// The failure of a condition is none of the attempt before it.
    @Test func attemptsAndConditionsThatFail_areToldInTheirOrder() throws {
        var cluster = cluster(gated("a", retries: 4))
        cluster.end("a")
        cluster.advance(5)
        cluster.end("a", failure("broken"), lasting: 5)
        cluster.advance(100)
        refuse("a", "no", &cluster)
        let told = ["attempt 1 on h/1 failed: broken", "failed before it began: probe: no"]
        #expect(cluster.state("a") == .retrying)
        #expect(failures("a", &cluster) == told)
        #expect(events("started", "a", &cluster).map(\.text) == ["attempt 1 began on h/1"])
        cluster.advance(100)
        cluster.end("a")
        cluster.end("a", lasting: 1)
        #expect(cluster.state("a") == .succeeded)
        #expect(failures("a", &cluster) == told)
    }

    @Test func whatFailedByItsCondition_isTold_whenItsGroupBeginsAnew() {
        var cluster = cluster(Sketch.group("g", [gated("a")], retries: 1).having { $0.backoff = Self.backoff })
        refuse("g/a", "no", &cluster)
        let at = cluster.now.wall
        cluster.advance(100)
        #expect(cluster.state("g/a") == .evaluating)
        #expect(
            events("failed", "g/a", &cluster) == [ExplainedEvent(at: at, event: "failed", text: "failed before it began: probe: no")])
    }

    @Test func whatFailedByItsCondition_isTold_whenItsDeliveryNetBeginsAnew() {
        let tail = Sketch.op("tail", receives: ["a"], retries: 1).having {
            $0.retriesNet = true
            $0.backoff = Self.backoff
        }
        var cluster = cluster(gated("a"), tail)
        refuse("a", "no", &cluster)
        let at = cluster.now.wall
        cluster.advance(20)
        cluster.end("tail", failure("nothing came"))
        cluster.advance(100)
        #expect(cluster.state("a") == .evaluating)
        #expect(events("failed", "a", &cluster) == [ExplainedEvent(at: at, event: "failed", text: "failed before it began: probe: no")])
    }

    // MARK: Groups

    @Test func failedAttemptOfAGroup_isToldWithItsTime_whileItWaits_andWhenTheNextHasBegun() throws {
        var cluster = cluster(Sketch.group("g", [.op("x"), .op("y")], retries: 1).having { $0.backoff = Self.backoff })
        cluster.end("g/x")
        cluster.advance(30)
        cluster.end("g/y", failure("no"))
        let first = ExplainedEvent(at: cluster.now.wall, event: "failed", text: "attempt 1 failed: g/y: no")
        #expect(cluster.state("g") == .retrying)
        #expect(events("failed", "g", &cluster) == [first])
        #expect(events("started", "g", &cluster).map(\.text) == ["its members may begin"])
        try cluster.restart()
        cluster.attach(1, slots: 4)
        cluster.advance(100)
        #expect(cluster.state("g") == .running)
        #expect(events("failed", "g", &cluster) == [first])
        #expect(events("started", "g", &cluster).map(\.text) == ["attempt 2: its members may begin"])
    }

    @Test func groupThatFailsByItsCondition_andIsTriedAgain_hasNotBegun() {
        let group = Sketch.group("g", [.op("x")], after: ["a"], retries: 1).having {
            $0.conditions = [Condition(.noFailedDependencies)]
            $0.backoff = Self.backoff
        }
        var cluster = cluster(.op("a"), group)
        cluster.end("a", failure("no"))
        #expect(cluster.state("g") == .retrying)
        let told = ["failed before it began: NoFailedDependencies: not all dependencies succeeded; failed: a"]
        #expect(failures("g", &cluster) == told)
        cluster.advance(100)
        #expect(cluster.state("g") == .failed && failures("g", &cluster) == told)
    }

    // MARK: Snapshots

    /// Nothing is written of them where there are none.
    @Test func snapshotsOfTheEleventhLayout_areRead() throws {
        var cluster = cluster(gated("a", retries: 1), .op("b"))
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "enough", now: false))
        var scheduler = Scheduler(cluster.configuration)
        for fact in cluster.journal.ofTheFirstRules { try scheduler.restore(fact) }
        var sections: [[UInt8]] = []
        scheduler.writeSnapshot { sections.append($0) }
        #expect(sections[0][0] == 15)
        let eleventh = [sections[0].ofLayout(11)] + sections.dropFirst()
        var restored = Scheduler(cluster.configuration)
        for section in eleventh { try restored.restore(section: section[...]) }
        var again: [[UInt8]] = []
        restored.writeSnapshot { again.append($0) }
        #expect(again == sections)
    }
}
