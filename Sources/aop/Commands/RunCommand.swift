import ArgumentParser
import GraphFile

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
    @OptionGroup var cluster: PrivateClusterOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let loaded = try await graph.load(types: .builtIn)
        let reporter = ProgressReporter(console: console)
        let level = output.effectiveLogLevel(default: Self.defaultLogLevel)
        // From here on a signal ends nothing by itself: it becomes an event of the run.
        let signals = await EndSignals.sequence()
        let (messages, message) = AsyncStream<String>.makeStream()
        let relay = Task { for await line in messages { await reporter.relay(line) } }
        let cluster = try PrivateCluster(cluster.cluster(http: nil, logLevel: level, logFormat: output.logFormat)) { message.yield($0) }
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
}
