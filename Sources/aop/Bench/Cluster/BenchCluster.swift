import Cluster
import Foundation
import Settings
import Wire

/// A coordinator with its journal on disk, and a worker host: processes of their own, over TCP.
struct BenchCluster: Sendable {
    /// How its processes are started.
    struct Options: Sendable {
        /// Where journals are made, in a directory of their own; nil: where temporary files are.
        let data: String?
        /// Whether its processes prove who they are with keys, and encrypt what they say.
        let curve: Bool
        let logLevel: String
        /// What the processes say.
        let onMessage: @Sendable (String) -> Void
    }

    private let directory: PrivateDirectory
    private let options: Options
    private let endpoint: Endpoint
    private var coordinator: ChildProcess
    private let worker: ChildProcess
    let connection: ClusterConnection
    private(set) var meter: ProcessMeter

    /// Starts them, and returns when operations can run.
    static func start(processes: Int, slots: Int, _ options: Options) async throws -> BenchCluster {
        let directory = try PrivateDirectory(in: options.data)
        let (coordinator, endpoint): (ChildProcess, Endpoint)
        do {
            if options.curve { _ = try InitialKeys.make(in: keys(directory)) }
            (coordinator, endpoint) = try await startCoordinator(directory, listen: "tcp://127.0.0.1:0", options)
        } catch {
            try PrivateDirectory.remove(directory.path)
            throw error
        }
        let worker = ChildProcess(
            name: "worker",
            arguments: [
                "worker", "--connect", endpoint.description, "--processes", "\(processes)", "--slots", "\(slots)", "--lifeline", "--shell",
                "on",
                "--grace", "0s", "--log-level", options.logLevel,
            ] + keyArguments(directory, options) + Settings.arguments, environment: environment(directory), onMessage: options.onMessage)
        do {
            let cookie = try Cookie.loadOrCreate(directory: StateDirectory.path(environment: environment(directory)))
            let key = options.curve ? try KeyChoice.directory(keys(directory)).key(for: endpoint, names: KeyDirectory.clientFiles) : nil
            let connection = try await ClusterConnection.connect(to: endpoint, cookie: cookie, key: key)
            // Until its operations are known: the meter wants all processes.
            while try await connection.workers().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            return BenchCluster(
                directory: directory, options: options, endpoint: endpoint, coordinator: coordinator, worker: worker,
                connection: connection, meter: try ProcessMeter())
        } catch {
            await worker.stop()
            await coordinator.stop()
            try PrivateDirectory.remove(directory.path)
            throw error
        }
    }

    /// - Parameter listen: a port of 0 is one that is free.
    /// - Returns: where it listens.
    private static func startCoordinator(
        _ directory: PrivateDirectory, listen: String, _ options: Options
    ) async throws -> (ChildProcess, Endpoint) {
        let coordinator = ChildProcess(
            name: "coordinator",
            arguments: [
                "coordinator", "--listen", listen, "--no-http", "--data", "\(directory.path)/data",
                "--private-directory", directory.path, "--log-level", options.logLevel,
            ] + keyArguments(directory, options) + Settings.arguments, environment: environment(directory), onMessage: options.onMessage)
        guard let endpoint = try await CoordinatorAnnouncement.of(coordinator)?.listen.first else {
            let how = await coordinator.end()
            throw ToolError(.toolError, "bench", "the coordinator of the benchmark \(how); its messages are above")
        }
        return (coordinator, try Endpoint(endpoint))
    }

    private static func keys(_ directory: PrivateDirectory) -> String { "\(directory.path)/keys" }

    private static func keyArguments(_ directory: PrivateDirectory, _ options: Options) -> [String] {
        options.curve ? ["--keys", keys(directory)] : []
    }

    /// The cookie of these processes alone is in there.
    private static func environment(_ directory: PrivateDirectory) -> [String: String] { ["XDG_STATE_HOME": directory.path] }

    /// Where this cluster's journal is.
    var path: String { directory.path }

    /// Kills the coordinator, and starts another one on the same data and address.
    mutating func restartCoordinator() async throws {
        let last = meter.read()
        await coordinator.kill()
        (coordinator, _) = try await Self.startCoordinator(directory, listen: endpoint.description, options)
        meter = try meter.continued(after: last)
    }

    /// Ends the processes, and removes what they left.
    func stop() async throws {
        await connection.close()
        await worker.stop()
        await coordinator.stop()
        try PrivateDirectory.remove(directory.path)
    }
}
