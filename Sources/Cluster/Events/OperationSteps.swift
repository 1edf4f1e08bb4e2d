import Wire

/// The steps of the operations of one submission that have been told: pure. Each start, stop, retry and end is told once, and none after a later
/// one, whether it is learned from an event or from how the operation stands, which is how a follower makes up for what it has missed.
///
/// Some 60 bytes for each operation that has begun or ended.
package struct OperationSteps: Sendable {
    /// How far an operation has come: attempt by attempt, to its end.
    private struct Step: Comparable {
        var attempt: UInt32
        var stage: Stage

        static func < (a: Self, b: Self) -> Bool { (a.attempt, a.stage) < (b.attempt, b.stage) }
    }

    private enum Stage: Int, Comparable {
        case started, stopping, retrying, ended

        /// nil: it waits for something.
        init?(_ state: WireOperationState) {
            switch state {
            case .running: self = .started
            case .stopping: self = .stopping
            case .retrying: self = .retrying
            case .succeeded, .failed, .cancelled: self = .ended
            case .blocked, .locking, .evaluating, .queued, .paused, .UNRECOGNIZED: return nil
            }
        }

        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// The last step that was told.
    private struct Told {
        var step: Step
        var state: WireOperationState
        var at: Int64
        var worker: String
    }

    private var told: [UInt32: Told] = [:]

    package init() {}

    /// What is new in how operations stand: steps, in the order of the operations.
    /// - Complexity: O(their number and that of their attempts).
    package mutating func stand(_ views: [WireOperationView]) -> [WireEvent] {
        views.flatMap { view -> [WireEvent] in
            switch view.kind {
            case .group, .ordered, .forEach, .decider, .UNRECOGNIZED: return []
            case .operation: break
            }
            let before = view.earlierAttempts.flatMap { advance(Self.event($0, of: view), isEarlier: true) }
            // When it was told to stop the view does not say.
            let state = view.state.isFinal ? view.state : .running
            return before
                + advance(
                    .with {
                        ($0.unit, $0.path, $0.state, $0.attempt) = (view.unit, view.path, state, view.attempts)
                        ($0.worker, $0.startedAt, $0.at) = (view.worker, view.startedAt, view.finishedAt)
                        $0.errors = view.errors
                    })
        }
    }

    /// An attempt that does not count: its end where it was the operation's until its group was tried again; else `retrying` where it failed.
    /// What became of others is not told of the operation: that one was lost, of the worker.
    private static func event(_ attempt: WireEarlierAttempt, of view: WireOperationView) -> WireEvent {
        .with {
            ($0.unit, $0.path, $0.attempt, $0.worker) = (view.unit, view.path, attempt.number, attempt.worker)
            ($0.startedAt, $0.at) = (attempt.startedAt, attempt.finishedAt)
            switch attempt.ending {
            case .succeeded: $0.state = attempt.wasEnd ? .succeeded : .running
            case .failed:
                $0.state = attempt.wasEnd ? .failed : .retrying
                $0.errors = [.with { $0.message = attempt.text }]
            case .cancelled: $0.state = attempt.wasEnd ? .cancelled : .running
            case .lost, .UNRECOGNIZED: $0.state = .running
            }
        }
    }

    /// What is new in what has happened; what is no step, such as that it waits, is new where no later step has been told. A start that came
    /// together with what followed it is an event of its own.
    package mutating func happened(_ events: [WireEvent]) -> [WireEvent] {
        events.flatMap { event -> [WireEvent] in
            if Stage(event.state) != nil, !event.hasProgress { return advance(event) }
            let started = start(of: event).map { [$0] } ?? []
            return isPast(event) ? started : started + [event]
        }
    }

    /// A step, and the start before it, as far as they are new.
    /// - Parameter isEarlier: it is of an attempt that another one came after.
    private mutating func advance(_ event: WireEvent, isEarlier: Bool = false) -> [WireEvent] {
        var events = start(of: event).map { [$0] } ?? []
        guard let stage = Stage(event.state), stage > .started else { return events }
        var event = event
        let step = Step(attempt: event.attempt, stage: stage)
        if let last = told[event.unit] {
            // An operation that had ended may be cancelled before its next attempt, when its group is tried again: one more end.
            let isLater = event.at > last.at || (event.at == last.at && event.state != last.state)
            guard step > last.step || (step == last.step && stage == .ended && isLater && !isEarlier) else { return events }
            // What was lost, or has not begun, does not say where it was.
            if event.worker.isEmpty, last.step.attempt == event.attempt { event.worker = last.worker }
        }
        told[event.unit] = Told(step: step, state: event.state, at: event.at, worker: event.worker)
        events.append(event)
        return events
    }

    /// The start of the attempt that an event is about, if that is new.
    private mutating func start(of event: WireEvent) -> WireEvent? {
        guard event.startedAt > 0, event.attempt > 0 else { return nil }
        let step = Step(attempt: event.attempt, stage: .started)
        if let last = told[event.unit], last.step >= step { return nil }
        told[event.unit] = Told(step: step, state: .running, at: event.startedAt, worker: event.worker)
        return .with {
            ($0.unit, $0.path, $0.state, $0.attempt, $0.group) = (event.unit, event.path, .running, event.attempt, event.group)
            ($0.worker, $0.startedAt, $0.at) = (event.worker, event.startedAt, event.startedAt)
        }
    }

    /// Whether a later step has been told than what is none.
    private func isPast(_ event: WireEvent) -> Bool {
        guard let last = told[event.unit] else { return false }
        return last.step.attempt > event.attempt || (last.step >= Step(attempt: event.attempt, stage: .ended) && event.at < last.at)
    }
}
