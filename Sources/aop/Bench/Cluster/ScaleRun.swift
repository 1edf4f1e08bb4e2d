import Cluster
import Foundation
import Wire

/// What ``ClusterWorkload/scale`` asks of a cluster: how long it takes to hand in a large graph, what that takes of the coordinator's
/// memory, and how long nothing is heard when the coordinator is killed in the middle of it.
struct ScaleRun: Sendable {
    struct Figures: Sendable {
        /// From the moment in which the graph is sent until it is on the coordinator's disk.
        var admissionSeconds: Double
        /// Of the coordinator's resident memory after that, beside what it was before.
        var bytesPerUnit: Double
        /// From the coordinator's death until another one on the same data has told of an operation that has ended since.
        var restartSeconds: Double
    }

    let graph: WireGraph
    let operations: Int

    /// - Returns: the submission's id, too.
    func measure(on cluster: inout BenchCluster) async throws -> (figures: Figures, id: String) {
        let connection = cluster.connection
        let clock = ContinuousClock()
        let residentBefore = cluster.meter.coordinatorBytes
        var id = ""
        let admission = try await clock.measure { id = try await connection.submit(graph).id }
        // What the admission alone needed is gone by then.
        _ = try await view(of: id, connection) { $0 >= UInt64(operations / 10) }
        let resident = cluster.meter.coordinatorBytes - residentBefore
        _ = try await view(of: id, connection) { $0 >= UInt64(operations / 2) }
        let death = clock.now
        try await cluster.restartCoordinator()
        let recovered = try await connection.show(id).counts.succeeded
        _ = try await view(of: id, connection) { $0 > recovered }
        let restart = clock.now - death
        try await ClusterBenchmark.check(try await connection.outcome(of: id), operations, connection)
        return (
            Figures(
                admissionSeconds: admission / .seconds(1), bytesPerUnit: Double(max(0, resident)) / Double(graph.nodes.count),
                restartSeconds: restart / .seconds(1)), id
        )
    }

    /// Looks until so many have succeeded, or there are no more to come.
    private func view(
        of id: String, _ connection: ClusterConnection, until isEnough: (UInt64) -> Bool
    ) async throws -> WireSubmissionView {
        while true {
            let view = try await connection.show(id)
            if isEnough(view.counts.succeeded) || view.counts.succeeded >= UInt64(operations) { return view }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
