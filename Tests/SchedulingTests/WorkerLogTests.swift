import Testing

@testable import Scheduling

/// What happened to workers, as it is told to those who look.
@Suite struct WorkerLogTests {
    private func events(_ cluster: inout FakeCluster, after number: UInt64 = 0) -> (words: [String], last: UInt64) {
        guard case .workerEvents(let events, let last)? = cluster.ask(.workerEvents(after: number)) else {
            Issue.record("the events of workers are not told")
            return ([], 0)
        }
        #expect(events.map(\.number) == events.map(\.number).sorted())
        return (events.map { "\($0.worker) \($0.kind): \($0.text)" }, last)
    }

    @Test func comingAndGoing_isToldOnce_inItsOrder() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.attach(2)
        // Another connection of the same process is no news.
        cluster.attach(1, slots: 4)
        let (first, number) = events(&cluster)
        #expect(first == ["h/1 joined: with 4 slots", "h/2 joined: with 1 slot"])
        cluster.step([.draining(cluster.peers[1] ?? cluster.client), .draining(cluster.peers[1] ?? cluster.client)])
        cluster.depart(1)
        cluster.die(2)
        #expect(
            events(&cluster, after: number).words == [
                "h/1 draining: it is ending, and takes nothing more", "h/1 left: its process has ended", "h/2 lost: its process has died",
            ])
        #expect(events(&cluster, after: events(&cluster).last).words == [])
    }

    @Test func whoIsNotHeard_isLost_andMayBeBack() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.disconnect(1)
        cluster.advance(10_000)
        cluster.reattach(1)
        #expect(
            events(&cluster).words == [
                "h/1 joined: with 1 slot", "h/1 lost: it was not heard for its lease", "h/1 back: it is heard again",
            ])
    }

    @Test func whatOperatorsDo_isToldWithTheirNamesAndReasons() {
        var cluster = FakeCluster()
        cluster.attach(1)
        let number = events(&cluster).last
        _ = cluster.ask(.drainWorker(name: "h/1", reason: "new disks"))
        // It was drained before.
        _ = cluster.ask(.drainWorker(name: "h/1", reason: ""))
        _ = cluster.ask(.resumeWorker(name: "h/1"))
        cluster.depart(1)
        _ = cluster.ask(.removeWorker(name: "h/1"))
        #expect(
            events(&cluster, after: number).words == [
                "h/1 draining: by an operator: new disks", "h/1 resumed: by an operator",
                "h/1 left: its process has ended", "h/1 removed: by an operator",
            ])
    }

    @Test func afterAStart_numbersGoOn_andKnownWorkersAreBack() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        let number = events(&cluster).last
        try cluster.restart(after: 2_000)
        cluster.attach(1)
        cluster.advance(60_000)
        #expect(
            events(&cluster, after: number).words == [
                "h/1 back: after a start of the coordinator", "h/2 lost: it has not come back since the coordinator's start",
            ])
    }

    @Test func revokedKey_isALoss_andSubmittersAreNoWorkers() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(9, isSubmitter: true)
        cluster.revoke(1)
        cluster.depart(9)
        #expect(events(&cluster).words == ["h/1 joined: with 1 slot", "h/1 lost: its key was revoked"])
    }

    @Test func ofMany_theLastOnesAreKept() {
        var log = WorkerLog()
        log.begin(epoch: 3)
        for count in 0..<(WorkerLog.eventsMax + 5) { log.note(.joined, "\(count)", "", at: Int64(count)) }
        #expect(log.events(after: 0).count == WorkerLog.eventsMax && log.events(after: 0).first?.worker == "5")
        #expect(log.events(after: log.last - 2).map(\.worker) == ["1003", "1004"])
        #expect(log.events(after: log.last).isEmpty && log.events(after: .max).isEmpty)
    }
}
