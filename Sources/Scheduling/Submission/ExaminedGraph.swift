/// A graph, and what looking at it alone tells, where somebody has looked already.
///
/// Of a large graph that takes the better half of the time of its admission, and needs nothing that the scheduler knows: who has a thread
/// to spare examines it before it is handed in. Two are equal that have the same graph.
public struct ExaminedGraph: Sendable {
    public let graph: Graph
    /// nil: nobody has looked.
    private let examination: Examination?

    /// Not looked at: admission does it.
    public init(_ graph: Graph) {
        self.graph = graph
        examination = nil
    }

    /// Looked at here and now.
    ///
    /// - Parameter limits: those of the scheduler that it is for; where it has others it looks again.
    /// - Complexity: O(nodes + edges).
    public init(examining graph: Graph, by limits: GraphLimits) {
        self.graph = graph
        examination = Examination(limits: limits, judgement: graph.judged(by: limits))
    }

    /// By reference: facts and requests have one, and are moved about by the million.
    private final class Examination: Sendable {
        let limits: GraphLimits
        let judgement: Graph.Judgement

        init(limits: GraphLimits, judgement: Graph.Judgement) {
            self.limits = limits
            self.judgement = judgement
        }
    }

    func judged(by limits: GraphLimits) -> Graph.Judgement {
        guard let examination, examination.limits == limits else { return graph.judged(by: limits) }
        return examination.judgement
    }

    /// - Precondition: as of `GraphLayout.init`.
    var layout: GraphLayout { examination?.judgement.layout ?? GraphLayout(graph) }
}

extension ExaminedGraph: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.graph == right.graph }

    public func hash(into hasher: inout Hasher) { hasher.combine(graph) }
}
