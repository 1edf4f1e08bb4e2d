import Foundation
import GraphFile
import Testing
import Wire

/// Repository files of the tests.
enum Project {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func examples() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "examples").path).filter { $0.hasSuffix(".yaml") }.sorted()
    }
}

/// What is wrong with a text, one line each, without the file's name.
func faults(_ text: String, set: [String: String] = [:]) -> [String] {
    do {
        let loaded = try GraphFileLoader.load(text: text, file: "f", options: .init(set: set))
        return ["none: \(loaded.nodes.count) nodes"]
    } catch {
        return error.errors.map { String($0.description.trimmingPrefix("f:").trimmingPrefix("f: ")) }
    }
}

/// A graph as text, one line for each node: index, path, what it is, what it waits for.
func outline(_ text: String, set: [String: String] = [:]) throws -> String {
    try outline(GraphFileLoader.load(text: text, file: "f.yaml", options: .init(set: set)))
}

func outline(_ loaded: LoadedGraph) -> String {
    zip(loaded.nodes, loaded.graph.nodes).map { place, node in
        var words = ["\(place.index)", place.path.isEmpty ? "-" : place.path]
        switch node.kind {
        case .operation(let operation)?:
            words.append(operation.type + (operation.templated ? " templated" : ""))
            words.append(String(decoding: loaded.graph.parameters[Int(operation.parameters)], as: UTF8.self))
        case .group(let group)?:
            words.append(group.ordered ? "ordered" : "group")
            if group.stopOnFailure { words.append("stop") }
            if group.maxConcurrent > 0 { words.append("max=\(group.maxConcurrent)") }
        case .forEach(let each)?:
            words.append("forEach as=\(each.as)")
            if each.literal { words.append("[" + each.elements.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",") + "]") }
            if each.stopOnFailure { words.append("stop") }
            if each.maxConcurrent > 0 { words.append("max=\(each.maxConcurrent)") }
        case .decider?: words.append("decider")
        case nil: words.append("nothing")
        }
        if node.parent != 0 { words.append("in=\(node.parent)") }
        if node.hasPrepares { words.append("prepares=\(node.prepares)") }
        if !node.receives.isEmpty { words.append("receives=\(node.receives)\(node.receivesArray ? " array" : "")") }
        if !node.after.isEmpty { words.append("after=\(node.after)") }
        if node.retries > 0 { words.append("retry=\(node.retries)") }
        if node.timeoutMilliseconds > 0 { words.append("timeout=\(node.timeoutMilliseconds)") }
        if node.hasGraceMilliseconds { words.append("grace=\(node.graceMilliseconds)") }
        words += options(of: node)
        if node.forwardFailure { words.append("forward") }
        if !node.exclusive.isEmpty {
            words.append("exclusive=" + node.exclusive.map { $0.limit == 1 ? $0.key : "\($0.key):\($0.limit)" }.joined(separator: ","))
        }
        return words.joined(separator: " ")
    }.joined(separator: "\n")
}

private func describe(_ condition: WireCondition) -> String {
    let text =
        switch condition.kind {
        case .composed(let composed)?: "\(composed.form)(\(composed.parts.map(describe).joined(separator: ",")))"
        case .noFailedDependencies?: "noFailed"
        case .noCancelledDependencies?: "noCancelled"
        case .timeWindow(let window)?: "window=\(window.startMinute)-\(window.endMinute)@\(window.zone)"
        case .rateLimit(let limit)?: "rate=\(limit.key):\(limit.count)/\(limit.perMilliseconds)"
        case .probe(let probe)?: "probe=\(probe.type):\(probe.parameters)\(probe.templated ? " templated" : "")\(probe.wait ? " wait" : "")"
        case nil: "nothing"
        }
    return condition.negated ? "not(\(text))" : text
}

private func options(of node: WireNode) -> [String] {
    var words: [String] = []
    if node.delayMilliseconds > 0 { words.append("delay=\(node.delayMilliseconds)") }
    if node.notBefore > 0 { words.append("notBefore=\(node.notBefore)") }
    if node.deadlineMilliseconds > 0 { words.append("deadline=\(node.deadlineMilliseconds)") }
    if node.deadline > 0 { words.append("deadline=@\(node.deadline)") }
    if node.hasBackoff {
        let backoff = node.backoff
        words.append(
            "backoff=\(backoff.kind):\(backoff.initialMilliseconds):\(backoff.maxMilliseconds):\(backoff.jitterPermille)"
                + (backoff.factorPermille == 0 ? "" : ":\(backoff.factorPermille)"))
    }
    if node.retriesNet { words.append("of=net") }
    if node.weight != 0 { words.append("weight=\(node.weight)") }
    if node.hasPriority { words.append("priority=\(node.priority)") }
    if node.hasRequires {
        words.append(
            "requires=" + (node.requires.resources.map { "\($0.name):\($0.amount)" } + node.requires.labels).joined(separator: ","))
    }
    if node.atMostOnce { words.append("atMostOnce") }
    if node.recomputable { words.append("recomputable") }
    if !node.retryOn.isEmpty {
        let reasons = node.retryOn.map { reason in
            switch reason.reason {
            case .exitCode(let code): "\(code)"
            case .signal(let number): "signal \(number)"
            case .error(let name): name
            case nil: "nothing"
            }
        }
        words.append("on=\(reasons.joined(separator: ","))")
    }
    if node.queueTimeoutMilliseconds > 0 { words.append("queueTimeout=\(node.queueTimeoutMilliseconds)") }
    if node.hasUnique {
        let unique = node.unique
        words.append("unique=\(unique.id)\(unique.templated ? " templated" : "")\(unique.join ? " join" : "") <\(unique.output)>")
    }
    words += node.conditions.map(describe)
    return words
}

/// Reproducible random numbers (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
