import ArgumentParser
import Coordinator
import Wire

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "The journal of a coordinator that does not run: whether it is whole.",
        discussion: """
            Examples:
              aop journal verify
              aop journal verify --data /var/lib/aop --values
            """,
        subcommands: [JournalVerifyCommand.self])
}

struct JournalVerifyCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read a whole journal again and check everything in it. Nothing is changed.",
        discussion: """
            Checks SQLite's file and its write-ahead log, the hashes of snapshot and facts, each fact against the state that those
            before it came to, the state itself, and whether the large values are there. Exits 1 when something is wrong.

            Examples:
              aop journal verify
              aop journal verify --data /var/lib/aop --values -o json
            """)

    @OptionGroup var data: DataOption
    @Flag(help: "Read and hash every large value, too.")
    var values = false
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let path = data.path
        guard JournalVerification.isThere(in: path) else {
            throw ToolError(.notFound, "notFound", "there is no journal in \(path); name its directory with --data")
        }
        let found: JournalVerification
        do { found = try await OwnThread.run { try JournalVerification(dataDirectory: path, hashingValues: values) } } catch let error
            as DataDirectoryError
        {
            throw ToolError(.toolError, "dataDirectory", "\(error)")
        } catch let error as JournalError {
            throw ToolError(.toolError, "journal", "\(error)")
        }
        switch console.mode {
        case .json, .jsonl: try await console.writeValue(json(found))
        case .quiet: break
        case .text: try await console.write(text(found))
        }
        guard found.problems.isEmpty else {
            let count = found.problems.count
            throw ToolError(
                .toolError, "journal",
                "\(found.path): \(count) thing\(count == 1 ? "" : "s") \(count == 1 ? "does" : "do") not hold"
                    + "; keep a copy of the directory, and put a backup of it in its place")
        }
        return .success
    }

    private func text(_ found: JournalVerification) -> String {
        var lines = ["\(found.path)"]
        let snapshot = found.snapshotFacts.map { ", the first \($0) of them in a snapshot" } ?? ""
        lines.append("  \(found.facts) facts\(snapshot); epoch \(found.epoch)")
        lines.append("  \(found.submissions) submissions, \(found.unfinishedSubmissions) of them unfinished")
        lines.append("  \(found.values) large values, \(found.valueBytes) bytes\(values ? ", read and hashed" : "")")
        if found.hasTornTail { lines.append("  the last coordinator ended while it was writing; nobody had been told of what is cut off") }
        lines += found.problems.map { "  wrong: \(PlainText.of($0))" }
        if found.problems.isEmpty { lines.append("everything holds") }
        return lines.joined(separator: "\n") + "\n"
    }

    private func json(_ found: JournalVerification) -> JSONValue {
        .shape([
            ("path", .string(found.path)), ("facts", .integer(Int64(clamping: found.facts))),
            ("snapshotFacts", found.snapshotFacts.map { .integer(Int64(clamping: $0)) } ?? .null),
            ("epoch", .integer(Int64(found.epoch))), ("submissions", .integer(Int64(found.submissions))),
            ("unfinished", .integer(Int64(found.unfinishedSubmissions))), ("values", .integer(Int64(found.values))),
            ("valueBytes", .integer(Int64(clamping: found.valueBytes))), ("tornTail", .bool(found.hasTornTail)),
            ("problems", .array(found.problems.map { .string($0) })),
        ])
    }
}
