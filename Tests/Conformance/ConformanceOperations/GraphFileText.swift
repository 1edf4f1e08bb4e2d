import AOperation
import Conformance
import Foundation

/// A planned graph as a graph file: what `aop submit` reads.
///
/// It says what ``Conformance/GraphGenerator/Features/written`` draws, and refuses anything else.
package struct GraphFileText {
    package enum Format: Sendable {
        case json, yaml
    }

    /// The file does not say what the plan does.
    package struct Unwritable: Error {
        package var what: String
    }

    private let plan: GraphPlan
    private let builder: OperationBuilder

    /// - Parameter place: the name of the place where it notes what it does, which makes its keys and ids its own.
    package init(_ plan: GraphPlan, at place: String, limits: GraphRun.Limits) {
        self.plan = plan
        builder = OperationBuilder(plan: plan, place: place, salt: "\(place)/", limits: limits)
    }

    package func text(as format: Format) throws -> String {
        var root = try node(0)
        root["id"] = nil
        root["name"] = GraphPlan.name(of: 0)
        switch format {
        case .json:
            let data = try JSONSerialization.data(withJSONObject: root, options: [.sortedKeys, .prettyPrinted])
            return String(decoding: data, as: UTF8.self)
        case .yaml: return try YAMLText.text(of: root)
        }
    }

    private func node(_ index: Int) throws -> [String: Any] {
        let planned = plan.nodes[index]
        var found = try modifiers(of: index, element: nil)
        found["id"] = GraphPlan.name(of: index)
        switch planned.kind {
        case .group(let group) where plan.isForEach(index):
            found = try forEach(index)
            found["onFailure"] = group.stops ? "stop" : "continue"
            found["maxConcurrent"] = group.limit
        case .group(let group):
            guard !group.decides, group.sequence == nil else { throw Unwritable(what: "a group that decides") }
            found[group.isOrdered ? "ordered" : "group"] = try plan.children(of: index).filter(plan.isPresent).map { try node($0) }
            found["onFailure"] = group.stops ? "stop" : "continue"
            found["maxConcurrent"] = group.limit
        case .operation:
            found["op"] = try wireName(of: index)
            found["with"] = try json(parameters(of: index))
            if let list = plan.list(of: index) {
                found["op"] = ScriptedList.operationName
                found["with"] = ["body": try json(parameters(of: index)), "elements": try elements(of: list)] as [String: Any]
            }
        case .wrapper: throw Unwritable(what: "a wrapper")
        }
        return found
    }

    /// A group whose members are made of a list: each element says what is not alike.
    private func forEach(_ group: Int) throws -> [String: Any] {
        let children = plan.children(of: group)
        var found = try modifiers(of: children[0], element: "item")
        found["op"] = try wireName(of: children[0])
        found["with"] = Self.members(of: try json(parameters(of: children[0])), in: "item.body")
        found["forEach"] = try plan.nodes[group].producers.first.map(GraphPlan.name) ?? elements(of: group)
        found["id"] = GraphPlan.name(of: group)
        if !plan.nodes[group].after.isEmpty { found["after"] = plan.nodes[group].after.map(GraphPlan.name) }
        return found
    }

    private func elements(of group: Int) throws -> Any {
        try plan.children(of: group).map { child in
            var element: [String: Any] = ["body": try json(parameters(of: child))]
            for (position, condition) in scripted(child).enumerated() { element["c\(position)"] = try json(condition) }
            return element
        }
    }

    /// - Parameter element: what the element of the forEach is called that it is a child of.
    private func modifiers(of index: Int, element: String?) throws -> [String: Any] {
        let planned = plan.nodes[index]
        let limits = builder.limits
        guard planned.source == nil, !planned.isHosted, !planned.holdsEnd, !planned.asksAboutRetry else {
            throw Unwritable(what: "what is in the program")
        }
        var found: [String: Any] = ["grace": Self.text(limits.grace)]
        let producers = planned.producers.map(GraphPlan.name)
        if producers.count == 1 { found["receives"] = producers[0] } else if !producers.isEmpty { found["receives"] = producers }
        if !planned.after.isEmpty { found["after"] = planned.after.map(GraphPlan.name) }
        if planned.attempts > 1 { found["retry"] = retry(index) }
        if planned.hasTimeout { found["timeout"] = Self.text(limits.timeout) }
        if planned.hasDeadline { found["deadline"] = Self.text(limits.deadline) }
        if planned.hasQueueTimeout { found["queueTimeout"] = Self.text(limits.queueTimeout) }
        if planned.isAtMostOnce { found["atMostOnce"] = true }
        if planned.isRecomputable { found["recomputable"] = true }
        if !planned.keys.isEmpty { found["exclusive"] = planned.keys.map { ["key": builder.salt + $0.name, "limit": $0.limit] } }
        if let unique = planned.unique {
            found["unique"] = builder.salt + unique.id
            found["onDuplicate"] = unique.joins ? "join" : "ignore"
        }
        if let required = planned.requires {
            var requires: [String: Any] = [:]
            if let label = required.label { requires["label"] = label }
            if required.permits > 0 { requires["permits"] = required.permits }
            found["requires"] = requires
        }
        switch planned.start {
        case .delay(let milliseconds)?: found["delay"] = "\(milliseconds)ms"
        case .notBefore(let milliseconds)?:
            let date = Places.place(builder.place).date.addingTimeInterval(Double(milliseconds) / 1_000)
            found["notBefore"] = date.ISO8601Format(.init(includingFractionalSeconds: true))
        case nil: break
        }
        var next = 0
        let conditions = try planned.conditions.map { try condition($0, of: index, element: element, next: &next) }
        if !conditions.isEmpty { found["conditions"] = conditions }
        return found
    }

    private func retry(_ node: Int) -> [String: Any] {
        [
            "attempts": plan.nodes[node].attempts - 1, "backoff": ["kind": "constant", "initial": "1ms", "jitter": 0] as [String: Any],
            "scope": plan.nodes[node].producers.isEmpty || !plan.receivers(of: node).isEmpty ? "node" : "net",
        ]
    }

    // MARK: Conditions

    private func condition(_ planned: ConditionPlan, of node: Int, element: String?, next: inout Int) throws -> [String: Any] {
        switch planned {
        case .noFailedDependencies: return ["noFailedDependencies": true]
        case .noCancelledDependencies: return ["noCancelledDependencies": true]
        case .scripted(let verdicts, let isNegated), .prepared(let verdicts, let isNegated):
            var found: [String: Any] = ["type": ScriptedCondition.conditionName]
            let said = scripted(verdicts, of: node, condition: next, isPrepared: planned.isPrepared)
            let parameters = try json(said)
            let with = element.map { Self.members(of: parameters, in: "\($0).c\(next)") } ?? parameters
            found["with"] = with
            if planned.isPrepared { found["operation"] = ["op": ScriptedPreparation.operationName, "with": with] }
            if isNegated { found["negated"] = true }
            next += 1
            return found
        case .all(let parts): return ["all": try parts.map { try condition($0, of: node, element: element, next: &next) }]
        case .any(let parts): return ["any": try parts.map { try condition($0, of: node, element: element, next: &next) }]
        case .not(let part):
            let found = try condition(part, of: node, element: element, next: &next)
            guard found["negated"] == nil else { throw Unwritable(what: "a negation of a negation") }
            return found.merging(["negated": true]) { $1 }
        case .silent(let part): return try condition(part, of: node, element: element, next: &next).merging(["silent": true]) { $1 }
        case .ignored: throw Unwritable(what: "a condition that is ignored")
        }
    }

    /// Those that are scripted, in the order in which they are counted.
    private func scripted(_ node: Int) -> [ScriptedCondition] {
        plan.nodes[node].conditions.flatMap(\.scripts).enumerated().map { index, script in
            scripted(script.verdicts, of: node, condition: index, isPrepared: script.isPrepared)
        }
    }

    private func scripted(_ verdicts: [Verdict], of node: Int, condition: Int, isPrepared: Bool) -> ScriptedCondition {
        ScriptedCondition(place: builder.place, node: node, condition: condition, verdicts: verdicts, isPrepared: isPrepared)
    }

    // MARK: Words

    private func wireName(of node: Int) throws -> String {
        guard let name = (builder.leaf(node) as? any ClusterOperation).map({ type(of: $0).operationName }) else {
            throw Unwritable(what: "an operation of the program")
        }
        return name
    }

    private func parameters(of node: Int) -> ScriptParameters {
        ScriptParameters(plan, node, place: builder.place, salt: builder.salt, limits: builder.limits)
    }

    private func json(_ value: some Encodable) throws -> Any {
        try JSONSerialization.jsonObject(with: try JSONEncoder().encode(value), options: [.fragmentsAllowed])
    }

    /// Those of a map, each from the one of this name that a variable has.
    private static func members(of map: Any, in variable: String) -> Any {
        guard let map = map as? [String: Any] else { return map }
        return Dictionary(uniqueKeysWithValues: map.keys.map { ($0, "${\(variable).\($0)}") })
    }

    private static func text(_ duration: Duration) -> String { "\(Int(duration / .milliseconds(1)))ms" }
}

