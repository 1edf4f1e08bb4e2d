import Shapes
import Wire

/// Which states of a submission's operations a watcher has been told, so that it is told each change once, also of those that
/// happened while it could not hear the coordinator: pure.
///
/// Events come for as long as a connection stands. After it was made anew the operations are listed, and what differs from what was
/// told is told then; events that come after the list and say what was in it already are no news.
struct ToldStates: Sendable {
    /// From when on changes are told.
    enum Beginning: Sendable {
        /// From the submission on: the watcher has made it.
        case submission
        /// From now on; of what was before, what goes on and what has failed.
        case now
    }

    private struct Told: Hashable {
        var attempt: UInt32
        var state: WireOperationState
        var progress: WireProgress?
        /// It is known from a list: an event of the same may still come.
        var isListed = false
        /// It was listed as given back: its worker tells anew that it runs once it is back.
        var isDoubted = false
        /// While it waits for its next attempt: when that may start.
        var retryAt: Int64 = 0
    }

    private let beginning: Beginning
    private var isFirstList = true
    private var told: [UInt32: Told] = [:]

    init(_ beginning: Beginning) { self.beginning = beginning }

    /// Of events, those that were not told yet.
    mutating func news(in events: [WireEvent]) -> [WireEvent] {
        events.filter { event in
            if event.hasProgress {
                told[event.unit]?.progress = event.progress
                return true
            }
            if let known = told[event.unit] {
                if known.isListed, Self.isOver(event, known) { return false }
                if known.isDoubted, event.state == .running, event.attempt == known.attempt { return false }
            }
            told[event.unit] = Told(attempt: event.attempt, state: event.state)
            return true
        }
    }

    /// Of operations as they are listed now, what was not told yet, as events. Call ``listed()`` behind the last page.
    mutating func news(in operations: [WireOperationView]) -> [WireEvent] {
        operations.filter { $0.kind == .operation }.flatMap { news(in: $0) }
    }

    /// The list was read to its end.
    mutating func listed() { isFirstList = false }

    private mutating func news(in operation: WireOperationView) -> [WireEvent] {
        let before = told[operation.unit]
        // A coordinator that has started anew does not know yet what its workers go on with.
        if let before, before.attempt == operation.attempts, before.state != .retrying,
            Self.stage(operation.state) < Self.stage(before.state)
        {
            told[operation.unit]?.isDoubted = true
            return []
        }
        var now = Told(attempt: operation.attempts, state: operation.state, isListed: true, retryAt: operation.retryAt)
        now.progress = operation.hasProgress ? operation.progress : nil
        told[operation.unit] = now
        var events: [WireEvent] = []
        let isChange = before.map { ($0.attempt, $0.state) != (now.attempt, now.state) } ?? (now.state != .blocked)
        if isChange, !(isFirstList && beginning == .now && Self.isPast(now.state)) { events.append(WireEvent(asListed: operation)) }
        if let progress = now.progress, progress != before?.progress { events.append(WireEvent(progress, of: operation)) }
        return events
    }

    /// An event from before the list in which `known` was.
    private static func isOver(_ event: WireEvent, _ known: Told) -> Bool {
        // What was told to stop before it had begun has had no attempt.
        if known.state == .stopping, event.state.isFinal, event.attempt + 1 == known.attempt { return false }
        if event.attempt != known.attempt { return event.attempt < known.attempt }
        // The next attempt is prepared under the number of the one before.
        if known.state == .retrying, stage(event.state) == 0 { return event.at < known.retryAt }
        // What it waits for may change to and fro, and how it is being stopped has stages of its own.
        if event.state == known.state { return event.state != .stopping }
        return stage(event.state) < stage(known.state)
    }

    /// How far an attempt has come.
    private static func stage(_ state: WireOperationState) -> Int {
        switch state {
        case .blocked, .locking, .evaluating, .queued, .paused, .UNRECOGNIZED: 0
        case .running: 1
        case .stopping: 2
        case .retrying: 3
        case .succeeded, .failed, .cancelled: 4
        }
    }

    /// Who begins to watch now did not ask for it.
    private static func isPast(_ state: WireOperationState) -> Bool {
        switch state {
        case .succeeded, .cancelled, .blocked, .locking, .evaluating, .queued, .paused, .UNRECOGNIZED: true
        case .running, .stopping, .retrying, .failed: false
        }
    }
}

extension WireEvent {
    /// The state of an operation as a list has it, as the event that told of it.
    fileprivate init(asListed operation: WireOperationView) {
        self = .with {
            $0.unit = operation.unit
            $0.path = operation.path
            $0.state = operation.state
            $0.attempt = operation.attempts
            $0.errors = operation.errors
            $0.startedAt = operation.startedAt
            switch operation.state {
            case .running:
                $0.worker = operation.worker
                $0.at = operation.startedAt
            case .stopping:
                $0.worker = operation.worker
                $0.history = operation.history
                $0.at = operation.history.last?.at ?? operation.startedAt
            case .queued: $0.at = operation.queuedAt
            case .succeeded, .failed, .cancelled: $0.at = operation.finishedAt
            case .blocked, .locking, .evaluating, .retrying, .paused, .UNRECOGNIZED: break
            }
        }
    }

    fileprivate init(_ progress: WireProgress, of operation: WireOperationView) {
        self = .with {
            $0.unit = operation.unit
            $0.path = operation.path
            $0.state = operation.state
            $0.attempt = operation.attempts
            $0.worker = operation.worker
            $0.at = progress.at
            $0.progress = progress
        }
    }
}
