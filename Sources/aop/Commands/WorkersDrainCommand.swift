import ArgumentParser
import Cluster
import Shapes
import Wire

struct WorkersDrainCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Give a worker nothing new.",
        discussion: """
            What it runs goes on to its end; what it has been given and has not begun goes to others. It is the name that is
            drained: a worker that is started again under it gets nothing either, until `aop workers resume`. Returns when that
            is on the coordinator's disk; with --wait, when nothing runs there any more.

            Examples:
              aop workers drain h1/0 --reason "new disks"
              aop workers drain h1/0 --wait
            """)

    @OptionGroup var worker: WorkerArgument
    @Option(help: "Why; told to those who ask why work waits.")
    var reason: String = ""
    @Flag(help: "Wait until nothing of what it was given runs there.")
    var wait = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let steering = try await connection.drainWorker(worker.name, reason: reason)
            let workers = wait ? try await waitUntilIdle(steering.name, connection) : steering.workers
            try await console.say(steering, workers, text(steering, workers))
        }
        return .success
    }

    /// Drained workers are looked at so often.
    private static let lookMilliseconds = 200

    private func waitUntilIdle(_ name: String, _ connection: ClusterConnection) async throws -> [WireWorkerView] {
        while true {
            let workers = try await connection.worker(name)
            guard workers.allSatisfy(\.hasDrain) else {
                throw ToolError(
                    .toolError, "resumed",
                    "worker \(name) was resumed while this waited; `aop workers drain \(name) --wait` drains it anew")
            }
            if workers.allSatisfy(\.isIdle) { return workers }
            try await Task.sleep(for: .milliseconds(Self.lookMilliseconds))
        }
    }

    private func text(_ steering: WorkerSteering, _ workers: [WireWorkerView]) -> String {
        let done = steering.isChange ? "drained" : "was drained already"
        let left = workers.reduce(0) { $0 + Int($1.detail.heldCount) }
        let rest =
            workers.allSatisfy(\.isIdle)
            ? "nothing runs there" : "what it has goes on (\(left)); `aop workers drain \(steering.name) --wait` waits for that"
        return "\(done); \(rest); `aop workers resume \(steering.name)` lets it take work again"
    }
}

struct WorkersResumeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let a drained worker take work again.",
        discussion: "Example:\n  aop workers resume h1/0")

    @OptionGroup var worker: WorkerArgument
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let steering = try await connection.resumeWorker(worker.name)
            try await console.say(steering, steering.workers, steering.isChange ? "takes work again" : "was not drained")
        }
        return .success
    }
}

struct WorkersRemoveCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget a worker that is gone for good.",
        discussion: """
            It is listed no more, and not drained when it should come back. Refused (exit code 6) while it is connected, and until
            anything that may still run in it must have stopped: `aop workers show` says when that is.

            Example:
              aop workers remove h1/0
            """)

    @OptionGroup var worker: WorkerArgument
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let steering = try await connection.removeWorker(worker.name)
            try await console.say(steering, [], steering.isChange ? "removed" : "was removed already")
        }
        return .success
    }
}

extension WireWorkerView {
    /// Nothing of what it was given runs, or may run.
    fileprivate var isIdle: Bool { state == "drained" || state == "absent" }
}

extension Console {
    fileprivate func say(_ steering: WorkerSteering, _ workers: [WireWorkerView], _ text: String) async throws {
        switch mode {
        case .json, .jsonl:
            try await writeValue(
                .shape([
                    ("name", .string(steering.name)), ("changed", .bool(steering.isChange)),
                    ("workers", .array(workers.map(\.json))),
                ]))
        case .text: try await write("\(PlainText.of(steering.name)): \(text)\n")
        case .quiet: break
        }
    }
}
