import Testing

@testable import Scheduling

/// How long a unit waits for another attempt, and for which failures there is one.
@Suite struct RetryPolicyTests {
    @Test(arguments: [
        (Backoff.Kind.constant, [100, 100, 100, 100, 100, 100]), (.linear, [100, 200, 300, 400, 500, 600]),
        (.exponential, [100, 200, 400, 800, 1_000, 1_000]), (.fibonacci, [100, 100, 200, 300, 500, 800]),
    ])
    func backoff_growsByItsKind_upToItsLongest(kind: Backoff.Kind, waits: [Int64]) {
        let backoff = Backoff(kind: kind, initialMilliseconds: 100, maxMilliseconds: 1_000, jitterPermille: 0)
        #expect((1...6).map { backoff.delayMilliseconds(of: UnitID(SubmissionNumber(1), 1), failedAttempts: $0) } == waits)
        #expect(backoff.delayMilliseconds(of: UnitID(SubmissionNumber(1), 1), failedAttempts: 1_000_000) <= 1_000)
    }

    @Test(arguments: [(1_000, [100, 100, 100]), (1_500, [100, 150, 225]), (3_000, [100, 300, 900]), (1_000_000, [100, 1_000, 1_000])])
    func exponentialBackoff_growsByItsFactor(factor: Int, waits: [Int64]) {
        let backoff = Backoff(initialMilliseconds: 100, maxMilliseconds: 1_000, jitterPermille: 0, factorPermille: factor)
        #expect((1...3).map { backoff.delayMilliseconds(of: UnitID(SubmissionNumber(1), 1), failedAttempts: $0) } == waits)
        #expect(backoff.delayMilliseconds(of: UnitID(SubmissionNumber(1), 1), failedAttempts: .max) <= 1_000)
    }

    @Test func jitter_shortensTheWaitByItsShare_andIsTheSameEachTime() {
        let backoff = Backoff(kind: .constant, initialMilliseconds: 1_000, maxMilliseconds: 1_000, jitterPermille: 250)
        let waits = (1...200).map { backoff.delayMilliseconds(of: UnitID(SubmissionNumber(1), $0), failedAttempts: 1) }
        #expect(waits == (1...200).map { backoff.delayMilliseconds(of: UnitID(SubmissionNumber(1), $0), failedAttempts: 1) })
        #expect(waits.allSatisfy { (750...1_000).contains($0) } && Set(waits).count > 100)
    }

    @Test func failureNotNamed_endsTheUnitAtOnce() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group("root", [.op("a", retries: 5).trying([.exitCode(75)]), .op("b", retries: 5).trying([.exitCode(75)])]).graph())
        cluster.end("a", exit(75))
        cluster.end("b", exit(1))
        #expect(cluster.state("a") == .retrying)
        #expect(cluster.state("b") == .failed)
    }

    @Test(arguments: [RetryReason.error("signal"), .error("Oops"), .signal(9), .exitCode(7)])
    func everyKindOfReason_isFound(reason: RetryReason) {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 1).trying([.error("limit"), reason])]).graph())
        cluster.end("a", .failure([Failure(code: .signal, message: "", typeName: "Oops", exitCode: 7, signal: 9)]))
        #expect(cluster.state("a") == .retrying)
    }

    @Test func timeouts_areTriedAgain_ifNamed() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .group("g", [.op("a")], retries: 1, timeout: 1_000).trying([.error("timeout")]),
                    .group("h", [.op("b")], retries: 1, timeout: 1_000).trying([.error("exit")]),
                ]
            ).graph())
        cluster.advance(1_000)
        for path in ["g/a", "h/b"] { cluster.end(path, .stopped) }
        #expect(cluster.state("g") == .retrying)
        #expect(cluster.state("h") == .failed)
    }

    @Test func group_goesByTheFirstFailureOfItsMembers() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .group("g", [.op("a"), .op("b")], retries: 1).trying([.exitCode(75)]),
                    .group("h", [.op("a"), .op("b")], retries: 1).trying([.exitCode(75)]),
                ]
            ).graph())
        cluster.end("g/b", exit(1))
        cluster.end("g/a", exit(75))
        cluster.end("h/b", exit(75))
        cluster.end("h/a", exit(1))
        #expect(cluster.state("g") == .retrying)
        #expect(cluster.state("h") == .failed)
        let group = cluster.operations().first { $0.path == "g" }
        #expect(group?.lastFailure?.exitCode == 75 && group?.lastFailure?.origin == "g/a")
    }

    @Test func waitingForAnotherAttempt_showsWhen_andWhyTheLastFailed_alsoAfterARestart() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let sketch = Sketch.op("a", retries: 1).having {
            $0.backoff = Backoff(kind: .constant, initialMilliseconds: 5_000, maxMilliseconds: 5_000, jitterPermille: 0)
        }
        cluster.submit(Sketch.group("root", [sketch]).graph())
        let due = cluster.now.wall + 5_000
        cluster.end("a", exit(3))
        func shown(_ cluster: inout FakeCluster) -> OperationView? { cluster.operations().first { $0.path == "a" } }
        #expect(shown(&cluster)?.retryAt == due)
        #expect(shown(&cluster)?.lastFailure?.exitCode == 3)
        try cluster.restart(after: 1_000)
        cluster.attach(2)
        #expect(shown(&cluster)?.retryAt == due)
        #expect(shown(&cluster)?.lastFailure?.exitCode == 3)
        cluster.advance(3_999)
        #expect(cluster.heldPaths == [])
        cluster.advance(1)
        #expect(cluster.heldPaths == ["a"])
        #expect(shown(&cluster)?.retryAt == 0)
        #expect(shown(&cluster)?.lastFailure?.exitCode == 3)
        cluster.end("a")
        #expect(shown(&cluster)?.lastFailure == nil)
    }

    @Test func whatCannotBeKept_isRefused() {
        let graph = Sketch.group(
            "root",
            [
                .op("a").trying([.exitCode(1)]), .op("b", retries: 1).having { $0.backoff.jitterPermille = 1_001 },
                .op("c", retries: 1).having { $0.backoff.initialMilliseconds = -1 },
            ]
        ).graph()
        #expect(
            graph.faults().map(\.message) == [
                "says which failures it is tried again for, but not how often; give `retry` its `attempts`",
                "has a jitter of 1001 thousandths; it must be from 0 to 1000",
                "has a `backoff` of -1 ms; it must be from 0 to 253402300799999",
            ])
    }

    private func exit(_ code: Int32) -> AttemptOutcome { .failure([Failure(code: .exit, message: "exited with \(code)", exitCode: code)]) }
}

extension Sketch {
    fileprivate func trying(_ reasons: [RetryReason]) -> Sketch { having { $0.retryOn = reasons } }
}
