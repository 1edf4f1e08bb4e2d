import Testing

@testable import Scheduling

@Suite struct WorkerViewTests {
    @Test func workers_areListedByHostAndNumber_notAsTheyCame() {
        var cluster = FakeCluster()
        for executor in [10, 2, 1] { cluster.attach(executor) }
        guard case .workers(let workers)? = cluster.ask(.workers) else {
            Issue.record("no workers are listed")
            return
        }
        #expect(workers.map(\.name) == ["h/1", "h/2", "h/10"])
    }
}
