import Testing

@testable import Scheduling

/// What is shown of attempts that did not count.
@Suite struct EarlierAttemptTests {
    private func earlier(_ path: String, _ cluster: inout FakeCluster) -> [EarlierAttemptView] {
        cluster.operations().first { $0.path == path }?.earlierAttempts ?? []
    }

    @Test func failures_thatAreTriedAgain_areShown_alsoAfterARestart() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 2)]).graph())
        cluster.advance(1_000)
        cluster.end("a", failure("no"), lasting: 400, heardAfter: 100)
        let at = cluster.now.wall
        let first = EarlierAttemptView(number: 1, worker: "h/1", startedAt: at - 500, finishedAt: at - 100, ending: .failed, text: "no")
        #expect(cluster.state("a") == .retrying)
        #expect(earlier("a", &cluster) == [first])
        try cluster.restart()
        cluster.attach(1)
        #expect(earlier("a", &cluster) == [first])
        cluster.advance(60_000)
        cluster.end("a", lasting: 10)
        #expect(cluster.state("a") == .succeeded)
        #expect(earlier("a", &cluster) == [first], "the one that counts is not among them")
    }

    @Test func attemptsThatWereLost_areShown_ifTheyHadBegun() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        let began = cluster.now.wall
        cluster.advance(500)
        cluster.die(1)
        let lost = EarlierAttemptView(
            number: 1, worker: "h/1", startedAt: began, finishedAt: began + 500, ending: .lost, text: "the worker's process died under it")
        #expect(earlier("a", &cluster) == [lost])
        // Nobody has said that this one began.
        cluster.attach(2)
        #expect(cluster.holds("a"))
        cluster.die(2, crashed: false)
        #expect(earlier("a", &cluster) == [lost])
        try cluster.restart()
        cluster.attach(3)
        cluster.end("a", on: 3)
        #expect(cluster.state("a") == .succeeded && earlier("a", &cluster) == [lost])
    }

    @Test func whatSucceededInAGroupThatIsTriedAgain_isShown() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.ordered("g", [.op("a"), .op("b")], retries: 1)]).graph())
        cluster.end("g/a", lasting: 5)
        let ended = cluster.now.wall
        cluster.end("g/b", failure("no"), lasting: 5)
        cluster.advance(60_000)
        let again = [
            EarlierAttemptView(
                number: 1, worker: "h/1", startedAt: ended - 5, finishedAt: ended, ending: .succeeded, wasEnd: true, text: "")
        ]
        try cluster.restart()
        cluster.attach(1, slots: 2)
        #expect(earlier("g/a", &cluster) == again)
        #expect(earlier("g/b", &cluster).map(\.ending) == [.failed] && earlier("g/b", &cluster).map(\.wasEnd) == [true])
        cluster.end("g/a", lasting: 5)
        cluster.end("g/b", lasting: 5)
        #expect(cluster.view()?.state == .succeeded && earlier("g/a", &cluster) == again)
    }

    /// It fails, and is stopped with its group while it waits for its next attempt; then the group is tried again.
    @Test func failureBeforeAnEndWithoutAnotherAttempt_staysKnown() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(
            Sketch.group("root", [.group("g", [.op("a", retries: 5), .op("b")], stop: true, retries: 1)]).graph())
        cluster.end("g/a", failure("boom"), lasting: 5)
        let failedAt = cluster.now.wall
        cluster.advance(10)
        cluster.end("g/b", failure("no"), lasting: 5)
        let endedAt = cluster.now.wall
        cluster.advance(60_000)
        try cluster.restart()
        cluster.attach(1, slots: 2)
        let told = earlier("g/a", &cluster)
        #expect(told.map { "\($0.number) \($0.ending) \($0.wasEnd) \($0.text)" } == ["1 failed false boom", "1 cancelled true "])
        #expect(told.map(\.startedAt) == [failedAt - 5, endedAt] && told.map(\.finishedAt) == [failedAt, endedAt])
    }

    @Test func attemptsOfEarlierLayouts_areReadAsTheyWere() throws {
        let attempts = [EarlierAttempt.Ending.succeeded, .failed, .cancelled, .lost].map { ending in
            EarlierAttempt(number: 1, worker: WorkerNumber(1), startedAt: 0, endedAt: 0, ending: ending, wasEnd: false, text: "")
        }
        var writer = ByteWriter()
        writer.write(earlierAttempts: attempts)
        var reader = ByteReader(writer.bytes[...])
        #expect(try reader.earlierAttempts() == attempts)
        // They had the ending alone in that byte.
        var old = ByteReader(writer.bytes.map { $0 & 0x80 == 0 ? $0 : $0 & 0x3f }[...])
        #expect(try old.earlierAttempts().map(\.wasEnd) == [true, false, true, false])
    }

    @Test func ofMany_theLastOnesAreKept() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 30)]).graph())
        for _ in 0..<25 {
            cluster.end("a", failure("no \(String(repeating: "x", count: 400))"), lasting: 1)
            cluster.advance(120_000)
        }
        #expect(earlier("a", &cluster).map(\.number) == Array(6...25))
        #expect(earlier("a", &cluster).allSatisfy { $0.text.count == 200 })
    }

    @Test func whatWasCancelled_andLostWithItsWorker_isShownAsCancelled() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        cluster.advance(100)
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "enough", now: false))
        cluster.die(1, crashed: false)
        #expect(cluster.state("a") == .cancelled)
        #expect(earlier("a", &cluster).map { "\($0.ending) \($0.text)" } == ["cancelled cancelled: enough"])
    }
}
