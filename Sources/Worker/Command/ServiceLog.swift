import ArgumentParser
import Foundation
import Logging

/// Log lines on standard error. Where that is systemd's journal each has its priority before it, as sd-daemon(3) says, so that
/// `journalctl -p warning` finds what somebody has to know.
package enum ServiceLog {
    package static func handler(label: String, _ format: LogFormat) -> any LogHandler {
        switch (format, isJournal) {
        case (.text, true): JournalLogHandler(label: label)
        case (.text, false): StreamLogHandler.standardError(label: label)
        case (.json, _): JSONLogHandler(label: label, stream: PrefixedError(prefix: ""), isJournal: isJournal)
        }
    }

    /// What stands before a line of an error that is not logged.
    package static var errorPrefix: String { isJournal ? prefix(of: .error) : "" }

    /// What stands before a line that is an object.
    package static func journalPrefix(of level: Logger.Level) -> String { isJournal ? prefix(of: level) : "" }

    /// Whether standard error is what `JOURNAL_STREAM` names: a process of a service may have another one.
    private static let isJournal: Bool = {
        var status = stat()
        guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }()

    /// Priorities are those of syslog(3).
    static func prefix(of level: Logger.Level) -> String {
        switch level {
        case .critical: "<2>"
        case .error: "<3>"
        case .warning: "<4>"
        case .notice: "<5>"
        case .info: "<6>"
        case .debug, .trace: "<7>"
        }
    }
}

/// How a log line is written.
public enum LogFormat: String, Codable, ExpressibleByArgument, CaseIterable, Sendable {
    case text
    /// An object a line: `at`, `level`, `logger`, `message`, and what else is known of the event in `metadata`.
    case json
}

/// An event as a line of JSON, for programs that collect logs.
struct JSONLogHandler<Stream: TextOutputStream & Sendable>: LogHandler {
    let label: String
    let stream: Stream
    let isJournal: Bool
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    init(label: String, stream: Stream, isJournal: Bool = false) {
        (self.label, self.stream, self.isJournal) = (label, stream, isJournal)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var known = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { known["error"] = "\(error)" }
        let line = JSONLogLine(event.level, event.message.description, logger: label, metadata: known.mapValues(\.description))
        var stream = stream
        stream.write("\(isJournal ? ServiceLog.prefix(of: event.level) : "")\(line.text)\n")
    }
}

/// One line of a log that programs collect.
struct JSONLogLine: Encodable {
    private let at: String
    private let level: String
    private let logger: String
    private let message: String
    private let metadata: [String: String]

    init(_ level: Logger.Level, _ message: String, logger: String, metadata: [String: String] = [:]) {
        at = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        self.level = level.rawValue
        (self.message, self.logger, self.metadata) = (message, logger, metadata)
    }

    /// Without the end of the line.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return String(decoding: try encoder.encode(self), as: UTF8.self) } catch {
            preconditionFailure("a line of texts has no JSON: \(error)")
        }
    }
}

private struct JournalLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var handler = StreamLogHandler(label: label, stream: PrefixedError(prefix: ServiceLog.prefix(of: event.level)))
        handler.metadata = metadata
        handler.log(event: event)
    }
}

/// Standard error, with the same before every line.
private struct PrefixedError: TextOutputStream {
    let prefix: String

    func write(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true).map { "\(prefix)\($0)\n" }
        var rest = Array(lines.joined().utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            // There is no other place to say it.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
