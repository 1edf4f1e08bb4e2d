import ArgumentParser
import Cluster
import Shapes

struct PauseCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Start nothing more of a submission, or of an operation or group of it.",
        discussion: """
            What runs goes on, and so do deadlines. Returns when the pause is on the coordinator's disk.

            Examples:
              aop pause last
              aop pause 7fk2/count
            """)

    @Argument(help: "ID, or ID/PATH of an operation or group.")
    var reference: OperationReference
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let steering = try await connection.pause(reference.submission, path: reference.path)
            try await console.say(steering, reference, done: "paused", again: "was paused already")
        }
        return .success
    }
}

struct ResumeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let a paused submission, or a paused operation or group of it, go on.",
        discussion: """
            Examples:
              aop resume last
              aop resume 7fk2/count
            """)

    @Argument(help: "ID, or ID/PATH of an operation or group.")
    var reference: OperationReference
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let steering = try await connection.resume(reference.submission, path: reference.path)
            try await console.say(steering, reference, done: "resumed", again: "was not paused")
        }
        return .success
    }
}

extension Console {
    fileprivate func say(_ steering: Steering, _ reference: OperationReference, done: String, again: String) async throws {
        let name = reference.path.isEmpty ? steering.id : "\(steering.id)/\(reference.path)"
        switch mode {
        case .json, .jsonl:
            try await writeValue(
                .shape([
                    ("id", .string(steering.id)), ("path", .optional(reference.path)), ("changed", .bool(steering.isChange)),
                    ("alreadyEnded", .bool(steering.alreadyEnded)), ("pausedBy", steering.pausedBy.map(JSONValue.string) ?? .null),
                ]))
        case .text:
            let state = steering.alreadyEnded ? "it had already ended" : steering.isChange ? done : again
            var text = "\(name): \(state)"
            if let path = steering.pausedBy {
                let outer = path.isEmpty ? steering.id : "\(steering.id)/\(path)"
                text += "; it waits on, because \(outer) is paused"
            }
            try await write("\(text)\n")
        case .quiet: break
        }
    }
}
