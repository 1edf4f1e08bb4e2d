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
        /// A line for each change.
        case lines
        /// Changes are on standard output: only what becomes of the connection is said.
        case connection
        case none
    }

    private let console: Console
    private let form: Form
    private var model = ProgressModel()
    private var area = LiveArea()

    init(console: Console) {
        self.console = console
        form =
            switch console.mode {
            case .quiet: .none
            case .text where console.logFormat == .text && console.err.isTerminal && Environment["TERM"] != "dumb": .live
            case .text, .json: .lines
            case .jsonl: .connection
            }
    }

    /// Follows the submission until it has its outcome, and gives its final view. Each change is told once, whatever becomes of the
    /// connection meanwhile.
    nonisolated func follow(
        _ id: String, from beginning: ToldStates.Beginning, over connection: ClusterConnection
    ) async throws -> WireSubmissionView {
        let ticker = Task {
            while !Task.isCancelled {
                await self.redraw()
                try await Task.sleep(for: Self.redrawInterval)
            }
        }
        defer { ticker.cancel() }
        do {
            let view = try await tellUntilTheEnd(of: id, from: beginning, over: connection)
            await finish()
            return view
        } catch {
            await finish()
            throw error
        }
    }

    private nonisolated func tellUntilTheEnd(
        of id: String, from beginning: ToldStates.Beginning, over connection: ClusterConnection
    ) async throws -> WireSubmissionView {
        var told = ToldStates(beginning)
        for try await event in connection.follow(id) {
            switch event {
            case .interrupted:
                await handle(event)
            case .view(let view):
                await handle(event)
                // What happened before it is in no event.
                for try await page in connection.operations(of: view.id) { try await tell(told.news(in: page), view) }
                told.listed()
                if view.state.isFinal { return view }
            case .events(let events, let view):
                try await tell(told.news(in: events), view)
                if view.state.isFinal { return view }
            }
        }
        throw CancellationError()
    }

    private nonisolated func tell(_ events: [WireEvent], _ view: WireSubmissionView) async throws {
        if console.mode == .jsonl { try await write(events, of: view.id) }
        await handle(.events(events, view))
    }

    /// A message of something else, above the live area.
    func note(_ text: String) {
        erase()
        console.note(text)
        redraw()
    }

    /// A line of a process that belongs to this one, above the live area.
    func relay(_ line: String) {
        erase()
        console.relay(line)
        redraw()
    }

    private func handle(_ event: FollowEvent) {
        let wasInterrupted = model.interruption != nil
        let changes = model.apply(event, now: WallClock.milliseconds())
        switch form {
        case .none: break
        case .connection:
            noteConnection(event, wasInterrupted: wasInterrupted)
        case .lines:
            noteConnection(event, wasInterrupted: wasInterrupted)
            switch console.logFormat {
            case .text: console.note(changes.map(line).joined())
            case .json: for change in changes { noteAsObject(change) }
            }
        case .live:
            let failures = changes.filter { $0.state == .failed && !$0.errors.isEmpty }
            guard !failures.isEmpty else { return }
            erase()
            console.note(failures.prefix(FailureText.shownAtMost).map(line).joined())
            redraw()
        }
    }

    private func noteConnection(_ event: FollowEvent, wasInterrupted: Bool) {
        if case .interrupted(let reason) = event {
            console.note("the coordinator is not heard (\(reason)); trying again\n")
        } else if wasInterrupted {
            console.note("the coordinator is back\n")
        }
    }

    private func noteAsObject(_ event: WireEvent) {
        var metadata = ["operation": event.path, "attempt": "\(event.attempt)"]
        if !event.worker.isEmpty { metadata["worker"] = event.worker }
        if event.state == .stopping, let stage = event.history.last { metadata["stage"] = stage.text }
        if let error = event.errors.first { metadata["error"] = error.message }
        console.note(event.state == .failed ? .notice : .info, event.state.word, metadata)
    }

    /// That of the longest, `evaluating`, and a space.
    private static let stateWidth = 11

    /// `running    count/3  (host/0)`
    private func line(_ event: WireEvent) -> String {
        let path = event.path.isEmpty ? "the submission" : event.path
        if event.state == .failed, let error = event.errors.first {
            return FailureText(style: console.errStyle).head(error, path: path) + "\n"
        }
        let state = DisplayWidth.pad(event.state.word, to: Self.stateWidth)
        let worker = event.worker.isEmpty ? "" : "  (\(event.worker))"
        let stage = event.state == .stopping ? event.history.last.map { ": \(PlainText.of($0.text))" } ?? "" : ""
        return "\(state)\(path)\(worker)\(stage)\n"
    }

    private func redraw() {
        // A terminal that does not keep up gets the next picture instead of all of them.
        guard case .live = form, console.err.backlog == 0 else { return }
        let size = size
        let screen = ProgressScreen(model: model, style: console.errStyle)
        console.note(area.draw(screen.lines(width: size.columns - 1, now: WallClock.milliseconds()), on: size))
    }

    private func erase() { console.note(area.erase(on: size)) }

    /// Takes the live area away and gives the cursor back.
    func finish() {
        console.note(area.finish(on: size))
        model = ProgressModel()
    }

    /// As it is now: it may have changed since the last picture.
    private var size: TerminalSize { TerminalSize(of: console.err.descriptor) }

    private nonisolated func write(_ events: [WireEvent], of id: String) async throws {
        for event in events {
            try await console.writeValue(
                .shape([
                    ("event", .string("operation")), ("id", .string(id)), ("path", .string(event.path)),
                    ("state", .string(event.state.word)), ("at", .time(event.at)), ("worker", .optional(event.worker)),
                    ("attempt", .integer(Int64(event.attempt))),
                    ("progress", event.hasProgress ? event.progress.json : .null),
                    ("startedAt", .time(event.startedAt)), ("history", .array(event.history.map(\.json))),
                    ("errors", .array(event.errors.map { .object(JSONValue.members(of: $0, path: event.path)) })),
                ]))
        }
    }
}
