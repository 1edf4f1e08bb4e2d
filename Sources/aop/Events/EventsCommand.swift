import ArgumentParser
import Cluster
import Shapes
import Wire

struct EventsCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "What happens in the cluster: submissions, operations, workers.",
        discussion: """
            What was submitted, began, is tried again, is being stopped and has ended, and which workers joined, are draining, left or were
            lost, a line each. Without -f what has happened in the last hour, or since --since; with -f what happens from now on, until Ctrl-C,
            and with --since what has happened since then before it. Lines are in the order of their times: with -f each is held for a second, and
            what is heard of even later comes when it is heard of. The coordinator keeps how everything stands, and no list of events: of what
            has happened already it is the attempts of operations (of each the last 20) of submissions that are still known, and of workers
            the last 1000 events since the coordinator's start.

            Examples:
              aop events
              aop events -f
              aop events --since 2026-11-21T22:00:00Z -o jsonl | jq 'select(.event == "failed")'
              aop events -f -o jsonl | jq 'select(.event == "lost") | .worker'
              aop events -f --since 10m
            """)

    @Flag(name: [.short, .long], help: "Go on with what happens.")
    var follow = false
    @Option(
        help: ArgumentHelp("From when on: how long ago, e.g. 10m, or a time, e.g. 2026-11-21T22:00:00Z.", valueName: "time"),
        transform: SinceArgument.argument)
    var since: SinceArgument?
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    /// How far back without `--since`.
    private static let pastMilliseconds: Int64 = 3_600_000

    func validate() throws {
        if follow, output.output == .json {
            throw ValidationError("-o json is one value, and -f does not end; use -o jsonl, which is one a line, or leave -f out")
        }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            guard !follow else { return try await EventFollower(connection, console, since: since?.time).follow() }
            let since = (since ?? SinceArgument(ago: Self.pastMilliseconds)).time
            let follower = EventFollower(connection, console, since: since)
            let events = try await follower.past()
            guard console.mode == .json else { return try await follower.write(events) }
            try await console.writeValue(.shape([("since", .time(since)), ("events", .array(events.map { .object($0.members) }))]))
        }
        return .success
    }
}
