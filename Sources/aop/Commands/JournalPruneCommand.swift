import ArgumentParser
import Coordinator
import Foundation
import Shapes
import Wire

struct JournalPruneCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Forget submissions that have ended, with their results and output, in a stopped coordinator's data.",
        discussion: """
            What a coordinator does by itself after --retain, or above --retain-bytes. Ids and keys name nothing then, and the keys may be used
            anew. What has not ended stays. Run it on the coordinator's host, as its user.

            Examples:
              aop journal prune --older-than 1d --dry-run
              aop journal prune --to-bytes 1000000000 --data /var/lib/aop
              aop journal prune --submission 3f9a2c41d0
            """)

    @Option(help: ArgumentHelp("Those that ended longer ago than this.", valueName: "duration"))
    var olderThan: DurationArgument?
    @Option(help: ArgumentHelp("Those that ended first, until the rest takes no more than this.", valueName: "bytes"))
    var toBytes: Int64?
    @Option(help: ArgumentHelp("This one, by its whole id; may be repeated.", valueName: "id"))
    var submission: [String] = []
    @Flag(help: "Only say which they are.")
    var dryRun = false
    @OptionGroup var data: DataOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let given = (olderThan == nil ? 0 : 1) + (toBytes == nil ? 0 : 1) + (submission.isEmpty ? 0 : 1)
        guard given == 1 else { throw ValidationError("say which ones, in one way: --older-than, --to-bytes or --submission") }
        if let toBytes, toBytes < 0 { throw ValidationError("--to-bytes is \(toBytes): it must be 0 or more") }
    }

    private func choice(at now: Int64) -> JournalPrune.Choice {
        if let olderThan { return .endedBefore(now - olderThan.milliseconds) }
        if let toBytes { return .keepingBytes(toBytes) }
        return .submissions(submission)
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let now = WallClock.milliseconds()
        let (path, choice, dryRun) = (data.path, choice(at: now), dryRun)
        guard JournalVerification.isThere(in: path) else {
            throw ToolError(.notFound, "notFound", "there is no journal in \(path); name its directory with --data")
        }
        let pruned = try await JournalWork.run { try JournalPrune(dataDirectory: path, choice, isDryRun: dryRun, at: now) }
        for text in pruned.warnings { await console.warn(text) }
        switch console.mode {
        case .json, .jsonl: try await console.writeValue(json(pruned))
        case .quiet: try await console.write(pruned.forgotten.map { "\($0.id)\n" }.joined())
        case .text: try await console.write(text(pruned))
        }
        guard pruned.refused.isEmpty else {
            throw ToolError(
                .notFound, "notFound",
                "not there, or not ended: \(pruned.refused.joined(separator: ", ")); `aop list` has whole ids, and `aop cancel` ends what runs"
            )
        }
        return .success
    }

    private func text(_ pruned: JournalPrune) -> String {
        var lines = pruned.forgotten.map { "\($0.id)  \(PlainText.of($0.name))  \($0.bytes) bytes" }
        let bytes = pruned.forgotten.reduce(0) { $0 + $1.bytes }
        lines.append(
            "\(pruned.forgotten.count) submissions of \(bytes) bytes \(dryRun ? "would be" : "are") forgotten; those that have ended and stay have "
                + "\(pruned.keptBytes)")
        if dryRun, pruned.leftValues > 0 {
            lines.append("\(pruned.leftValues) large values of \(pruned.leftValueBytes) bytes that nothing names would be removed, too")
        }
        if !dryRun, !pruned.forgotten.isEmpty || pruned.removedValues > 0 {
            let left = pruned.leftValues > 0 ? "; nothing had named \(pruned.leftValues) of them, of \(pruned.leftValueBytes) bytes" : ""
            lines.append("\(pruned.removedValues) large values of \(pruned.removedValueBytes) bytes were removed\(left)")
        }
        if pruned.freedBytes > 0 { lines.append("the journal's file has become smaller by \(pruned.freedBytes) bytes") }
        if let reason = pruned.notCompacted { lines.append("the journal's file keeps its size, and uses the room again: \(reason)") }
        return lines.joined(separator: "\n") + "\n"
    }

    private func json(_ pruned: JournalPrune) -> JSONValue {
        .shape([
            ("path", .string(pruned.path)), ("dryRun", .bool(dryRun)),
            (
                "forgotten",
                .array(
                    pruned.forgotten.map { one in
                        .shape([
                            ("id", .string(one.id)), ("name", .string(one.name)), ("endedAt", .integer(one.endedAt)),
                            ("bytes", .integer(one.bytes)),
                        ])
                    })
            ),
            ("refused", .array(pruned.refused.map { .string($0) })), ("keptBytes", .integer(pruned.keptBytes)),
            ("removedValues", .integer(Int64(pruned.removedValues))),
            ("removedValueBytes", .integer(Int64(clamping: pruned.removedValueBytes))),
            ("leftValues", .integer(Int64(pruned.leftValues))), ("leftValueBytes", .integer(Int64(clamping: pruned.leftValueBytes))),
            ("freedBytes", .integer(pruned.freedBytes)),
            ("notCompacted", pruned.notCompacted.map { .string($0) } ?? .null),
        ])
    }
}
