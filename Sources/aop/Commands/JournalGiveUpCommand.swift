import ArgumentParser
import Coordinator
import Shapes
import Wire

struct JournalGiveUpCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "give-up",
        abstract: "Give up large values whose files are lost, so that a coordinator starts without them.",
        discussion: """
            A coordinator does not start while a large value is missing that its journal names. Put the files back from a backup (DATA/blobs)
            if there is one. If there is none: after this command it starts; operations that need one of the values fail, `aop result` of
            one fails, and everything else goes on. Run it on the coordinator's host, as its user.

            Examples:
              aop journal give-up --dry-run
              aop journal give-up --data /var/lib/aop
            """)

    @Flag(help: "Only say which they are.")
    var dryRun = false
    @OptionGroup var data: DataOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let (path, dryRun) = (data.path, dryRun)
        guard JournalVerification.isThere(in: path) else {
            throw ToolError(.notFound, "notFound", "there is no journal in \(path); name its directory with --data")
        }
        let loss = try await JournalWork.run { try JournalLoss(dataDirectory: path, isDryRun: dryRun) }
        switch console.mode {
        case .json, .jsonl: try await console.writeValue(json(loss))
        case .quiet: try await console.write(loss.values.map { "\($0.place)\n" }.joined())
        case .text: try await console.write(text(loss))
        }
        return .success
    }

    private func text(_ loss: JournalLoss) -> String {
        guard !loss.values.isEmpty else { return "no large value is missing\n" }
        var lines = loss.values.map { value in
            "\(PlainText.of(value.place))  \(value.size) bytes  \(value.digest)\(value.wasGivenUp ? "  (given up before)" : "")"
        }
        let count = loss.values.count
        lines.append(
            "\(count) large value\(count == 1 ? "" : "s") \(dryRun ? "would be" : count == 1 ? "is" : "are") given up: operations that need "
                + "\(count == 1 ? "it" : "one of them") fail")
        return lines.joined(separator: "\n") + "\n"
    }

    private func json(_ loss: JournalLoss) -> JSONValue {
        .shape([
            ("path", .string(loss.path)), ("dryRun", .bool(dryRun)),
            (
                "values",
                .array(
                    loss.values.map { value in
                        .shape([
                            ("digest", .string(value.digest)), ("size", .integer(Int64(clamping: value.size))),
                            ("place", .string(value.place)), ("wasGivenUp", .bool(value.wasGivenUp)),
                        ])
                    })
            ),
        ])
    }
}
