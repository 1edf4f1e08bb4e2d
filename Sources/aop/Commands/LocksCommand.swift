import ArgumentParser
import Shapes
import Wire

struct LocksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locks",
        abstract: "The locks of the cluster: who holds them, and who waits; and how to take one back.",
        discussion: """
            Examples:
              aop locks
              aop locks show db
              aop locks release db --force
              aop locks -o json
            """,
        subcommands: [LocksListCommand.self, LocksShowCommand.self, LocksReleaseCommand.self], defaultSubcommand: LocksListCommand.self)
}

struct LocksListCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Every lock that an operation holds or waits for.",
        discussion: "Example:\n  aop locks list")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let all = try await connection.locks().sorted { $0.key < $1.key }
            if try await console.writeValues(of: all) { return }
            try await console.write(all.isEmpty ? "no operation holds a lock or waits for one\n" : LockText.table(all))
        }
        return .success
    }
}

struct LocksShowCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "One lock: its holders with their fencing tokens, and the line.",
        discussion: "Exits with 5 when no operation holds it or waits for it.\n\nExample:\n  aop locks show db")

    @Argument(help: "The key, as `exclusive` names it.")
    var key: String
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !key.isEmpty else { throw ValidationError("the key is empty; `aop locks list` shows all locks") }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let found = try await connection.locks(key: key)
            let isValue = try await console.writeValues(of: found)
            guard !found.isEmpty else {
                throw ToolError(
                    .notFound, "notFound", "no operation holds the lock `\(key)` or waits for it; `aop locks` shows those that one does")
            }
            if !isValue { try await console.write(LockText.details(found)) }
        }
        return .success
    }
}

extension Console {
    /// Writes locks as values, unless text is wanted: then it writes nothing and says so.
    fileprivate func writeValues(of locks: [WireLockView]) async throws -> Bool {
        switch mode {
        case .json: try await writeValue(.shape([("locks", .array(locks.map(\.json)))]))
        case .jsonl: for lock in locks { try await writeValue(lock.json) }
        case .quiet: try await write(locks.map { "\(PlainText.of($0.key))\n" }.joined())
        case .text: return false
        }
        return true
    }
}
