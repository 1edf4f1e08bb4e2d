import Cluster
import Shapes
import Wire

/// What has been told of one submission: pure. Each step of an operation is told once, and none after a later one, whether it is learned from
/// an event or from how the operation stands, which is how a follower makes up for what it has missed.
struct ToldEvents: Sendable {
    /// How far an operation has come: attempt by attempt, to its end.
    private struct Step: Comparable {
        var attempt: UInt32
        var stage: Int

        static func < (a: Self, b: Self) -> Bool { (a.attempt, a.stage) < (b.attempt, b.stage) }
    }

    let id: String
    let name: String
    /// By unit: the last step that was told, and where that was.
    private var told: [UInt32: (step: Step, worker: String)] = [:]
    private var hasToldEnd = false

    init(_ view: WireSubmissionView) { (id, name) = (view.id, view.name) }

    static func submitted(_ view: WireSubmissionView) -> ClusterEvent {
        ClusterEvent(at: view.submittedAt, id: view.id, name: view.name, subject: .submission, event: "submitted")
    }

    /// What is new in how operations stand.
    mutating func stand(_ views: [WireOperationView]) -> [ClusterEvent] {
        views.flatMap { view -> [ClusterEvent] in
            switch view.kind {
            case .group, .ordered, .forEach, .decider, .UNRECOGNIZED: return []
            case .operation: break
            }
            let before = view.earlierAttempts.flatMap { earlier($0, of: view) }
            // When it was told to stop the view does not say.
            return before
                + step(
                    unit: view.unit, path: view.path, state: view.state.isFinal ? view.state : .running, attempt: view.attempts,
                    worker: view.worker, at: view.finishedAt, startedAt: view.startedAt, error: view.errors.first?.message ?? "")
        }
    }

    /// What is new in an attempt that did not count: its start, and its end, which is `retrying` where it failed. That one was lost is not
    /// told of the operation, but of the worker.
    private mutating func earlier(_ attempt: WireEarlierAttempt, of view: WireOperationView) -> [ClusterEvent] {
        step(
            unit: view.unit, path: view.path, state: Self.state(after: attempt.ending), attempt: attempt.number,
            worker: attempt.worker, at: attempt.finishedAt, startedAt: attempt.startedAt,
            error: attempt.ending == .failed ? attempt.text : "")
    }

    private static func state(after ending: WireEarlierAttempt.Ending) -> WireOperationState {
        switch ending {
        case .succeeded: .succeeded
        case .failed: .retrying
        case .cancelled: .cancelled
        case .lost, .UNRECOGNIZED: .running
        }
    }

    /// What is new in what has happened.
    mutating func happened(_ events: [WireEvent]) -> [ClusterEvent] {
        events.flatMap { event -> [ClusterEvent] in
            guard !event.group else { return [] }
            return step(
                unit: event.unit, path: event.path, state: event.state, attempt: event.attempt, worker: event.worker, at: event.at,
                startedAt: event.startedAt, error: event.errors.first?.message ?? "")
        }
    }

    /// Its end, once.
    mutating func ended(_ view: WireSubmissionView) -> [ClusterEvent] {
        guard view.state.isFinal, !hasToldEnd else { return [] }
        hasToldEnd = true
        return [ClusterEvent(at: view.finishedAt, id: id, name: name, subject: .submission, event: view.state.word)]
    }

    private mutating func step(
        unit: UInt32, path: String, state: WireOperationState, attempt: UInt32, worker: String, at: Int64, startedAt: Int64, error: String
    ) -> [ClusterEvent] {
        guard let stage = Self.stage(of: state) else { return [] }
        // What was lost, or has not begun, does not say where it was.
        let worker = worker.isEmpty && told[unit]?.step.attempt == attempt ? told[unit]?.worker ?? "" : worker
        let subject = ClusterEvent.Subject.operation(path: path, attempt: Int(attempt), worker: worker)
        var events: [ClusterEvent] = []
        // A start may be told together with what came after it.
        if startedAt > 0, attempt > 0, advance(unit, to: Step(attempt: attempt, stage: 0), worker) {
            events.append(ClusterEvent(at: startedAt, id: id, name: name, subject: subject, event: "running"))
        }
        // Its end is that of all its attempts so far. With a group that is tried again it may begin anew.
        let ended = state.isFinal ? max(attempt, told[unit]?.step.attempt ?? 0) : attempt
        guard stage > 0, advance(unit, to: Step(attempt: ended, stage: stage), worker) else { return events }
        return events + [ClusterEvent(at: at, id: id, name: name, subject: subject, event: state.word, error: error)]
    }

    /// - Returns: false: that, or more, was told before.
    private mutating func advance(_ unit: UInt32, to step: Step, _ worker: String) -> Bool {
        if let last = told[unit], last.step >= step { return false }
        told[unit] = (step, worker)
        return true
    }

    /// nil: it waits for something.
    private static func stage(of state: WireOperationState) -> Int? {
        switch state {
        case .running: 0
        case .stopping: 1
        case .retrying: 2
        case .succeeded, .failed, .cancelled: 3
        case .blocked, .locking, .evaluating, .queued, .paused, .UNRECOGNIZED: nil
        }
    }
}
