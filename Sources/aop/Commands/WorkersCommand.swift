import ArgumentParser
import Shapes
import Wire

struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers",
        abstract: "The workers of the cluster; and how to take one out of service.",
        discussion: """
            Examples:
              aop workers
              aop workers show h1/0
              aop workers drain h1/0 --reason "new disks" --wait
              aop workers resume h1/0
              aop workers -o json
            """,
        subcommands: [
            WorkersListCommand.self, WorkersShowCommand.self, WorkersDrainCommand.self, WorkersResumeCommand.self,
            WorkersRemoveCommand.self,
        ], defaultSubcommand: WorkersListCommand.self)
}

struct WorkersListCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Every executor process the coordinator knows, and the drained ones that are not there.",
        discussion: "Example:\n  aop workers list")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let all = try await connection.workers()
            switch console.mode {
            case .json: try await console.writeValue(.shape([("workers", .array(all.map(\.json)))]))
            case .jsonl: for worker in all { try await console.writeValue(worker.json) }
            case .quiet: try await console.write(all.map { "\($0.id)\n" }.joined())
            case .text: try await console.write(WorkerText.table(all))
            }
        }
        return .success
    }
}

struct WorkersShowCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "One worker: its process, what it has registered, what it runs, and whether it is drained.",
        discussion: """
            Examples:
              aop workers show h1/0
              aop workers show h1/0 -o json
            """)

    @OptionGroup var worker: WorkerArgument
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let found = try await connection.worker(worker.name)
            switch console.mode {
            case .json: try await console.writeValue(.shape([("workers", .array(found.map(\.detailedJSON)))]))
            case .jsonl: for worker in found { try await console.writeValue(worker.detailedJSON) }
            case .quiet: try await console.write(found.map { "\($0.id)\n" }.joined())
            case .text: try await console.write(WorkerText.details(found))
            }
        }
        return .success
    }
}

/// Which worker is meant.
struct WorkerArgument: ParsableArguments, Sendable {
    @Argument(help: "The worker's name, as `aop workers` shows it, or the beginning of it that no other one has.")
    var name: String

    func validate() throws {
        guard !name.isEmpty else { throw ValidationError("the worker's name is empty; `aop workers` lists those there are") }
    }
}
