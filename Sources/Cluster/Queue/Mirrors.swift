import AOperation
import Synchronization

/// What became of a node.
struct NodeChange: Sendable {
    enum News: Sendable {
        case started
        /// How far it has come; it has started.
        case progressed(OperationProgress)
        case ended(RemoteEnding, hasStarted: Bool)
    }

    var node: Int
    var news: News
}

/// The operations of a graph, to be told what becomes of them: each is told of its start once, and of its end once,
/// however often something is said.
final class Mirrors: Sendable {
    let graph: OperationGraph
    /// By node.
    private let isEnded: Mutex<[Bool]>

    init(_ graph: OperationGraph) {
        self.graph = graph
        isEnded = Mutex(graph.members.map { $0.operation == nil })
    }

    var haveEnded: Bool { isEnded.withLock { $0.allSatisfy(\.self) } }

    func hasEnded(_ node: Int) -> Bool { isEnded.withLock { !$0.indices.contains(node) || $0[node] } }

    /// Changes in the order in which they came about. One after the other, never two calls at once.
    func apply(_ changes: [NodeChange]) {
        for change in changes where graph.members.indices.contains(change.node) {
            guard let operation = graph.members[change.node].operation else { continue }
            switch change.news {
            case .started:
                if !hasEnded(change.node) { operation.remoteDidStart() }
            case .progressed(let progress):
                guard !hasEnded(change.node) else { continue }
                operation.remoteDidStart()
                // What is known already, after a reconnect for example, is not told again.
                if operation.latestProgress != progress { operation.reportProgress(progress.fraction, message: progress.message) }
            case .ended(let ending, let hasStarted):
                let isNews = isEnded.withLock { isEnded in
                    defer { isEnded[change.node] = true }
                    return !isEnded[change.node]
                }
                if isNews { operation.remoteDidEnd(ending, hasStarted: hasStarted) }
            }
        }
    }

    /// Ends all that have not ended: they do nothing elsewhere, or what they do is not known any more. Groups come after what is
    /// in them.
    func endRest(_ ending: RemoteEnding) {
        let nodes =
            graph.members.indices.filter { !graph.members[$0].isGroup }
            + graph.members.indices.reversed().filter { graph.members[$0].isGroup }
        apply(nodes.map { NodeChange(node: $0, news: .ended(ending, hasStarted: false)) })
    }
}
