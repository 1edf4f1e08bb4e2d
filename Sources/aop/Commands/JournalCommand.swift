import ArgumentParser
import Coordinator
import Shapes
import Wire

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "A coordinator's journal: back it up, put a backup in its place, check that it is whole, forget what has ended.",
        discussion: """
            Examples:
              aop journal backup /var/backups/aop-monday
              aop journal verify --data /var/backups/aop-monday --values
              aop journal restore /var/backups/aop-monday
            """,
        subcommands: [
            JournalBackupCommand.self, JournalRestoreCommand.self, JournalVerifyCommand.self, JournalPruneCommand.self,
            JournalGiveUpCommand.self,
            JournalExportCommand.self, JournalReplayCommand.self,
        ])
}

struct JournalVerifyCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read a whole journal again and check everything in it. Nothing is changed.",
        discussion: """
            Checks SQLite's file and its write-ahead log, the hashes of snapshot and facts, each fact against the state that those
            before it came to, the state itself, and whether the large values are there; then the stored partial results. The directory may be on
            a medium that cannot be written. Exits 1 when something is wrong, or could not be looked at.

            Examples:
              aop journal verify
              aop journal verify --data /var/lib/aop --values -o json
            """)

    @OptionGroup var data: DataOption
    @Flag(help: "Read and hash every large value, too.")
    var values = false
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let (path, values) = (data.path, values)
        guard JournalVerification.isThere(in: path) else {
            throw ToolError(.notFound, "notFound", "there is no journal in \(path); name its directory with --data")
        }
        let found = try await JournalWork.run { try JournalVerification(dataDirectory: path, hashingValues: values) }
        switch console.mode {
        case .json, .jsonl: try await console.writeValue(JournalText.json(found, path: found.path))
        case .quiet: break
        case .text: try await console.write(JournalText.text(found, path: found.path, hashed: values))
        }
        guard found.problems.isEmpty else {
            let count = found.problems.count
            throw ToolError(
                .toolError, "journal",
                "\(found.path): \(count) thing\(count == 1 ? "" : "s") \(count == 1 ? "does" : "do") not hold"
                    + "; keep a copy of the directory, and put a backup of it in its place")
        }
        guard found.partialResultProblems.isEmpty else {
            throw ToolError(
                .toolError, "partialResults",
                "\(found.path): everything holds but partial results: a coordinator starts with what is there, or says how to begin without "
                    + "them, and readers are told what they miss")
        }
        guard found.notLookedAt.isEmpty else {
            let count = found.notLookedAt.count
            throw ToolError(
                .toolError, "notLookedAt",
                "\(found.path): \(count) thing\(count == 1 ? "" : "s") could not be looked at, the rest holds: nothing is known to be damaged; "
                    + "do as is said above, or check free space, permissions and the health of the disk, and look again")
        }
        return .success
    }
}
