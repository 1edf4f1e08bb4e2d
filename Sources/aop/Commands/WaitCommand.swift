import ArgumentParser
import Cluster
import Shapes
import Wire

struct WaitCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait for submissions to end; the exit code is their outcome.",
        discussion: """
            Examples:
              aop wait last
              aop wait 7fk2 9bxd --timeout 10m
            """)

    @Argument(help: "Ids, unique prefixes, or `last`.")
    var ids: [String]
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            // Names every id before waiting, so that an unknown one is said at once.
            var whole: [String] = []
            for id in ids { whole.append(try await connection.show(id).id) }
            console.submission = whole.joined(separator: " ")
            var views: [WireSubmissionView] = []
            for id in whole { views.append(try await ProgressReporter(console: console).follow(id, from: .now, over: connection)) }
            if views.count > 1, console.mode == .json {
                try await showTogether(views, connection, console)
            } else {
                for view in views {
                    try await Outcome(console: console, connection: connection)
                        .show(view, moreFailures: "`aop show \(view.id) --operations failed` lists them")
                }
            }
            return ExitStatus.combined(views.map(ExitStatus.init(outcome:)))
        }
    }

    private func showTogether(_ views: [WireSubmissionView], _ connection: ClusterConnection, _ console: Console) async throws {
        var elements: [JSONValue] = []
        for view in views {
            var result = try await connection.result(of: view.id)
            result.submission = view
            elements.append(.object(result.members))
        }
        try await console.writeValue(.shape([("submissions", .array(elements))]), connection: connection)
    }
}
