import AOperation
import Executing
import Foundation
import Wire

/// What the coordinator says of a node, whether as an event or in a list.
struct NodeReport: Sendable {
    var node: Int
    var state: WireOperationState
    var startedAt: Int64
    var finishedAt: Int64
    /// Its place among the ends of the submission; 0: not known.
    var endNumber = 0
    var isGroup: Bool
    /// How often it has begun.
    var attempt: Int
    var errors: [WireOperationFailure]
    var value: WireValue
    var progress: OperationProgress?
    var path: String
    /// Of what was not in the graph that was submitted.
    var added: WireAdded?
    /// It was cancelled because its group has stopped.
    var isStoppedByGroup: Bool

    init(_ event: WireEvent) {
        node = Int(event.unit)
        state = event.state
        startedAt = event.startedAt
        finishedAt = event.at
        isGroup = event.group
        attempt = Int(event.attempt)
        errors = event.errors
        value = event.value
        if event.hasProgress { progress = OperationProgress(event.progress) }
        path = event.path
        isStoppedByGroup = event.stoppedByGroup
        if event.hasAdded { added = event.added }
    }

    init(_ view: WireOperationView) {
        node = Int(view.unit)
        state = view.state
        startedAt = view.startedAt
        finishedAt = view.finishedAt
        endNumber = Int(view.endNumber)
        isGroup = view.kind != .operation && view.kind != .decider
        attempt = Int(view.attempts)
        errors = view.errors
        value = view.value
        if view.hasProgress { progress = OperationProgress(view.progress) }
        path = view.path
        isStoppedByGroup = view.stoppedByGroup
        if view.hasAdded { added = view.added }
    }

    /// An end that this process is asked about.
    static func ended(_ node: Int, _ question: WireConclusionQuestion) -> NodeReport {
        var event = WireEvent()
        event.unit = UInt32(node)
        event.startedAt = 1
        event.state = .succeeded
        switch question.ending {
        case .failure(let failures)?:
            event.state = .failed
            event.errors = failures.errors
        case .success(let value)?: event.value = value
        case nil: break
        }
        return NodeReport(event)
    }

    /// Its value lies at the coordinator, and has to be fetched.
    var isLarge: Bool { if case .blob? = value.storage { true } else { false } }

    /// A condition has failed it.
    var isOfCondition: Bool { errors.contains { $0.code == .condition } }

    private var hasStarted: Bool { startedAt > 0 }

    /// What is news for its mirror; nil: nothing.
    ///
    /// - Parameter bytes: of its value.
    func change(_ graph: OperationGraph, bytes: Data) -> NodeChange? {
        var change = news(graph, bytes: bytes)
        if isGroup { change?.attempt = attempt }
        return change
    }

    private func news(_ graph: OperationGraph, bytes: Data) -> NodeChange? {
        let news: NodeChange.News
        switch state {
        case .running,
            .queued where progress != nil:
            news = progress.map { .progressed($0) } ?? .started
        case .retrying where isGroup: news = .retrying
        case .stopping, .queued, .retrying, .blocked, .locking, .evaluating, .paused:
            guard hasStarted else { return nil }
            news = .started
        case .succeeded: news = .ended(.success(EncodedValue(value.encoding, bytes)), hasStarted: hasStarted || isGroup)
        case .failed:
            let (own, others) = (errors.filter(\.isOfDecision), errors.filter { !$0.isOfDecision })
            return NodeChange(
                node: node, news: .ended(.failure(others.map { graph.error($0, of: node) }), hasStarted: hasStarted),
                ownErrors: own.map { graph.error($0, of: node) })
        case .cancelled:
            return NodeChange(node: node, news: .ended(.cancelled, hasStarted: hasStarted), isStoppedByGroup: isStoppedByGroup)
        case .UNRECOGNIZED: return nil
        }
        return NodeChange(node: node, news: news)
    }

    /// The order in which they are told when only how they stand is known: groups that have begun, what has ended in the
    /// order in which it did, then what has begun.
    static func inOrder(_ reports: [NodeReport]) -> [NodeReport] {
        let groups = reports.filter { $0.isGroup && !$0.state.isFinal }
        let begun = reports.filter { !$0.isGroup && !$0.state.isFinal }
        let ended = reports.filter { $0.state.isFinal }.sorted { one, other in
            if one.endNumber != other.endNumber { return one.endNumber < other.endNumber }
            if one.finishedAt != other.finishedAt { return one.finishedAt < other.finishedAt }
            if one.isGroup != other.isGroup { return !one.isGroup }
            return one.isGroup ? one.node > other.node : one.node < other.node
        }
        return groups + ended + begun
    }
}

extension WireOperationFailure {
    /// Whether a decision of a group has brought it: its origin is who decides for that.
    fileprivate var isOfDecision: Bool { origin == WireNode.deciderID || origin.hasSuffix("/\(WireNode.deciderID)") }
}

extension OperationProgress {
    init(_ progress: WireProgress) {
        self.init(progress.fraction, message: progress.hasMessage ? progress.message : nil)
    }
}

extension WireAdded {
    /// That of a dependent operation without what says for which condition it is done: "?tidy.0" is called "tidy".
    private func ownID(_ id: String) -> String {
        guard preparation, id.hasPrefix("?"), let end = id.lastIndex(of: ".") else { return id }
        return String(id[..<end].dropFirst())
    }

    /// What stands here for something that another process has made.
    func standIn(at path: String) -> AOperation {
        let id = ownID(path.split(separator: "/").last.map(String.init) ?? path)
        switch kind {
        case .operation, .forEach, .decider, .UNRECOGNIZED: return AddedOperation(path: path, id: id, operationType: type)
        case .group, .ordered:
            let group = kind == .ordered ? OrderedGroupOperation([]) : GroupOperation([])
            group.name = id
            group.standForAnother()
            return group
        }
    }
}
