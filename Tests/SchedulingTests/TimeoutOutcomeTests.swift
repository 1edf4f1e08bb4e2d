import Scheduling
import Testing

/// A timeout decides the outcome when it passes, whatever comes while the body ends.
@Suite struct TimeoutOutcomeTests {
    enum Later: CaseIterable { case cancellation, sibling, deadline, loss }

    private func cluster(retries: Int = 0) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let members = [Sketch.op("a", retries: retries, timeout: 500), .op("b")]
        let group = Sketch.group("g", members, stop: true).having { $0.deadlineMilliseconds = 5_000 }
        cluster.submit(Sketch.group("root", [group]).graph())
        cluster.begin("g/a")
        cluster.begin("g/b")
        return cluster
    }

    private func stop(_ later: Later, _ cluster: inout FakeCluster) {
        switch later {
        case .cancellation: _ = cluster.ask(.cancel(submission: "last", path: "g/a", reason: "", now: false))
        case .sibling: cluster.end("g/b", .failure([Failure(code: .operation, message: "no", typeName: "No")]))
        case .deadline: cluster.advance(5_000)
        case .loss: cluster.die(1)
        }
    }

    private func tellTimeout(_ cluster: inout FakeCluster) throws {
        let (owner, unit) = try #require(cluster.find("g/a", on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([.stopping(peer, unit.unit, unit.attempt, forced: false, at: cluster.now.wall)])
    }

    /// As an executor says it, which knows no paths.
    private let timeout = AttemptOutcome.failure([Failure(code: .timeout, message: "timed out after 0.5 s", typeName: "Timeout")])

    private func codes(_ cluster: inout FakeCluster) -> [FailureCode] {
        cluster.operations().first { $0.path == "g/a" }?.errors.map(\.code) ?? []
    }

    @Test(arguments: Later.allCases) func whatStopsItLater_doesNotChangeThat(later: Later) throws {
        var cluster = cluster()
        cluster.advance(500)
        try tellTimeout(&cluster)
        #expect(cluster.state("g/a") == .stopping)
        try cluster.restart()
        cluster.reattach(1, slots: 4)
        #expect(cluster.state("g/a") == .stopping, "it is known again after a restart")
        stop(later, &cluster)
        if later != .loss { cluster.end("g/a", timeout) }
        #expect(cluster.state("g/a") == .failed)
        #expect(codes(&cluster) == [.timeout])
    }

    @Test func whyItStops_isTold() throws {
        var cluster = cluster()
        cluster.advance(500)
        try tellTimeout(&cluster)
        try tellTimeout(&cluster)
        let stages = try #require(cluster.operations().first { $0.path == "g/a" }?.history)
        #expect(stages.map(\.event) == [.requested, .delivered, .stopping])
        #expect(stages.first?.text == "its timeout passed")
        guard case .stopping(let wait)? = cluster.explain("g/a")?.blockers.first else { return #expect(Bool(false)) }
        #expect(wait.reason == "its timeout passed")
    }

    /// The coordinator puts what happens in order.
    @Test(arguments: [Later.cancellation, .sibling, .deadline]) func aStopThatIsKnownFirst_decides(first: Later) throws {
        var cluster = cluster()
        stop(first, &cluster)
        try tellTimeout(&cluster)
        cluster.end("g/a", timeout)
        #expect(cluster.state("g/a") == .cancelled)
    }

    /// What there might be another attempt by.
    enum Retry: CaseIterable { case own, group, net, submitter }

    /// There might be another attempt after that, which the stop takes away.
    @Test(arguments: Retry.allCases, [Later.cancellation, .sibling, .deadline])
    func ofOneThatMayBeTriedAgain_theStopDecides_andNothingOfItGoesOn(retry: Retry, later: Later) throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.attach(9, isSubmitter: true)
        var a = Sketch.op("a", retries: retry == .own ? 1 : 0, timeout: 500)
        if retry == .submitter { a = a.having { $0.say = SubmitterSay(holds: true, retries: true) } }
        let end: Sketch = retry == .net ? .tail("t", receives: ["a"], retries: 1) : .op("t", after: ["a"])
        let group = Sketch.group("g", [a, .op("b"), end], stop: true, retries: retry == .group ? 1 : 0)
            .having { $0.deadlineMilliseconds = 5_000 }
        cluster.submit(Sketch.group("root", [group]).graph(), submitter: 9)
        cluster.begin("g/a")
        cluster.begin("g/b")
        cluster.advance(500)
        try tellTimeout(&cluster)
        stop(later, &cluster)
        cluster.end("g/a", timeout)
        // What would have had it tried again was stopped before it.
        let isFinal = retry == .net && later != .cancellation
        #expect(cluster.state("g/a") == (isFinal ? .failed : .cancelled))
        #expect(cluster.operations().first { $0.path == "g/a" }?.attempts == 1)
        #expect(!cluster.holds("g/a"))
    }

    @Test func withoutATimeout_anExecutorDoesNotStopAnything() throws {
        var cluster = cluster()
        let (owner, unit) = try #require(cluster.find("g/b", on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([.stopping(peer, unit.unit, unit.attempt, forced: false, at: cluster.now.wall)])
        #expect(cluster.state("g/b") == .running)
    }
}
