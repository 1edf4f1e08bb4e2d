import ArgumentParser
import Cluster
import Shapes
import Wire

struct ResultCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "result",
        abstract: "What a submission, or an operation or group of it, gave.",
        discussion: """
            It does not wait (`aop wait` does). The text of one operation is its value alone, byte for byte.

            Examples:
              aop result last
              aop result 7fk2/count -o json
              aop result 7fk2/report > report.pdf
              aop result 7fk2/crawl --partial -f
            """)

    @Argument(help: "ID, or ID/PATH of an operation or group.")
    var reference: OperationReference
    @Flag(help: "What the operation has sent while it runs or ran, one element a line, instead of its value.")
    var partial = false
    @Flag(name: [.short, .long], help: "With --partial: go on as more is sent, until the operation ends.")
    var follow = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if follow, !partial { throw ValidationError("--follow is for --partial; `aop wait` waits for the outcome") }
        if partial, reference.path.isEmpty { throw ValidationError("--partial needs an operation: ID/PATH") }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            if partial {
                try await PartialResultLines(console: console, connection: connection, reference: reference, follows: follow).show()
                return .success
            }
            if reference.path.isEmpty {
                let view = try await connection.show(reference.submission)
                try await Outcome(console: console, connection: connection)
                    .show(view, moreFailures: "`aop show \(view.id) --operations failed` lists them")
                return ExitStatus(outcome: view)
            }
            return try await showOperation(connection, console)
        }
    }

    private func showOperation(_ connection: ClusterConnection, _ console: Console) async throws -> ExitStatus {
        let result = try await connection.result(of: reference.submission, path: reference.path)
        guard let root = result.operations.root?.view else {
            throw ToolError(
                .notFound, "notFound",
                "\(result.submission.id) has no operation `\(reference.path)`; `aop show \(result.submission.id)` lists them")
        }
        if console.isJSON {
            try await console.writeValue(
                .shape([
                    ("id", .string(result.submission.id)), ("path", .string(root.path)), ("state", .string(root.state.word)),
                    ("value", result.operations.json(valueOf: 0)),
                    ("errors", .array(result.failures.map(\.json))),
                ]), connection: connection)
        } else {
            try await ResultText(result.operations, output: console.out, connection: connection, isBare: console.mode == .quiet).write()
            if !result.failures.isEmpty {
                console.note(
                    FailureText(style: console.errStyle).list(
                        result.failures, more: "`aop show \(result.submission.id) --operations failed` lists them"))
            } else if !root.state.isFinal {
                console.note("\(root.path) is \(root.state.word); `aop wait \(result.submission.id)` waits for the submission\n")
            }
        }
        switch root.state {
        case .failed: return .failures
        case .cancelled: return .cancelled
        case .succeeded, .blocked, .locking, .evaluating, .queued, .running, .stopping, .retrying, .paused, .UNRECOGNIZED:
            return .success
        }
    }
}
