import ArgumentParser
import Cluster
import GraphFile
import Shapes
import Wire

struct SubmitCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Hand in a graph; prints its id.",
        discussion: """
            Examples:
              aop submit nightly.yaml --set day=2026-11-21
              aop submit nightly.yaml --watch
              aop submit nightly.yaml --key nightly-2026-11-21 --wait --deadline 6h
              generate-graph | aop submit - --wait -o json
            """)

    @OptionGroup var graph: GraphOptions
    @Flag(help: "Wait for the outcome, showing progress; the exit code is the work's.")
    var wait = false
    @Flag(help: "The same as --wait: hand in, then do as `aop watch`.")
    var watch = false
    @Flag(help: "Only check the graph; nothing is submitted.")
    var check = false
    @Flag(help: "Admit operation types that no worker has registered yet; the work waits for one.")
    var waitForWorkers = false
    @Option(help: "Name the submission for yourself: the same key and graph are submitted once.")
    var key: String?
    @Option(help: "The submission's name instead of the file's.")
    var name: String?
    @Option(
        help: ArgumentHelp(
            "The work must have ended by then, whatever the file says: a duration from now such as 2h, or a time such as 2026-11-21T22:00:00Z.",
            valueName: "duration or time"))
    var deadline: DeadlineArgument?
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "From -100 to 100, in place of the file's: of what waits for a worker a higher priority goes first.", valueName: "n"))
    var priority: Int?
    @Option(
        help: ArgumentHelp(
            "From 1 to 100, in place of the file's: how many of its operations are started before the next submission's turn.",
            valueName: "n"))
    var weight: Int?
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if check, wait || watch {
            throw ValidationError("\(wait ? "--wait" : "--watch") and --check exclude each other: --check submits nothing to wait for")
        }
        if let priority, !(-100...100).contains(priority) {
            throw ValidationError("--priority is \(priority): it must be from -100 to 100")
        }
        if let weight, !(1...100).contains(weight) {
            throw ValidationError("--weight is \(weight): it must be from 1 to 100")
        }
        if key?.isEmpty == true { throw ValidationError("--key needs a text that is not empty") }
        if let bytes = key?.utf8.count, bytes > Limits.nameBytes {
            throw ValidationError("--key has \(bytes) bytes: the limit is \(Limits.nameBytes)")
        }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let loaded = try await graph.load(
            name: name, deadline: deadline?.deadline, priority: priority, weight: weight,
            types: .coordinator(connection, timeout: nil, waitForWorkers: waitForWorkers))
        return try await connection.withConnection { connection in
            do {
                if check { return try await GraphReport(loaded, console).coordinatorCheck(connection, waitForWorkers) }
                return try await submit(loaded, over: connection, console)
            } catch let error as ClusterError {
                throw ToolError.refused(error, in: loaded)
            }
        }
    }

    private func submit(_ loaded: LoadedGraph, over connection: ClusterConnection, _ console: Console) async throws -> ExitStatus {
        console.doubt =
            "whether it was accepted is not known: "
            + (key == nil ? "`aop list` shows it if it was" : "submit it again with the same --key, and it runs once")
        let submitted = try await Patience(console).during {
            try await connection.submit(
                loaded.graph, key: key, name: name, waitForWorkers: waitForWorkers, trace: GivenTrace.fields(console))
        }
        let id = submitted.id
        console.submission = id
        for warning in submitted.warnings { console.note("aop: warning: \(warning)\n") }
        let existing = JSONValue.bool(submitted.isExisting)
        if submitted.isExisting, console.mode == .text { console.note("the key was used before: this is submission \(id)\n") }
        guard wait || watch else {
            try await announce(id, existing, console)
            return .success
        }
        if console.mode == .text { console.note("submitted \(id)\n") }
        let view = try await ProgressReporter(console: console)
            .follow(id, from: submitted.isExisting ? .now : .submission, over: connection)
        try await Outcome(console: console, connection: connection)
            .show(view, moreFailures: "`aop show \(id) --operations failed` lists them", besides: [("existing", existing)])
        console.hint("next: aop show \(id) · aop result \(id) -o json · aop logs \(id)")
        return ExitStatus(outcome: view)
    }

    private func announce(_ id: String, _ existing: JSONValue, _ console: Console) async throws {
        switch console.mode {
        case .json, .jsonl: try await console.writeValue(.shape([("id", .string(id)), ("existing", existing)]))
        case .quiet: try await console.write("\(id)\n")
        case .text:
            try await console.write("\(id)\n")
            console.note("next:\n  aop watch \(id)\n  aop show \(id)\n  aop cancel \(id)\n")
        }
    }
}
