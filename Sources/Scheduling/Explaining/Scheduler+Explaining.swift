/// Explanations, as clients ask for them.
///
/// They are answered when a step has come to its end: in the middle of it something may look as if it waited that is about to
/// be given out.
struct ExplanationRequest {
    let request: RequestID
    let submission: String
    let path: String
    let authority: Authority
}

extension Scheduler {
    mutating func answerExplanations() {
        guard !explanationsAsked.isEmpty else { return }
        let asked = explanationsAsked
        explanationsAsked = []
        for question in asked {
            let reply = explanation(of: question.path, in: question.submission, by: question.authority)
            pending.send(.reply(question.request, reply), to: question.request.peer)
        }
    }

    private func explanation(of path: String, in text: String, by authority: Authority) -> Reply {
        switch resolve(text, by: authority) {
        case .failed(let failure): return .failed(failure)
        case .found(let number):
            let submission = durable.submissions[durable.index(of: number)]
            guard let unit = submission.explainableUnit(atPath: path) else { return .failed(submission.noSuchOperation(path)) }
            return .explanation(explanation(of: UnitID(number, unit), for: authority))
        }
    }

    func explanation(of id: UnitID, for reader: Authority) -> Explanation {
        let unit = id.index
        var explainer = Explainer(self, id.submission, for: reader)
        let submission = explainer.submission
        let state = operationState(of: unit, explainer.index)
        var explanation = Explanation(
            submission: submission.id, unit: unit, path: submission.path(of: unit), kind: .operation, type: "", state: state,
            since: explainer.since(of: unit, state), blockers: explainer.blockers(of: unit), moreBlockers: explainer.unlisted,
            causes: explainer.causes(of: unit), history: explainer.history(of: unit), inside: [], moreInside: 0,
            isInsidePartial: false, view: unit == 0 ? view(of: id.submission) : nil, at: now.wall)
        switch submission.node(unit).kind {
        case .operation(let operation): explanation.type = operation.type
        case .group(let group): explanation.kind = group.isOrdered ? .ordered : .group
        case .forEach: explanation.kind = .forEach
        case .decider(let decider): (explanation.kind, explanation.type) = (.decider, decider.type)
        }
        guard !submission.node(unit).isOperation, !submission.units[unit].hasEnded else { return explanation }
        var lister = Explainer(self, id.submission, for: reader, isBrief: true)
        let inside = lister.inside(unit)
        (explanation.inside, explanation.moreInside, explanation.isInsidePartial) = (inside.waiting, inside.more, inside.isPartial)
        return explanation
    }
}

extension Submission {
    /// As `unit(atPath:)`, and who decides for a group.
    fileprivate func explainableUnit(atPath path: String) -> Int? {
        if path.isEmpty { return 0 }
        if let unit = unit(atPath: path) { return unit }
        let components = path.split(separator: "/")
        guard let last = components.last, let group = unit(atPath: components.dropLast().joined(separator: "/")),
            let decider = decider(of: group), node(decider).id == last
        else { return nil }
        return decider
    }

    /// With the path that is nearest to it, if there is one.
    fileprivate func noSuchOperation(_ path: String) -> RequestFailure {
        let near = nearestPath(to: path).map { "; did you mean `\($0)`?" } ?? ""
        return .notFound("no operation `\(path)` in submission \(id)\(near.isEmpty ? ";" : near) `aop show \(id)` lists them")
    }

    /// Follows the path as far as it goes, and takes the name there that is most like what follows.
    /// - Complexity: O(path length × siblings); of very many siblings only the first are looked at.
    private func nearestPath(to path: String) -> String? {
        var current = 0
        for component in path.split(separator: "/") {
            let name = String(component)
            let known = self.path(of: current)
            let prefix = known.isEmpty ? "" : known + "/"
            if let next = unit(atPath: prefix + name) {
                current = next
                continue
            }
            let names = children(of: current).prefix(Self.namesMax).map { unit in
                node(unit).id.isEmpty ? String(units[unit].position) : node(unit).id
            }
            if let best = EditDistance.nearest(to: name, among: names) { return prefix + best }
            return known.isEmpty ? nil : known
        }
        return nil
    }

    private static let namesMax = 1_000
}

/// How many letters have to be added, taken away or changed (Levenshtein).
enum EditDistance {
    /// Longer names are compared up to here.
    private static let lettersMax = 64

    /// The first one of the nearest, if it may be what was meant.
    static func nearest(to name: String, among names: some Sequence<String>) -> String? {
        let best = names.map { (name: $0, distance: between(name, $0)) }.min { $0.distance < $1.distance }
        return best.flatMap { $0.distance <= max(1, name.count / 2) ? $0.name : nil }
    }

    static func between(_ one: String, _ other: String) -> Int {
        let (left, right) = (Array(one.utf8.prefix(lettersMax)), Array(other.utf8.prefix(lettersMax)))
        var row = Array(0...right.count)
        for (place, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = place + 1
            for column in right.indices {
                let change = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
