import Foundation
import Logging

/// Log lines on standard error. Where that is systemd's journal each has its priority before it, as sd-daemon(3) says, so that
/// `journalctl -p warning` finds what somebody has to know.
package enum ServiceLog {
    package static func handler(label: String) -> any LogHandler {
        isJournal ? JournalLogHandler(label: label) : StreamLogHandler.standardError(label: label)
    }

    /// What stands before a line of an error that is not logged.
    package static var errorPrefix: String { isJournal ? prefix(of: .error) : "" }

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
