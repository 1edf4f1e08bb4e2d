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
