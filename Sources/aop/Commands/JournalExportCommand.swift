import ArgumentParser
import Coordinator
import Foundation

struct JournalExportCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the facts of a stopped coordinator's journal, one line of JSON each.",
        discussion: """
            For looking into what happened when: who was given which attempt, when it ended, who got a lock. Facts that a snapshot stands for are
            there no more (--snapshot-bytes). The names are those of the source, and may change with a release. The values of operations
            are part of it, and parameters: treat it like the data itself.

            Examples:
              aop journal export | grep attemptLost
              aop journal export --data /var/backups/aop-monday > facts.jsonl
            """)

    @OptionGroup var data: DataOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let path = data.path
        guard JournalVerification.isThere(in: path) else {
            throw ToolError(.notFound, "notFound", "there is no journal in \(path); name its directory with --data")
        }
        let export = try await JournalWork.run {
            try JournalExport(dataDirectory: path) { line in try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) }
        }
        if console.mode == .text { console.hint("\(export.facts) facts\(export.first.map { ", from the \($0). on" } ?? "")") }
        return .success
    }
}
