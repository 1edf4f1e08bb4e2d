import ArgumentParser
import Shapes
import Wire

struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers",
        abstract: "The workers of the cluster.",
        discussion: """
            Examples:
              aop workers
              aop workers -o json
            """,
        subcommands: [WorkersListCommand.self], defaultSubcommand: WorkersListCommand.self)
}

struct WorkersListCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Every executor process the coordinator knows.",
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
            case .text: try await console.write(text(all))
            }
        }
        return .success
    }

    private func text(_ all: [WireWorkerView]) -> String {
        guard !all.isEmpty else { return "no workers; start one with `aop worker`\n" }
        var table = Table(["ID", "PID", "STATE", "RUNNING", "HEARD", "LABELS", "RESOURCES", "OPERATIONS"])
        let now = WallClock.milliseconds()
        for worker in all {
            table.add([
                worker.id, "\(worker.pid)", worker.state, "\(worker.running)/\(worker.slots)",
                TimeText.age(worker.lastHeard, now: now), worker.labels.isEmpty ? "-" : worker.labels.joined(separator: " "),
                worker.resources.isEmpty ? "-" : worker.resources.map(\.text).joined(separator: " "),
                worker.operations.joined(separator: " "),
            ])
        }
        return table.text
    }
}

extension WireResourceView {
    /// "gpus 1/2", "memory 2.0/16.0 GiB": taken, and how much there is.
    fileprivate var text: String {
        guard name == ResourceName.memory else { return "\(name) \(taken)/\(amount)" }
        func gibibytes(_ bytes: UInt64) -> String {
            let tenths = bytes / ((1 << 30) / 10)
            return "\(tenths / 10).\(tenths % 10)"
        }
        return "\(name) \(gibibytes(taken))/\(gibibytes(amount)) GiB"
    }
}
