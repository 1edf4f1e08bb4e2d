import Cluster
import Shapes
import Wire

/// What has been told of one submission, for `aop events`: pure.
struct ToldEvents: Sendable {
    let id: String
    let name: String
    private var steps = OperationSteps()
    private var hasToldEnd = false

    init(_ view: WireSubmissionView) { (id, name) = (view.id, view.name) }

    static func submitted(_ view: WireSubmissionView) -> ClusterEvent {
        ClusterEvent(at: view.submittedAt, id: view.id, name: view.name, subject: .submission, event: "submitted")
    }

    /// What is new in how operations stand.
    mutating func stand(_ views: [WireOperationView]) -> [ClusterEvent] { steps.stand(views).map(event) }

    /// What is new in what has happened.
    mutating func happened(_ events: [WireEvent]) -> [ClusterEvent] {
        steps.happened(events.filter { !$0.group && !$0.hasProgress && Self.isTold($0.state) }).map(event)
    }

    private func event(_ event: WireEvent) -> ClusterEvent {
        ClusterEvent(
            at: event.at, id: id, name: name,
            subject: .operation(path: event.path, attempt: Int(event.attempt), worker: event.worker), event: event.state.word,
            error: event.errors.first?.message ?? "")
    }

    /// What it waits for is not told.
    private static func isTold(_ state: WireOperationState) -> Bool {
        switch state {
        case .running, .stopping, .retrying, .succeeded, .failed, .cancelled: true
        case .blocked, .locking, .evaluating, .queued, .paused, .UNRECOGNIZED: false
        }
    }

    /// Its end, once.
    mutating func ended(_ view: WireSubmissionView) -> [ClusterEvent] {
        guard view.state.isFinal, !hasToldEnd else { return [] }
        hasToldEnd = true
        return [ClusterEvent(at: view.finishedAt, id: id, name: name, subject: .submission, event: view.state.word)]
    }
}
