import ArgumentParser
import Shapes
import Wire

struct ListCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "The submissions the coordinator keeps, newest first.",
        discussion: """
            Examples:
              aop list
              aop list -o json | jq '.submissions[] | select(.state == "failed") | .id'
            """)

    @Option(help: "At most this many.")
    var limit: Int = 1000
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit \(limit): use a number from 1 on") }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let found = try await connection.list(limit: limit == .max ? limit : limit + 1)
            let (all, isMore) = (Array(found.prefix(limit)), found.count > limit)
            switch console.mode {
            case .json:
                try await console.writeValue(.shape([("submissions", .array(all.map(\.listJSON))), ("more", .bool(isMore))]))
            case .jsonl: for view in all { try await console.writeValue(view.listJSON) }
            case .quiet: try await console.write(all.map { "\($0.id)\n" }.joined())
            case .text: try await console.write(text(all))
            }
            if isMore, console.mode != .json { console.note("there are more than these \(limit); --limit N shows N\n") }
        }
        return .success
    }

    private func text(_ all: [WireSubmissionView]) -> String {
        guard !all.isEmpty else { return "no submissions; hand one in with `aop submit FILE`\n" }
        var table = Table(["ID", "STATE", "DONE", "FAILED", "TIME", "SUBMITTED", "NAME"])
        let now = WallClock.milliseconds()
        for view in all {
            table.add([
                view.id, view.state.word, "\(view.counts.ended)/\(view.counts.total)", "\(view.counts.failed)",
                TimeText.duration(milliseconds: view.durationMilliseconds), TimeText.age(view.submittedAt, now: now),
                view.name,
            ])
        }
        return table.text
    }
}
