import ArgumentParser
import Cluster

struct WatchCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show a submission as it goes on, until it ends; the exit code is its outcome.",
        discussion: """
            On a terminal: how many operations are in which state, how fast they end and when all will have, what runs
            longest, and failures as they happen. Elsewhere a line for each change, with -o jsonl a value for each.
            It begins with what runs and what has failed, and goes on across restarts of the coordinator. At the end it
            prints the results. Ctrl-C ends the watching; the work goes on.

            Examples:
              aop watch last
              aop watch 7fk2 --timeout 10m
              aop watch 7fk2 -o jsonl | jq -c 'select(.state == "failed") | [.path, .errors[0].message]'
            """)

    @Argument(help: "An id, a unique prefix, or `last`.")
    var id: String
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let id = try await connection.show(id).id
            console.submission = id
            let view = try await ProgressReporter(console: console).follow(id, from: .now, over: connection)
            try await Outcome(console: console, connection: connection)
                .show(view, moreFailures: "`aop show \(id) --operations failed` lists them")
            return ExitStatus(outcome: view)
        }
    }
}
