/// Every key of a graph file's maps. The JSON Schema in docs is checked against this table.
enum NodeKey: String, CaseIterable {
    // What a node is.
    case run, exec, op, group, ordered
    // Any node.
    case id, after, forEach, `as`, retry, timeout, grace, delay, notBefore, deadline, queueTimeout, exclusive, conditions
    case atMostOnce, recomputable, crashLimit, priority, requires, unique, onDuplicate
    // Nodes that do something.
    case receives, whenReceivedFails
    case with
    case env, cwd, output, stdin, maxOutput
    // Groups and forEach.
    case maxConcurrent, onFailure
    // The top level.
    case name, vars, weight

    enum Standing {
        case node
        case topLevel
    }

    var standing: Standing {
        switch self {
        case .name, .vars, .weight: .topLevel
        case .run, .exec, .op, .group, .ordered, .id, .after, .forEach, .as, .retry, .timeout, .grace, .delay, .notBefore,
            .deadline, .queueTimeout, .exclusive, .conditions, .atMostOnce, .recomputable, .crashLimit, .priority, .requires, .unique,
            .onDuplicate,
            .receives, .whenReceivedFails, .with, .env, .cwd, .output, .stdin, .maxOutput,
            .maxConcurrent, .onFailure:
            .node
        }
    }

    /// Those that the root group may not have, with the reason.
    static let notAtTopLevel: [NodeKey: String] = [
        .id: "the root group has no id; `name` names the graph",
        .receives: "the root group receives nothing",
        .after: "the root group waits for nothing",
        .forEach: "the root group cannot be a forEach; put a node with `forEach` into it",
        .as: "the root group cannot be a forEach; put a node with `forEach` into it",
    ]
}

/// What a node is: the one of its keys that says so.
enum NodeForm: String, CaseIterable {
    case run, exec, op, group, ordered

    var key: NodeKey {
        switch self {
        case .run: .run
        case .exec: .exec
        case .op: .op
        case .group: .group
        case .ordered: .ordered
        }
    }

    var isCommand: Bool { self == .run || self == .exec }
    var isGroup: Bool { self == .group || self == .ordered }
}
