import ArgumentParser
import Cluster
import Foundation
import Wire

struct LogsCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "What operations wrote: standard output, standard error, and lines of their log.",
        discussion: """
            Of one operation the bytes as they are; of several each line after its operation's path.

            Examples:
              aop logs last
              aop logs 7fk2/count/3
              aop logs 7fk2 -f
            """)

    @Argument(help: "ID, or ID/PATH of an operation or group.")
    var reference: OperationReference
    @Flag(name: [.short, .long], help: "Go on as more is written, until the work ends.")
    var follow = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            var position: UInt64 = 0
            var lines = LogLines(console: console, single: reference.path)
            var collected: [JSONValue] = []
            var id = reference.submission
            while true {
                let page = try await connection.readOutput(id, path: reference.path, after: position, waits: follow)
                if !page.id.isEmpty { id = page.id }
                position = page.position
                switch console.mode {
                case .json: collected += page.records.map(\.json)
                case .jsonl: for record in page.records { try await console.writeValue(record.json) }
                case .text, .quiet: for record in page.records { try await lines.write(record) }
                }
                guard page.records.isEmpty else { continue }
                if page.ended || !follow { break }
            }
            try await lines.finish()
            if console.mode == .json {
                try await console.writeValue(.shape([("id", .string(id)), ("records", .array(collected))]))
            }
        }
        return .success
    }
}

extension WireOutputRecord {
    var json: JSONValue {
        .object([
            ("path", .string(path)), ("attempt", .integer(Int64(attemptNumber))), ("stream", .string(stream.word)),
            ("at", .time(at)), ("text", .string(String(decoding: bytes, as: UTF8.self))), ("truncated", .bool(truncated)),
        ])
    }
}

/// Puts the parts that arrive together to lines, each after the path of its operation.
private struct LogLines {
    private struct Source: Hashable {
        var path: String
        var attempt: UInt32
        var stream: WireOutputStream
    }

    let console: Console
    /// The operation whose bytes are shown as they are; empty: all get their path.
    let single: String
    private var open: [Source: Data] = [:]

    init(console: Console, single: String) {
        self.console = console
        self.single = single
    }

    mutating func write(_ record: WireOutputRecord) async throws {
        if record.path == single {
            try await console.out.write(record.bytes)
        } else {
            let source = Source(path: record.path, attempt: record.attemptNumber, stream: record.stream)
            var rest = (open.removeValue(forKey: source) ?? Data()) + record.bytes
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                try await console.out.write(Data("\(record.path): ".utf8) + rest[...end])
                rest = Data(rest[(end + 1)...])
            }
            if !rest.isEmpty { open[source] = rest }
        }
    }

    mutating func finish() async throws {
        for (source, rest) in open.sorted(by: { ($0.key.path, $0.key.attempt) < ($1.key.path, $1.key.attempt) }) {
            try await console.out.write(Data("\(source.path): ".utf8) + rest + Data("\n".utf8))
        }
        open = [:]
    }
}