extension ConditionPlan {
    fileprivate var isPrepared: Bool { if case .prepared = self { true } else { false } }

    fileprivate var scripts: [(verdicts: [Verdict], isPrepared: Bool)] {
        switch self {
        case .scripted(let verdicts, _): [(verdicts, false)]
        case .prepared(let verdicts, _): [(verdicts, true)]
        case .noFailedDependencies, .noCancelledDependencies: []
        case .all(let parts), .any(let parts): parts.flatMap(\.scripts)
        case .not(let part), .silent(let part), .ignored(let part): part.scripts
        }
    }
}

/// Writes what JSON could say in the other form that graph files have.
private enum YAMLText {
    static func text(of value: [String: Any]) throws -> String { try lines(of: value).joined(separator: "\n") + "\n" }

    private static func lines(of value: Any) throws -> [String] {
        if let map = value as? [String: Any], !map.isEmpty {
            return try map.sorted { $0.key < $1.key }.flatMap { key, value in try entry("\(key):", value) }
        }
        if let list = value as? [Any], !list.isEmpty { return try list.flatMap { try entry("-", $0) } }
        return [try scalar(value)]
    }

    /// What is short stands beside its name, and what is not below it.
    private static func entry(_ name: String, _ value: Any) throws -> [String] {
        let lines = try lines(of: value)
        let isNested = (value as? [String: Any])?.isEmpty == false || (value as? [Any])?.isEmpty == false
        guard isNested else { return ["\(name) \(lines[0])"] }
        return [name] + lines.map { "  \($0)" }
    }

    /// A text that is nothing but a variable stands plain: so it is the variable's value, whatever that is.
    private static func scalar(_ value: Any) throws -> String {
        if let text = value as? String, text.wholeMatch(of: /\$\{[a-zA-Z0-9.]+\}/) != nil { return text }
        let data = try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}
