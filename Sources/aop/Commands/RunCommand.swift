import ArgumentParser
import CLinux
import Cluster
import Foundation
import GraphFile
import Wire
import Worker

struct RunCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a graph on this machine: nothing to set up, nothing left behind.",
        discussion: """
            Starts a private coordinator and worker processes for this graph, shows progress, prints the results, and
            ends them. Commands run in the current directory with the current environment. Ctrl-C cancels the work.

            Examples:
              aop run examples/word-count.yaml
              aop run build.yaml --set target=release --workers 4 -o json
            """)

    static let handlesInterruption = true

    @OptionGroup var graph: GraphOptions
    @Option(help: "Worker processes.")
    var workers: Int = 2
    @Option(help: "Operations that run at once in each worker process. (default: the machine's processors)")
    var slots: Int?
    @Option(help: ArgumentHelp("A label of this machine, e.g. fast or zone=a; may be repeated.", valueName: "label"))
    var label: [String] = []
    @Option(
        help: ArgumentHelp(
            "What this machine has, e.g. gpus=2 or memory=16GiB; may be repeated. cpus and memory are what there is by default.",
            valueName: "name=amount"))
    var resource: [String] = []
    @Option(
        help: ArgumentHelp("Where the secrets are that the graph names: a file of the mode 0600 for each.", valueName: "directory"),
        completion: .directory)
    var secrets: String?
    @Option(help: "Keep the journal and all values in this directory. (default: a temporary one)", completion: .directory)
    var data: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...256).contains(workers) else { throw ValidationError("--workers \(workers): use 1 to 256") }
        guard (1...10_000).contains(slots ?? 1) else { throw ValidationError("--slots \(slots ?? 1): use 1 to 10000") }
        try WorkerOptions.validate(labels: label, resources: resource)
        _ = try WorkerOptions.secretsDirectory(secrets)
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let loaded = try await graph.load(types: .builtIn)
        let reporter = ProgressReporter(console: console)
        let level = output.effectiveLogLevel(default: Self.defaultLogLevel)
        // From here on a signal ends nothing by itself: it becomes an event of the run.
        let signals = await EndSignals.sequence()
        let (messages, message) = AsyncStream<String>.makeStream()
        let relay = Task { for await line in messages { await reporter.note(line + "\n") } }
        let cluster = try PrivateCluster(
            .init(
                executors: workers, slots: slots ?? Int(clinux_processor_count()), labels: label, resources: resource,
                secrets: secrets.map(absolute), data: data.map(absolute), logLevel: level.rawValue)
        ) { message.yield($0) }
        let run = GraphRun(loaded: loaded, cluster: cluster, console: console, reporter: reporter)
        let result: Result<ExitStatus, any Error>
        do {
            result = .success(try await run.untilDone(signals: signals, timeout: output.timeout))
        } catch {
            result = .failure(error)
        }
        await reporter.finish()
        try await cluster.stop()
        message.finish()
        await relay.value
        return try result.get()
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
