import AOperation
import Cluster
import ClusterTesting
import GraphFile
import Testing

/// `ClusterConnection.run`: a graph handed in, waited for and read.
@Suite struct ConnectionRunTests {
    private static let faults: [[InMemoryCluster.Fault]] = [
        [], [.coordinatorCrash(every: 2)], [.coordinatorCrash(every: 3), .workerCrash(every: 20)],
    ]

    @Test(arguments: faults)
    func everyValueIsThere_andEveryOperationOnce_alsoUnderCrashes(faults: [InMemoryCluster.Fault]) async throws {
        for seed in 1...8 as ClosedRange<UInt64> {
            let cluster = try InMemoryCluster(workers: 2, seed: seed, faults: faults)
            try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
            let naps = (0..<30).map { "{\"id\": \"n\($0)\", \"op\": \"Nap\", \"with\": {\"text\": \"v\($0)\", \"seconds\": 1}}" }
            let graph = try GraphFileLoader.load(text: "{\"group\": [\(naps.joined(separator: ","))]}", file: "naps").graph
            for _ in 0..<3 {
                let result = try await cluster.queue.connection.run(graph)
                #expect(result.submission.state == .succeeded, "seed \(seed)")
                let members = result.operations.depthFirst().dropFirst()
                #expect(members.map(\.view.path) == (0..<30).map { "n\($0)" }, "seed \(seed)")
                #expect(members.allSatisfy { $0.view.state == .succeeded && $0.view.hasValue }, "seed \(seed)")
            }
            await cluster.queue.close()
        }
    }

    @Test func graphThatIsRefused_isAnError_andNothingWaits() async throws {
        let cluster = try InMemoryCluster()
        let graph = try GraphFileLoader.load(text: "{\"group\": [{\"op\": \"nobodyKnows\"}]}", file: "unknown").graph
        await #expect(throws: ClusterError.self) { try await cluster.queue.connection.run(graph) }
        await cluster.queue.close()
    }
}
