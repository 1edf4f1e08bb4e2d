import Scheduling
import Testing

/// What running operations say of how far they have come.
@Suite struct ProgressTests {
    private func told(_ cluster: FakeCluster) -> [Progress?] {
        cluster.sends.flatMap { send -> [Progress?] in
            if case .events(let batch) = send.message { batch.events.map(\.progress) } else { [] }
        }
    }

    private func progress(_ fraction: Double) -> Progress { Progress(fraction: fraction, message: "m", at: 7) }

    private func report(_ fraction: Double, _ path: String, _ cluster: inout FakeCluster) throws {
        let (owner, unit) = try #require(cluster.find(path, on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([.progressed(peer, unit.unit, unit.attempt, progress(fraction))])
    }

    private func running() -> FakeCluster {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a", retries: 1)]).graph())
        cluster.attach(1)
        cluster.begin("a")
        return cluster
    }

    @Test func progress_isShown_toldOnce_andJournaledNever() throws {
        var cluster = running()
        _ = cluster.ask(.follow(submission: "last"))
        let facts = cluster.journal.count
        try report(0.5, "a", &cluster)
        #expect(told(cluster) == [progress(0.5)])
        try report(0.5, "a", &cluster)
        #expect(told(cluster).isEmpty)
        #expect(cluster.journal.count == facts)
        #expect(cluster.operations().first { $0.path == "a" }?.progress == progress(0.5))
    }

    @Test(arguments: [true, false])
    func progress_endsWithItsAttempt(isLost: Bool) throws {
        var cluster = running()
        try report(0.5, "a", &cluster)
        let (owner, old) = try #require(cluster.find("a", on: nil))
        if isLost {
            cluster.die(owner)
            cluster.attach(2)
        } else {
            cluster.end("a", failure("bad luck"))
            cluster.advance(120_000)
        }
        #expect(cluster.operations().first { $0.path == "a" }?.progress == nil)
        #expect(cluster.holds("a"))
        // What the attempt before says now is of no interest.
        let peer = try #require(cluster.peers[isLost ? 2 : 1])
        cluster.step([.progressed(peer, old.unit, old.attempt, progress(0.9))])
        #expect(cluster.operations().first { $0.path == "a" }?.progress == nil)
    }

    @Test func restart_forgetsProgress_untilItIsSaidAgain() throws {
        var cluster = running()
        try report(0.5, "a", &cluster)
        try cluster.restart()
        cluster.reattach(1)
        #expect(cluster.operations().first { $0.path == "a" }?.progress == nil)
        try report(0.75, "a", &cluster)
        #expect(cluster.operations().first { $0.path == "a" }?.progress == progress(0.75))
    }
}

/// Readers of partial results, as far as the scheduler is asked.
@Suite struct PartialResultPlaceTests {
    @Test func operation_isLocated_withItsNewestAttempt() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a", retries: 1)]).graph())
        func place() -> [Int]? {
            guard
                case .locatedOperation(let unit, _, let attempts, let ended, _)? =
                    cluster.ask(.locateOperation(submission: "last", path: "a"))
            else { return nil }
            return [unit.index, attempts, ended ? 1 : 0]
        }
        #expect(place() == [1, 0, 0])
        cluster.attach(1)
        #expect(place() == [1, 1, 0])
        cluster.end("a", failure("bad luck"))
        #expect(place() == [1, 1, 0])
        cluster.advance(120_000)
        #expect(place() == [1, 2, 0])
        cluster.end("a")
        #expect(place() == [1, 2, 1])
    }

    @Test(arguments: ["", "nothing"])
    func whatSendsNothing_isNotFound(path: String) {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        guard case .failed(.notFound)? = cluster.ask(.locateOperation(submission: "last", path: path)) else {
            Issue.record("\(path) was found")
            return
        }
    }

    @Test func heldBack_isShown_untilItIsTaken_orItsAttemptIsOver() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a", retries: 1)]).graph())
        cluster.attach(1)
        cluster.begin("a")
        func waiting() -> WaitingView? { cluster.operations().first { $0.path == "a" }?.waiting }
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([.heldBack(peer, unit.unit, unit.attempt, reason: "full")])
        #expect(waiting() == WaitingView(kind: .partialResults, text: "full"))
        cluster.step([.heldBack(peer, unit.unit, unit.attempt, reason: nil)])
        #expect(waiting() == nil)
        cluster.step([.heldBack(peer, unit.unit, unit.attempt, reason: "full")])
        cluster.die(owner)
        cluster.attach(2)
        #expect(waiting() == nil)
        cluster.step([.heldBack(peer, unit.unit, unit.attempt, reason: "full")])
        #expect(waiting() == nil)
    }
}
