import ArgumentParser
import Coordinator
import Foundation
import Shapes
import Wire

struct JournalBackupCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a coordinator's data directory, also while it runs.",
        discussion: """
            The copy holds one state of the journal, with the values, partial results and output that belong to it. All of it is read again
            before it gets its name. Run it on the coordinator's host, as its user. Where what commands printed (output.sqlite) or the history
            (history.sqlite) is damaged, that file is left out with a warning: the copy is whole without it.

            Examples:
              aop journal backup /var/backups/aop-monday
              aop journal backup ~/aop-backup --data ~/second -o json
            """)

    @Argument(help: "The directory to make; there must be nothing of this name.", completion: .directory)
    var directory: String
    @OptionGroup var data: DataOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let (source, destination) = (data.path, directory)
        let backup = try await JournalWork.run { try JournalBackup(of: source, to: destination) }
        for text in backup.leftOut { await console.warn(text) }
        let lost = backup.verification.partialResultProblems
        if !lost.isEmpty { await console.warn("partial results in the backup are damaged or missing, the rest is whole: \(lost[0])") }
        switch console.mode {
        case .json, .jsonl:
            let leftOut = JSONValue.array(backup.leftOut.map { .string($0) })
            try await console.writeValue(JournalText.json(backup.verification, path: backup.path, more: [("leftOut", leftOut)]))
        case .quiet: break
        case .text:
            try await console.write(JournalText.text(backup.verification, path: backup.path, hashed: true))
            console.hint("to put it in the place of the data, with the coordinator stopped: aop journal restore \(backup.path.shellWord)")
        }
        return .success
    }
}

struct JournalRestoreCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of a stopped coordinator's data. What was there is kept beside it.",
        discussion: """
            What the backup does not know has not happened for the coordinator that starts from it: operations that ended since then run again.
            Their attempts and locks have higher tokens than all before.

            Examples:
              aop journal restore /var/backups/aop-monday
              aop journal restore ~/aop-backup --data ~/second
            """)

    @Argument(help: "What aop journal backup has made.", completion: .directory)
    var backup: String
    @OptionGroup var data: DataOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let (source, target) = (backup, data.path)
        let restored = try await JournalWork.run { try JournalRestore(from: source, into: target) }
        switch console.mode {
        case .json, .jsonl:
            let replaced = restored.replaced.map { JSONValue.string($0) } ?? .null
            try await console.writeValue(JournalText.json(restored.verification, path: target, more: [("replaced", replaced)]))
        case .quiet: break
        case .text:
            try await console.write(JournalText.text(restored.verification, path: target, hashed: true))
            if let replaced = restored.replaced {
                console.hint("what was there is in \(replaced); remove it when you do not need it any more")
            }
        }
        return .success
    }
}
