import Cluster
import Foundation
import Shapes
import Wire

/// Shows a submission's progress on standard error: a live area on a terminal, a line per state change elsewhere.
actor ProgressReporter {
    /// At most ten redraws a second.
    static let redrawInterval = Duration.milliseconds(100)

    private enum Form {
        case live
        case lines
        case none
    }

    private let console: Console
    private let form: Form
    private var model = ProgressModel()
    private var drawnLines = 0
    private var isCursorHidden = false

    init(console: Console) {
        self.console = console
        form =
            switch console.mode {
            case .quiet: .none
            case .text where console.err.isTerminal && Environment["TERM"] != "dumb": .live
            case .text, .json, .jsonl: .lines
            }
    }

    /// Follows the submission until it has its outcome, and gives its final view.
    nonisolated func follow(_ id: String, over connection: ClusterConnection) async throws -> WireSubmissionView {
        let ticker = Task {
            while !Task.isCancelled {
                await self.redraw()
                try await Task.sleep(for: Self.redrawInterval)
            }
        }
        defer { ticker.cancel() }
        do {
            for try await event in connection.follow(id) {
                if console.mode == .jsonl { try await writeEvents(event) }
                await handle(event)
                switch event {
                case .view(let view), .events(_, let view):
                    if view.state.isFinal {
                        await finish()
                        return view
                    }
                case .interrupted: break
                }
            }
        } catch {
            await finish()
            throw error
        }
        await finish()
        throw CancellationError()
    }

    /// A message of something else, above the live area.
    func note(_ text: String) {
        erase()
        console.note(text)
        redraw()
    }

    private func handle(_ event: FollowEvent) {
        let wasInterrupted = model.interruption != nil
        let changes = model.apply(event, now: WallClock.milliseconds())
        switch form {
        case .none: break
        case .lines:
            if case .interrupted(let reason) = event {
                console.note("the coordinator is not heard (\(reason)); trying again\n")
            } else if wasInterrupted {
                console.note("the coordinator is back\n")
            }
            console.note(changes.map(line).joined())
        case .live:
            let failures = changes.filter { $0.state == .failed && !$0.errors.isEmpty }
            guard !failures.isEmpty else { return }
            erase()
            console.note(failures.prefix(FailureText.shownAtMost).map(line).joined())
            redraw()
        }
    }

    /// `running   count/3  (host/0)`
    private func line(_ event: WireEvent) -> String {
        let path = event.path.isEmpty ? "the submission" : event.path
        if event.state == .failed, let error = event.errors.first {
            return FailureText(style: console.errStyle).head(error, path: path) + "\n"
        }
        let state = DisplayWidth.pad(event.state.word, to: 10)
        let worker = event.worker.isEmpty ? "" : "  (\(event.worker))"
        let stage = event.state == .stopping ? event.history.last.map { ": \(PlainText.of($0.text))" } ?? "" : ""
        return "\(state)\(path)\(worker)\(stage)\n"
    }

    private func redraw() {
        // A terminal that does not keep up gets the next picture instead of all of them.
        guard case .live = form, console.err.backlog == 0 else { return }
        let screen = ProgressScreen(model: model, style: console.errStyle)
        let lines = screen.lines(width: TerminalSize.columns(of: console.err.descriptor) - 1, now: WallClock.milliseconds())
        guard !lines.isEmpty else { return }
        var text = isCursorHidden ? "" : "\u{1B}[?25l"
        isCursorHidden = true
        text += upToTop() + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
        drawnLines = lines.count
        console.note(text)
    }

    private func erase() {
        guard drawnLines > 0 else { return }
        console.note(upToTop() + "\u{1B}[J")
        drawnLines = 0
    }

    /// Takes the live area away and gives the cursor back.
    func finish() {
        erase()
        model = ProgressModel()
        guard isCursorHidden else { return }
        console.note("\u{1B}[?25h")
        isCursorHidden = false
    }

    private func upToTop() -> String { drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : "" }

    private nonisolated func writeEvents(_ event: FollowEvent) async throws {
        guard case .events(let events, let view) = event else { return }
        for event in events {
            try await console.writeValue(
                .shape([
                    ("event", .string("operation")), ("id", .string(view.id)), ("path", .string(event.path)),
                    ("state", .string(event.state.word)), ("at", .time(event.at)), ("worker", .optional(event.worker)),
                    ("attempt", .integer(Int64(event.attempt))),
                    ("progress", event.hasProgress ? event.progress.json : .null),
                    ("history", .array(event.history.map(\.json))),
                    ("errors", .array(event.errors.map { .object(JSONValue.members(of: $0, path: event.path)) })),
                ]))
        }
    }
}

enum TerminalSize {
    /// Columns of the terminal behind a descriptor; 80 where it does not say.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
