import ArgumentParser
import Foundation
import Shapes

/// Where a picture goes.
struct PictureOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Write the picture to this file, and not to standard output; its ending says the format, if --format does not; one that is none of a format is refused.",
            valueName: "file"),
        completion: .file())
    var to: String?
}

/// A format that a picture can have.
protocol PictureFormat: RawRepresentable, CaseIterable, Sendable where RawValue == String {
    static var standard: Self { get }
    static var json: Self { get }
    /// Of files, without the dot, in lower case.
    var endings: [String] { get }
}

extension PictureFormat {
    /// What is meant when nobody has said it: what the file's ending says, JSON for programs that read it, or else the standard one.
    static func meant(_ format: Self?, _ options: PictureOptions, _ mode: OutputMode) -> Self {
        if let format { return format }
        let ending = options.to.map { ($0 as NSString).pathExtension.lowercased() }
        if let ending, let fitting = allCases.first(where: { $0.endings.contains(ending) }) { return fitting }
        return options.to == nil && (mode == .json || mode == .jsonl) ? json : standard
    }
}

/// A picture that is made, on its way to whoever wanted it.
struct FinishedPicture: Sendable {
    enum Content: Sendable {
        case text(String)
        case json(JSONValue)
    }

    let content: Content
    let format: String

    /// Whether standard output may carry it in this mode: with `-o json` there is one JSON value and nothing else.
    static func check<Format: PictureFormat>(_ format: Format?, _ options: PictureOptions, _ mode: OutputMode) throws {
        if let to = options.to, to.isEmpty { throw ValidationError("--to is empty; name a file, or leave it out for standard output") }
        try checkEnding(format, options)
        guard mode == .json || mode == .jsonl, let format, format != .json, options.to == nil else { return }
        throw ValidationError(
            "-o \(mode.rawValue) and --format \(format.rawValue) contradict each other on standard output; leave one out, or write the picture to a "
                + "file with --to FILE")
    }

    /// An ending that no format has is taken for a wish that cannot be met. A name without one says nothing.
    private static func checkEnding<Format: PictureFormat>(_ format: Format?, _ options: PictureOptions) throws {
        guard format == nil, let to = options.to else { return }
        let ending = (to as NSString).pathExtension
        guard !ending.isEmpty, !Format.allCases.contains(where: { $0.endings.contains(ending.lowercased()) }) else { return }
        let endings = Format.allCases.flatMap(\.endings).map { ".\($0)" }.joined(separator: ", ")
        let formats = Format.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError(
            "--to \(to): there is no format for .\(ending); name a file that ends with one of \(endings), or say with --format which it is to be"
                + " (\(formats))")
    }

    func write(_ options: PictureOptions, _ console: Console, example: String) async throws {
        if let file = options.to {
            let bytes = try await bytes()
            try await save(bytes, to: file)
            switch console.mode {
            case .json, .jsonl:
                try await console.writeValue(
                    .shape([("file", .string(file)), ("format", .string(format)), ("bytes", .integer(Int64(bytes.count)))]))
            case .quiet: break
            case .text: try await console.write("\(file): \(format), \(bytes.count) bytes\n")
            }
            return
        }
        switch content {
        case .text(let text): try await console.write(text)
        case .json(let value): try await console.writeValue(value)
        }
        if console.out.isTerminal, format == "svg" { console.hint("to see it: `\(example) --to picture.svg`, and open that in a browser") }
    }

    private func bytes() async throws -> Data {
        switch content {
        case .text(let text): return Data(text.utf8)
        case .json(let value):
            let whole = CollectedBytes()
            var writer = JSONWriter { whole.bytes.append($0) }
            try await writer.writeLine(value)
            return whole.bytes
        }
    }

    private func save(_ bytes: Data, to file: String) async throws {
        // A disk may be slow.
        let failure: String? = try await OwnThread.run { () -> String? in
            do {
                try bytes.write(to: URL(fileURLWithPath: file), options: .atomic)
                return nil
            } catch {
                return Self.reason(error)
            }
        }
        if let failure {
            throw ToolError(.toolError, "file", "cannot write \(file): \(failure); name another file with --to FILE")
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileNoSuchFile?, .fileReadNoSuchFile?: "its directory is not there"
        case .fileWriteNoPermission?: "that is not permitted"
        case .fileWriteOutOfSpace?: "the disk is full"
        default: error.localizedDescription
        }
    }
}

/// What a writer has written.
private final class CollectedBytes {
    var bytes = Data()
}
