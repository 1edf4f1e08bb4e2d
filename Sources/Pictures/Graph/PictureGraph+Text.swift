import Shapes

extension PictureGraph.Node {
    /// The line below its name.
    func caption() -> String {
        guard !isGroup else { return "\(kind.rawValue) of \(total)" }
        guard let standing else { return kind == .decisions ? kind.rawValue : type }
        if let took { return "\(standing.state) · \(took)" }
        return PictureText.joined([standing.state, standing.attempts > 1 ? "attempt \(standing.attempts)" : "", type])
    }

    /// What a reader is told who points at it.
    func label(_ graph: PictureGraph) -> String {
        let name = path.isEmpty ? graph.name : path
        let what = isGroup ? "\(kind.rawValue) of \(total)" : kind == .decisions ? kind.rawValue : type
        guard let standing else { return PictureText.joined([name, what]) }
        return PictureText.joined([
            name, what, standing.state, standing.attempts > 1 ? "attempt \(standing.attempts)" : "",
            standing.worker.isEmpty ? "" : "on \(standing.worker)", took.map { "took \($0)" } ?? "", standing.error,
        ])
    }

    private var took: String? {
        guard let standing, standing.startedAt > 0, standing.finishedAt > 0 else { return nil }
        return TimeText.duration(milliseconds: standing.finishedAt - standing.startedAt)
    }
}

extension PictureGraph {
    /// `3 of 5 ended · 1 failed`; of a graph file how many operations there are.
    var summary: String {
        guard let root = nodes.first else { return "empty" }
        let total = root.isGroup ? root.total : 1
        guard let standing = root.standing else { return "\(total) operation\(total == 1 ? "" : "s")" }
        let failed = root.tally["failed"] ?? 0
        return PictureText.joined([
            standing.state, root.isGroup ? "\(root.ended) of \(total) ended" : "", failed > 0 ? "\(failed) failed" : "",
        ])
    }
}
