import ArgumentParser
import Cluster
import Shapes
import Wire

struct LocksReleaseCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Take a lock from those who hold it.",
        discussion: """
            --force cancels its holders and waits until nothing of them runs; then the next in line has it. --now does not wait:
            the holders fail, what they still report is refused, and the next in line goes on with a higher fencing token
            while they may still run. Whatever the lock protects must look at the token.

            Examples:
              aop locks release db --force --reason "stuck since noon"
              aop locks release db --now
            """)

    @Argument(help: "The key, as `exclusive` names it.")
    var key: String
    @Flag(help: "Cancel the holders, and wait until nothing of them runs.")
    var force = false
    @Flag(help: "Release it at once; the holders fail, and what they still report is refused.")
    var now = false
    @Option(help: "Why; kept with the submissions.")
    var reason: String = ""
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !key.isEmpty else { throw ValidationError("the key is empty; `aop locks list` shows all locks") }
        guard force != now else {
            throw ValidationError("give --force (cancel the holders and wait) or --now (release at once), one of both")
        }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let all = try await connection.locks(key: key).map { Int($0.holderCount) }.max() ?? 0
            let holders = try await connection.releaseLock(key, reason: reason, now: now)
            guard !holders.isEmpty else {
                throw ToolError(.notFound, "notFound", "nobody holds the lock `\(key)`; `aop locks` shows the locks that somebody holds")
            }
            var ends: [String: String] = [:]
            if force {
                for holder in holders { ends[holder] = try await end(of: holder, connection) }
            }
            try await say(holders, ends, console)
            if let note = Self.note(released: holders.count, of: all) { console.note(note) }
        }
        return .success
    }

    /// One call takes it from so many; nil: nobody else held it, or who did let go of it meanwhile.
    static func note(released: Int, of all: Int) -> String? {
        guard all > released, released >= Limits.lockHolders else { return nil }
        return "others held it as well: one call takes it from \(released) (lockHolders); run the command again\n"
    }

    /// As what it has ended; nil: that is known no more.
    private func end(of holder: String, _ connection: ClusterConnection) async throws -> String? {
        guard let reference = OperationReference(argument: holder) else { return nil }
        for try await event in connection.follow(reference.submission) {
            switch event {
            case .view(let view), .events(_, let view):
                for try await page in connection.operations(of: reference.submission, path: reference.path) {
                    if page.first?.state.isFinal ?? true { return page.first?.state.word }
                    break
                }
                if view.state.isFinal { return nil }
            case .interrupted: break
            }
        }
        throw CancellationError()
    }

    private func say(_ holders: [String], _ ends: [String: String], _ console: Console) async throws {
        switch console.mode {
        case .json, .jsonl:
            try await console.writeValue(
                .shape([("key", .string(key)), ("now", .bool(now)), ("holders", .array(holders.map { .string($0) }))]))
        case .text:
            let lines = holders.map { holder in
                "\(PlainText.of(holder)): \(now ? "released; what it still reports is refused" : ends[holder] ?? "has ended")\n"
            }
            try await console.write(lines.joined())
        case .quiet: break
        }
    }
}
