import Scheduling
import Testing

/// A disk without room for more.
@Suite struct DiskReserveTests {
    private let graph = Sketch.group("root", [.op("a")]).graph()

    @Test func newSubmissions_areBusy_whatWasAdmittedGoesOn_andAResendIsAnswered() throws {
        var cluster = FakeCluster()
        let first = cluster.submit(graph, key: "first")
        cluster.step([.diskFilled("no room")])
        guard
            case .failed(.busy("no room"))? = cluster.ask(
                .submit(key: "second", name: "", graph: ExaminedGraph(graph), waitForWorkers: true))
        else {
            Issue.record("it was not busy")
            return
        }
        guard
            case .submitted(let id, existing: true)? = cluster.ask(
                .submit(key: "first", name: "", graph: ExaminedGraph(graph), waitForWorkers: true))
        else {
            Issue.record("the resend was not answered")
            return
        }
        #expect(id == first)
        cluster.attach(1)
        cluster.drain()
        let view = cluster.view()
        #expect(view?.state == .succeeded)
        cluster.step([.diskFilled(nil)])
        #expect(cluster.submit(graph, key: "second") != nil)
    }
}
