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
}
