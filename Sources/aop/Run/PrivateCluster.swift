import Cluster
import Foundation
import Settings
import Wire

/// A coordinator and a worker host for one run, in processes of their own, over ipc in a private directory.
struct PrivateCluster: Sendable {
    struct Options: Sendable {
        var executors: Int
        var slots: Int
        var labels: [String] = []
        /// As flags of a worker.
        var resources: [String] = []
        /// Where secrets are; nil: as the environment says.
        var secrets: String?
        /// Journal and values stay here; nil: they go with the run.
        var data: String?
        /// Where the coordinator serves HTTP; nil: nowhere.
        var http: String?
        var logLevel: String
        var logFormat: String
    }

    private let directory: PrivateDirectory
    private let coordinator: ChildProcess
    private let worker: ChildProcess
    /// Where journal and values stay; nil: they go with the run.
    let keptData: String?

    /// Starts the processes; they find each other whichever is first.
    init(_ options: Options, onMessage: @escaping @Sendable (String) -> Void) throws {
        // Beside the run, which does not wait for it.
        OSThread.detach(name: "aop-abandoned") { for problem in PrivateDirectory.removeAbandoned() { onMessage("warning: \(problem)") } }
        directory = try PrivateDirectory()
        keptData = options.data
        coordinator = ChildProcess(
            name: "coordinator",
            arguments: [
                "coordinator", "--listen", directory.endpoint, "--data", options.data ?? "\(directory.path)/data",
                "--private-directory", directory.path, "--log-level", options.logLevel, "--log-format", options.logFormat,
            ] + (options.http.map { ["--http", $0] } ?? ["--no-http"]) + Settings.arguments, onMessage: onMessage)
        worker = ChildProcess(
            name: "worker",
            arguments: [
                "worker", "--connect", directory.endpoint, "--processes", "\(options.executors)", "--slots", "\(options.slots)",
                "--lifeline", "--shell", "on", "--pass-everything", "--working-directory", FileManager.default.currentDirectoryPath,
                // It is told to end when there is nothing left to finish.
                "--grace", "0s", "--log-level", options.logLevel, "--log-format", options.logFormat,
            ] + options.labels.flatMap { ["--label", $0] } + options.resources.flatMap { ["--resource", $0] }
                + (options.secrets.map { ["--secrets", $0] } ?? []) + Settings.arguments, onMessage: onMessage)
    }

    /// Where clients of this user reach it.
    var endpoint: String { directory.endpoint }

    /// Waits until the coordinator listens.
    func announcement() async throws -> CoordinatorAnnouncement {
        guard let said = try await CoordinatorAnnouncement.of(coordinator) else {
            throw unexpectedEnd(of: coordinator, await coordinator.end())
        }
        return said
    }

    /// A connection to the coordinator, as soon as that listens.
    func connect() async throws -> ClusterConnection {
        _ = try await announcement()
        // Nobody else can enter the directory: there is no cookie.
        return try await ClusterConnection.connect(to: try Endpoint(directory.endpoint))
    }

    /// Waits until one of the processes ends, which none does before it is told to.
    func firstEnd() async -> ToolError {
        // Not a group of tasks, which would wait for the other process as well.
        let (ends, end) = AsyncStream<ToolError>.makeStream()
        for child in [coordinator, worker] { Task { end.yield(unexpectedEnd(of: child, await child.end())) } }
        for await error in ends { return error }
        return ToolError(.interrupted, "interrupted", "interrupted")
    }

    /// Ends the processes, waits until they are gone, and removes what they left.
    func stop() async throws {
        // The worker first: the coordinator is still there to hear its goodbye.
        await worker.stop()
        await coordinator.stop()
        let path = directory.path
        try await OwnThread.run { try PrivateDirectory.remove(path) }
    }

    private func unexpectedEnd(of child: ChildProcess, _ how: String) -> ToolError {
        ToolError(
            .toolError, "privateCluster",
            "the private \(child.name) process \(how) before the work was done; its messages are above, --log-level info shows more")
    }
}
