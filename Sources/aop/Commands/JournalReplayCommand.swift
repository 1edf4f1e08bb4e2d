import ArgumentParser
import Coordinator
import Foundation
import Shapes

struct JournalReplayCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Tell a scheduler once more what a coordinator's was told, and compare what it decides.",
        discussion: """
            Needs a recording, which `aop coordinator --flight-recorder BYTES` makes from its start on. Exits 1 with the first step that comes to
            something else than it did then, and 5 where no step was recorded. It may be of a coordinator that runs.

            Examples:
              aop journal replay
              aop journal replay /var/lib/aop/flight/1803600000.flight -o json
            """)

    @Argument(help: "The recording; without it the newest one of the data directory.", completion: .file())
    var recording: String?
    @OptionGroup var data: DataOption
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        guard let path = recording ?? JournalReplay.recordings(in: data.path).first else {
            throw ToolError(
                .notFound, "notFound", "there is no recording in \(data.path); one is made by a coordinator with --flight-recorder BYTES")
        }
        guard FileManager.default.fileExists(atPath: path) else {
            throw ToolError(
                .notFound, "notFound", "there is no recording \(path); without a name the newest one of --data is replayed")
        }
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw ToolError(
                .usage, "usage",
                "\(path) is a directory and no recording; the newest one of a data directory is replayed with --data \(path)")
        }
        let replay: JournalReplay
        do { replay = try await JournalWork.run { try JournalReplay(recording: path) } } catch let error as RecordingError {
            throw ToolError(.toolError, "recording", "\(error)")
        }
        switch console.mode {
        case .json, .jsonl: try await console.writeValue(json(replay))
        case .quiet: break
        case .text: try await console.write(text(replay))
        }
        if let gap = replay.gap {
            throw ToolError(.notFound, "nothingRecorded", "nothing was recorded in \(path) that could be compared: \(gap)")
        }
        guard let difference = replay.difference else { return .success }
        throw ToolError(
            .toolError, "replay",
            "step \(difference.step) of \(path) came to other \(difference.isInFacts ? "facts" : "messages") than it did then: keep the recording, and "
                + "report it with the release (`aop --version`)")
    }

    private func text(_ replay: JournalReplay) -> String {
        var lines = [replay.path, "  \(replay.steps) steps, \(replay.inputs) inputs, \(replay.facts) facts"]
        if let ending = replay.ending { lines.append("  it ends early: \(ending); what came later was not recorded") }
        if replay.unreadBytes > 0 {
            lines.append(
                "  its last \(replay.unreadBytes) bytes are no whole row: it was cut off there, as by a crash, or is damaged; what they say is not told"
            )
        }
        if let difference = replay.difference {
            lines.append("  step \(difference.step): fact \(difference.sequences.then) then, \(difference.sequences.now) now")
            lines += difference.facts.map { "    now: \(PlainText.of($0))" }
        } else if replay.gap == nil {
            lines.append("the same decisions, step by step\(replay.unreadBytes > 0 ? ", up to there" : "")")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func json(_ replay: JournalReplay) -> JSONValue {
        let difference = replay.difference.map { difference in
            JSONValue.shape([
                ("step", .integer(Int64(difference.step))), ("sequenceThen", .integer(Int64(clamping: difference.sequences.then))),
                ("sequenceNow", .integer(Int64(clamping: difference.sequences.now))), ("inFacts", .bool(difference.isInFacts)),
                ("factsNow", .array(difference.facts.map { .string($0) })),
            ])
        }
        return .shape([
            ("path", .string(replay.path)), ("steps", .integer(Int64(replay.steps))), ("inputs", .integer(Int64(replay.inputs))),
            ("facts", .integer(Int64(clamping: replay.facts))), ("whole", .bool(replay.ending == nil)),
            ("ending", replay.ending.map { .string($0) } ?? .null), ("gap", replay.gap.map { .string($0) } ?? .null),
            ("unreadBytes", .integer(Int64(replay.unreadBytes))), ("difference", difference ?? .null),
        ])
    }
}
