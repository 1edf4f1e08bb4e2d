import ArgumentParser
import GraphFile
import Settings
import Shapes
import UnixSignals
import Wire

struct DevCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "A cluster on this machine with a dashboard, until Ctrl-C: nothing to set up, nothing left behind.",
        discussion: """
            Starts a private coordinator and worker processes as `aop run` does, prints where the dashboard is, runs the
            graph if one is named, and stays. Other terminals reach it by the address that it prints. Ctrl-C ends it all,
            with what still runs; the exit code is then the graph's outcome, or 130 if it had not ended.

            Examples:
              aop dev
              aop dev examples/word-count.yaml
              aop dev examples/film.yaml --open
              aop dev nightly.yaml --workers 4 --http 127.0.0.1:8080 --data ~/nightly
            """)

    static let handlesInterruption = true

    @Argument(help: "A graph file, YAML or JSON; - for standard input.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var file: String?
    @Option(
        name: .customLong("set"), help: ArgumentHelp("Replace a variable of the file's `vars`; may be repeated.", valueName: "name=value"))
    var set: [Assignment] = []
    @Option(help: "Where the dashboard, its JSON API, /metrics and /healthz are; port 0: any free one. off: nowhere.")
    var http: String = "127.0.0.1:0"
    @Flag(help: "Open the dashboard in the desktop's browser (xdg-open), where there is a display.")
    var open = false
    @OptionGroup var cluster: PrivateClusterOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let problems = Setting.http.problems(ofFlag: [http])
        guard problems.isEmpty else { throw ValidationError(problems.text) }
        if open, http == "off" { throw ValidationError("--open opens the dashboard, and --http off leaves it out; leave out one of them") }
        if file == nil, let first = set.first {
            throw ValidationError("--set \(first.name)=\(first.value) is for a graph, and none is named; name its file")
        }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let loaded: LoadedGraph? = if let file { try await GraphSource(file: file, set: set).load(types: .builtIn) } else { nil }
        let reporter = ProgressReporter(console: console)
        let level = output.effectiveLogLevel(default: Self.defaultLogLevel)
        // From here on a signal ends nothing by itself. The graph's run has signals of its own.
        let (signals, ends) = (await EndSignals.sequence(), await EndSignals.sequence())
        let (messages, message) = AsyncStream<String>.makeStream()
        let relay = Task { for await line in messages { await reporter.relay(line) } }
        let cluster = try PrivateCluster(cluster.cluster(http: http == "off" ? nil : http, logLevel: level, logFormat: output.logFormat)) {
            message.yield($0)
        }
        let result: Result<ExitStatus, any Error>
        do {
            result = .success(try await stay(cluster, loaded, signals, ends, reporter, console))
        } catch {
            result = .failure(error)
        }
        await reporter.finish()
        try await cluster.stop()
        message.finish()
        await relay.value
        return try result.get()
    }

    // MARK: From its start to its end

    private enum Event: Sendable {
        case signal
        case timeOver
        case processEnded(ToolError)
    }

    private func stay(
        _ cluster: PrivateCluster, _ loaded: LoadedGraph?, _ signals: UnixSignalsSequence, _ ends: UnixSignalsSequence,
        _ reporter: ProgressReporter, _ console: Console
    ) async throws -> ExitStatus {
        let (events, event) = AsyncStream<Event>.makeStream()
        let watchers = [
            Task<Void, Never> { for await _ in ends { event.yield(.signal) } },
            Task<Void, Never> { _ = event.yield(.processEnded(await cluster.firstEnd())) },
            Task<Void, Never> {
                guard let timeout = output.timeout else { return }
                do { try await Task.sleep(for: timeout.duration) } catch { return }
                event.yield(.timeOver)
            },
        ]
        defer { for watcher in watchers { watcher.cancel() } }
        let announcement = try await cluster.announcement()
        try await announce(announcement, cluster, console)
        if open, let http = announcement.http { Browser.open("http://\(http)/", console) }
        var outcome = ExitStatus.success
        if let loaded {
            var run = GraphRun(
                loaded: loaded, cluster: cluster, console: console, reporter: reporter, moreFailures: "the dashboard lists them")
            run.showsOutcome = console.mode != .json
            outcome = try await run.untilDone(signals: signals, timeout: output.timeout)
            await reporter.finish()
            if outcome == .interrupted || outcome == .timeout { return outcome }
            console.hint("the graph has ended; the cluster stays until Ctrl-C")
        }
        for await event in events {
            switch event {
            case .signal: return outcome
            case .timeOver: return .timeout
            case .processEnded(let error): throw error
            }
        }
        throw CancellationError()
    }

    private func announce(_ announcement: CoordinatorAnnouncement, _ cluster: PrivateCluster, _ console: Console) async throws {
        switch console.mode {
        case .json, .jsonl:
            try await console.writeValue(
                .shape([
                    ("coordinator", .string(cluster.endpoint)), ("http", announcement.http.map { .string($0) } ?? .null),
                    ("httpToken", announcement.httpToken.map { .string($0) } ?? .null),
                ]))
        case .quiet: try await console.write(announcement.http.map { "http://\($0)/\n" } ?? "\(cluster.endpoint)\n")
        case .text:
            if let http = announcement.http { try await console.write("dashboard at http://\(http)/\n") }
            if let token = announcement.httpToken { console.hint("to cancel, retry or pause there: the token in \(token)") }
            console.hint("in other terminals: export AOP_COORDINATOR=\(cluster.endpoint.shellWord)")
            console.hint("then e.g.: aop submit FILE --watch · aop list; Ctrl-C here ends it all")
        }
    }
}
