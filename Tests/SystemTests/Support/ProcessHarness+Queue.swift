import Cluster
import Foundation
import Wire

/// A cluster that runs the trial operations, and a queue to it.
extension ProcessHarness {
    func startTrialWorker(slots: Int = 8) -> RunningProcess {
        start(BuiltProducts.trialWorker, ["--connect", endpoint, "--slots", "\(slots)"])
    }

    /// As a program of this user connects.
    func connect() async throws -> ClusterQueue {
        let cookie = try Cookie.loadOrCreate(directory: StateDirectory.path(environment: environment))
        return ClusterQueue(try await ClusterConnection.connect(to: try Endpoint(endpoint), cookie: cookie, connectTimeout: .seconds(60)))
    }

    /// A queue to a coordinator with a worker that has registered its operations.
    func trialCluster(slots: Int = 8) async throws -> ClusterQueue {
        _ = try await startCoordinator()
        _ = startTrialWorker(slots: slots)
        _ = try await waitForExecutors(1)
        return try await connect()
    }
}
