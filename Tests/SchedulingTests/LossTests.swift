import Scheduling
import Testing

/// What is told of attempts that were lost with their workers.
@Suite struct LossTests {
    private func losses(_ cluster: inout FakeCluster) -> [String] {
        cluster.operations().filter { $0.path == "a" }.flatMap(\.history).filter { $0.event == .lost }.map(\.text)
    }

    @Test func lostAttempts_areTold_withWorkerAndCause_theLastOnesOnly_alsoAfterARestart() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        #expect(losses(&cluster) == [])
        cluster.attach(1)
        #expect(losses(&cluster) == ["attempt 1 on h/1: its worker came back without it"])
        for _ in 0..<24 { cluster.attach(1) }
        let last = losses(&cluster)
        #expect(last.count == 20 && last.last == "attempt 25 on h/1: its worker came back without it")
        #expect(last.first == "attempt 6 on h/1: its worker came back without it")
        try cluster.restart()
        #expect(losses(&cluster) == last)
    }

    @Test func workerThatIsNotHeard_isTheCause_andStoppingTheNextAttemptKeepsThat() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.advance(cluster.configuration.leaseMilliseconds + 1, hearing: false)
        #expect(losses(&cluster) == ["attempt 1 on h/1: its worker was not heard for its lease"])
        cluster.attach(2)
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        let events = cluster.operations().filter { $0.path == "a" }.flatMap(\.history).map(\.event)
        #expect(events == [.lost, .requested])
    }

    /// Its messages were delayed for so long that its lease was over: they are answered, and it counts its lock lease from that.
    @Test func lockLease_countsFromWhatWasHeardLast_alsoAfterTheLease_andAHelloIsWanted() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", exclusive: [Exclusion(key: "db")])]).graph())
        cluster.begin("a")
        let peer = try #require(cluster.peers[1])
        let (lease, lockLease) = (cluster.configuration.leaseMilliseconds, cluster.configuration.lockLeaseMilliseconds)
        cluster.advance(lease + 1, hearing: false)
        cluster.step([.heard(peer)])
        #expect(cluster.sends.count { $0.to == peer && $0.message.isHelloWanted } == 1)
        cluster.advance(lockLease - 1, hearing: false)
        #expect(losses(&cluster) == [])
        cluster.advance(1, hearing: false)
        #expect(losses(&cluster).count == 1)
        // A connection that has gone says nothing any more.
        cluster.step([.disconnected(peer), .heard(peer)])
        #expect(!cluster.sends.contains { $0.message.isHelloWanted })
    }

    /// What it says was so before what was given out on the newer connection: else that would be taken for lost, and run twice.
    @Test func helloThatComesLate_ofAnEarlierConnection_isRefused_andChangesNothing() {
        var cluster = FakeCluster()
        cluster.attach(1, connection: 2)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let (peer, count) = (cluster.peers[1], cluster.journal.count)
        cluster.attach(1, connection: 1)
        #expect(cluster.sends.map(\.message.isSuperseded) == [true] && cluster.sends.first?.to != peer)
        #expect(cluster.journal.count == count)
        #expect(losses(&cluster) == [])
        // The next one of that process is taken again.
        cluster.attach(1, connection: 3)
        #expect(losses(&cluster) == ["attempt 1 on h/1: its worker came back without it"])
    }
}

extension Message {
    fileprivate var isSuperseded: Bool { if case .superseded = self { true } else { false } }
    fileprivate var isHelloWanted: Bool { if case .helloWanted = self { true } else { false } }
}
