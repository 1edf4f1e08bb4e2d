import Scheduling
import Testing

/// Large graphs are looked at before the scheduler has them: that is to make no difference.
@Suite struct ExaminedGraphTests {
    private struct Admission: Equatable {
        /// The submission's id.
        var id: String?
        var errors: [String]?
        var journal: [Fact]
    }

    private func admit(_ graph: ExaminedGraph, _ configuration: Scheduler.Configuration = .init()) -> Admission {
        var cluster = FakeCluster(configuration)
        let reply = cluster.ask(.submit(key: "k", name: "", graph: graph, waitForWorkers: true))
        var admission = Admission(journal: cluster.journal)
        if case .submitted(let id, _)? = reply { admission.id = id }
        if case .failed(.refused(_, let errors))? = reply { admission.errors = errors.map(\.message) }
        return admission
    }

    @Test(arguments: 0..<100) func graphThatWasExamined_isAdmittedLikeOneThatWasNot(_ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let graph = RandomGraph.make(&random, keys: 2)
        let (plain, examined) = (admit(ExaminedGraph(graph)), admit(ExaminedGraph(examining: graph, by: GraphLimits())))
        #expect(examined == plain)
        // Some wait for each other in a circle.
        #expect((plain.id == nil) == (plain.errors?.isEmpty == false))
    }

    @Test func examinedGraphWithFaults_isRefusedForThem() {
        let graph = Sketch.group("root", [.op("a", after: ["b"]), .op("b", after: ["a"])]).graph()
        let (plain, examined) = (admit(ExaminedGraph(graph)), admit(ExaminedGraph(examining: graph, by: GraphLimits())))
        #expect(plain.errors?.isEmpty == false && examined.errors == plain.errors)
    }

    @Test func graphThatWasExaminedByOtherLimits_isJudgedByThoseOfTheScheduler() {
        var configuration = Scheduler.Configuration()
        configuration.graphLimits.nodesMax = 2
        let graph = Sketch.group("root", [.op("a"), .op("b")]).graph()
        #expect(admit(ExaminedGraph(examining: graph, by: GraphLimits()), configuration).errors?.isEmpty == false)
        #expect(admit(ExaminedGraph(examining: graph, by: configuration.graphLimits)).id != nil)
    }
}
