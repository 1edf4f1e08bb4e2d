import Conformance

/// A deviation from the model: a run that is allowed, and what is changed in it.
struct Planted: Sendable, CustomStringConvertible {
    /// The rule that it breaks, and no other.
    var rule: String
    var what: String
    var plan: GraphPlan
    var history: History
    var change: @Sendable (inout [Event]) -> Void

    var changed: History {
        var events = history.events
        change(&events)
        return History(events)
    }

    var description: String { "\(rule): \(what)" }

    init(
        _ rule: String, _ what: String, _ plan: GraphPlan, _ history: [Event], change: @escaping @Sendable (inout [Event]) -> Void
    ) {
        (self.rule, self.what, self.plan, self.history, self.change) = (rule, what, plan, History(history), change)
    }
}

// MARK: - Graphs and runs, in few words

extension GraphPlan {
    /// A group with these operations.
    static func of(_ leaves: [NodePlan]) -> GraphPlan { of(GroupPlan(), leaves) }

    static func of(_ group: GroupPlan, _ leaves: [NodePlan]) -> GraphPlan {
        GraphPlan(nodes: [NodePlan(.group(group), in: nil)] + leaves)
    }
}

extension NodePlan {
    static func leaf(failures: Int = 0, in parent: Int = 0, _ configure: (inout NodePlan) -> Void = { _ in }) -> NodePlan {
        var node = NodePlan(.operation(Script(failures: failures)), in: parent)
        configure(&node)
        return node
    }

    static func group(_ plan: GroupPlan = GroupPlan(), in parent: Int = 0, _ configure: (inout NodePlan) -> Void = { _ in }) -> NodePlan {
        var node = NodePlan(.group(plan), in: parent)
        configure(&node)
        return node
    }
}

extension Fault {
    static func own(_ node: Int, run: Int = 1) -> Fault { Fault(.own(Texts.failure(of: node, run: run)), by: GraphPlan.name(of: node)) }

    static func refused(_ node: Int, condition: Int = 0) -> Fault {
        Fault(.own(Texts.no(of: node, condition: condition)), by: Texts.scriptedCondition, isOfCondition: true)
    }

    static func cancelled(_ node: Int) -> Fault { Fault(.cancelled(GraphPlan.name(of: node)), by: GraphPlan.name(of: node)) }
}

extension Outcome {
    static func cancelled(_ node: Int) -> Outcome { .cancelled([.cancelled(node)]) }
}

enum Seen {
    static func begins(
        _ node: Int, run: Int = 1, received: Received? = nil, tokens: [String: UInt64] = [:], in process: String = "p"
    )
        -> Event
    { .started(node, run: run, process: process, received: received, tokens: tokens) }

    static func value(_ node: Int, run: Int = 1, received: Received? = nil) -> Event {
        .ended(node, run: run, .value(Texts.value(of: node, run: run, from: received)))
    }

    static func failure(_ node: Int, run: Int = 1) -> Event { .ended(node, run: run, .failure(.own(node, run: run))) }

    static func told(_ node: Int, _ outcome: Outcome) -> [Event] {
        [.told(node, .finish(outcome)), .told(node, .result(outcome.result))]
    }

    /// A run that succeeds.
    static func run(_ node: Int, run: Int = 1, received: Received? = nil, tokens: [String: UInt64] = [:]) -> [Event] {
        [.told(node, .start), begins(node, run: run, received: received, tokens: tokens), value(node, run: run, received: received)]
            + told(node, .success(Texts.value(of: node, run: run, from: received))) + [.over(node)]
    }

    /// A run that fails.
    static func fails(_ node: Int, run: Int = 1) -> [Event] {
        [.told(node, .start), begins(node, run: run), failure(node, run: run)] + told(node, .failure([.own(node, run: run)])) + [
            .over(node)
        ]
    }

    /// Cancelled before its start.
    static func neverBegins(_ node: Int) -> [Event] { [.told(node, .cancel)] + told(node, .cancelled(node)) + [.over(node)] }

    static func group(_ node: Int, _ outcome: Outcome = .success("")) -> [Event] { told(node, outcome) }
}

extension [Event] {
    /// Moves the first event that is `event` before the first one that is `other`.
    mutating func move(_ event: Event, before other: Event) {
        guard let from = firstIndex(of: event) else { return }
        remove(at: from)
        insert(event, at: firstIndex(of: other) ?? 0)
    }

    mutating func replace(_ event: Event, with others: Event...) {
        guard let place = firstIndex(of: event) else { return }
        replaceSubrange(place...place, with: others)
    }

    /// Changes what a node's listeners were told of its end.
    mutating func tell(_ node: Int, _ outcome: Outcome) {
        for (place, event) in enumerated() {
            switch event {
            case .told(node, .finish): self[place] = .told(node, .finish(outcome))
            case .told(node, .result): self[place] = .told(node, .result(outcome.result))
            default: continue
            }
        }
    }
}
