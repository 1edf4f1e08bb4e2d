import Cluster
import Foundation
import Logging
import Shapes
import Synchronization
import Worker

/// What a command says: results on standard output, everything else on standard error.
final class Console: Sendable {
    private struct State {
        var hasWrittenValue = false
        var submission: String?
        var doubt: String?
    }

    let mode: OutputMode
    /// What is said on standard error: as text, or an object a line, as log lines are.
    let logFormat: LogFormat
    let out = FileOutput.standardOutput
    let err = FileOutput.standardError
    /// For text on standard output.
    let outStyle: Style
    /// For text on standard error.
    let errStyle: Style
    private let state = Mutex(State())

    init(_ options: OutputOptions) {
        mode = options.output
        logFormat = options.logFormat
        outStyle = options.style(for: .standardOutput)
        errStyle = logFormat == .json ? Style(isEnabled: false) : options.style(for: .standardError)
    }

    /// Without colours, for errors that come before any options.
    init(output: OutputMode, logFormat: LogFormat = .text) {
        mode = output
        self.logFormat = logFormat
        outStyle = Style(isEnabled: false)
        errStyle = Style(isEnabled: false)
    }

    /// Standard output carries JSON.
    var isJSON: Bool { mode == .json || mode == .jsonl }

    /// The submission the command is about, once it is known: an interruption names it.
    var submission: String? {
        get { state.withLock { $0.submission } }
        set { state.withLock { $0.submission = newValue } }
    }

    /// What is not known, and how to know it, while the command is about a submission that has no name yet.
    var doubt: String? {
        get { state.withLock { $0.doubt } }
        set { state.withLock { $0.doubt = newValue } }
    }

    /// The command's one JSON value (or, with jsonl, one of them).
    func writeValue(_ value: JSONValue, connection: ClusterConnection? = nil) async throws {
        state.withLock { $0.hasWrittenValue = true }
        var writer = JSONWriter(out, connection: connection)
        try await writer.writeLine(value)
    }

    /// Text on standard output.
    func write(_ text: String) async throws { try await out.write(Data(text.utf8)) }

    /// A message on standard error, some time soon and in order. Of several lines each is one.
    func note(_ text: String, _ level: Logger.Level = .info) {
        switch logFormat {
        case .text: err.enqueue(text)
        case .json: for line in text.split(whereSeparator: \.isNewline) { note(level, String(line)) }
        }
    }

    /// As `note`, where log lines are objects.
    func note(_ level: Logger.Level, _ message: String, _ metadata: [String: String] = [:]) {
        err.enqueue(ServiceNotice.line(level, message, logger: Self.logger, metadata: metadata))
    }

    private static let logger = "aop"

    /// What a process has said that this one has started, in the same form, without the end of the line.
    func relay(_ line: String) {
        if logFormat == .json, line.hasPrefix("{") { err.enqueue(line + "\n") } else { note(line + "\n") }
    }

    /// Hints are for people.
    func hint(_ text: String) {
        if mode == .text { note(errStyle.dim(text) + "\n") }
    }

    /// Something that is no error, and that nobody should miss.
    func warn(_ text: String) async {
        guard isJSON else {
            return logFormat == .json ? note(.warning, text) : note("\(errStyle.yellow("warning:")) \(text)\n")
        }
        var writer = JSONWriter(err)
        await say { try await writer.writeLine(.shape([("warning", .string(text))])) }
    }

    /// Says what went wrong: for people as lines, for programs as JSON. Standard output gets its one JSON value even so.
    func report(_ error: ToolError) async {
        var error = error
        error.submission = error.submission ?? submission
        if isJSON {
            var text = JSONWriter(err)
            await say { try await text.writeLine(.shape(error.members)) }
            if !state.withLock({ $0.hasWrittenValue }) {
                await say { try await self.writeValue(.shape([("error", error.json)])) }
            }
            return
        }
        for line in error.faults.told { note("\(line)\n", .error) }
        switch logFormat {
        case .text: note("\(ServiceLog.errorPrefix)\(errStyle.red("aop:")) \(error.message)\n")
        case .json: note(.error, error.message, ["code": error.code])
        }
        await err.flush()
    }

    private func say(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            // The place for errors is gone itself; the exit code still tells.
            note("aop: \(error)\n", .error)
        }
    }
}
