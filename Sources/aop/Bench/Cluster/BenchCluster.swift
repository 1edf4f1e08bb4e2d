import Cluster
import Foundation
import Settings
import Wire

/// A coordinator with its journal on disk, and a worker host with one executor: processes of their own, over TCP.
struct BenchCluster: Sendable {
    private let directory: PrivateDirectory
    private let coordinator: ChildProcess
    private let worker: ChildProcess
    let connection: ClusterConnection
    let meter: ProcessMeter

    /// Starts them, and returns when operations can run.
    ///
    /// - Parameters:
    ///   - data: where the journal is made, in a directory of its own; nil: where temporary files are.
    ///   - onMessage: what the processes say.
    static func start(
        slots: Int, data: String?, logLevel: String, onMessage: @escaping @Sendable (String) -> Void
    ) async throws -> BenchCluster {
        let directory = try PrivateDirectory(in: data)
        // The cookie of these processes alone is in there.
        let environment = ["XDG_STATE_HOME": directory.path]
        let coordinator = ChildProcess(
            name: "coordinator",
            arguments: [
                "coordinator", "--listen", "tcp://127.0.0.1:0", "--no-http", "--data", "\(directory.path)/data",
                "--private-directory", directory.path, "--log-level", logLevel,
            ] + Settings.arguments, environment: environment, onMessage: onMessage)
        guard let endpoint = try await CoordinatorAnnouncement.of(coordinator)?.listen.first else {
            let how = await coordinator.end()
            try PrivateDirectory.remove(directory.path)
            throw ToolError(.toolError, "bench", "the coordinator of the benchmark \(how); its messages are above")
        }
        let worker = ChildProcess(
            name: "worker",
            arguments: [
                "worker", "--connect", endpoint, "--processes", "1", "--slots", "\(slots)", "--lifeline", "--shell", "on", "--grace", "0s",
                "--log-level", logLevel,
            ] + Settings.arguments, environment: environment, onMessage: onMessage)
        do {
            let cookie = try Cookie.loadOrCreate(directory: StateDirectory.path(environment: environment))
            let connection = try await ClusterConnection.connect(to: try Endpoint(endpoint), cookie: cookie)
            // Until its operations are known: the meter wants all processes.
            while try await connection.workers().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            return BenchCluster(
                directory: directory, coordinator: coordinator, worker: worker, connection: connection, meter: try ProcessMeter())
        } catch {
            await worker.stop()
            await coordinator.stop()
            try PrivateDirectory.remove(directory.path)
            throw error
        }
    }

    /// Where this cluster's journal is.
    var path: String { directory.path }

    /// Ends the processes, and removes what they left.
    func stop() async throws {
        await connection.close()
        await worker.stop()
        await coordinator.stop()
        try PrivateDirectory.remove(directory.path)
    }
}
