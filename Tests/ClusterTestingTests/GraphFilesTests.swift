import AOperation
import Conformance
import ConformanceOperations
import ConformanceRemote
import Executing
import Foundation
import GraphFile
import Testing
import Wire

/// Random graphs as graph files: what is read from a file is the graph that the same operations make in Swift. So it runs as that does, which
/// the other tests of random graphs judge.
///
/// `AOP_CONFORMANCE_GRAPHS` says how many (300 if it is not set), `AOP_CONFORMANCE_SEED` the first seed.
@Suite struct GraphFilesTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let first = environment["AOP_CONFORMANCE_SEED"].flatMap(UInt64.init) ?? 1
    private static let count = environment["AOP_CONFORMANCE_GRAPHS"].flatMap(UInt64.init) ?? 300

    /// What a file can say.
    private static let features: GraphGenerator.Features = [
        .retries, .timeouts, .deadlines, .conditions, .groupConditions, .keys, .uniqueness, .delivery, .dependencies, .limits, .stops,
        .outsiders, .unorderedStops, .delays, .queueTimeouts, .atMostOnce, .placement, .recomputable,
    ]

    @Test func whatIsReadFromAFile_isTheGraphThatIsMadeInSwift() throws {
        RemoteFaults.register()
        var nodes = 0
        for seed in Self.first..<Self.first + Self.count {
            let plan = GraphGenerator.graph(seed: seed, features: Self.features)
            let name = "file-\(seed)-\(UUID())"
            Places.register(
                MemoryPlace {
                    Date(timeIntervalSince1970: 1_000)
                } tick: {
                }, as: name)
            defer { Places.remove(name) }
            let limits = GraphRun.Limits(timeout: .milliseconds(50), deadline: .milliseconds(200), queueTimeout: .milliseconds(5))
            let run = GraphRun(plan, at: name, limits: limits, isHere: false)
            let made = GraphBuilder.graph(of: [run.root])
            let file = try GraphFileText(plan: plan, made: made.wire, salt: "\(name)/", limits: limits).text()
            let read: WireGraph
            do { read = try GraphFileLoader.load(text: file, file: "graph.yaml").graph } catch {
                Issue.record("seed \(seed)\n\(error.errors.map(\.description).joined(separator: "\n"))\n\(plan)\n\(file)")
                return
            }
            let (expected, found) = (Outline(made.wire), Outline(read))
            for path in Set(expected.nodes.keys).union(found.nodes.keys).sorted() where expected.nodes[path] != found.nodes[path] {
                Issue.record(
                    """
                    seed \(seed), `\(path)`
                    in Swift: \(String(describing: expected.nodes[path]))
                    in the file: \(String(describing: found.nodes[path]))
                    \(file)
                    """)
                return
            }
            #expect(expected.name == found.name)
            nodes += expected.nodes.count
        }
        #expect(nodes > Int(Self.count), "hardly anything was compared")
    }
}

/// A planned graph as a file, in JSON.
private struct GraphFileText {
    let plan: GraphPlan
    /// The same in Swift: parameters are as they are there.
    let made: WireGraph
    let salt: String
    let limits: GraphRun.Limits

    func text() throws -> String {
        var root = try node(0)
        root["id"] = nil
        root["name"] = GraphPlan.name(of: 0)
        let data = try JSONSerialization.data(withJSONObject: root, options: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }

    private func node(_ index: Int) throws -> [String: Any] {
        let planned = plan.nodes[index]
        let name = GraphPlan.name(of: index)
        let wire = made.nodes.first { $0.id == name }
        var found: [String: Any] = ["id": name, "grace": text(limits.grace)]
        switch planned.kind {
        case .group(let group):
            found[group.isOrdered ? "ordered" : "group"] = try plan.children(of: index).map { try node($0) }
            found["onFailure"] = group.stops ? "stop" : "continue"
            found["maxConcurrent"] = group.limit
        case .operation, .wrapper:
            found["op"] = wire?.operation.type
            found["with"] = try parameters(wire?.operation.parameters)
        }
        let producers = planned.producers.map { GraphPlan.name(of: $0) }
        if producers.count == 1 { found["receives"] = producers[0] } else if !producers.isEmpty { found["receives"] = producers }
        if !planned.after.isEmpty { found["after"] = planned.after.map { GraphPlan.name(of: $0) } }
        if planned.attempts > 1 { found["retry"] = planned.attempts - 1 }
        if planned.hasTimeout { found["timeout"] = text(limits.timeout) }
        if planned.hasDeadline { found["deadline"] = text(limits.deadline) }
        if planned.hasQueueTimeout { found["queueTimeout"] = text(limits.queueTimeout) }
        if planned.isAtMostOnce { found["atMostOnce"] = true }
        if planned.isRecomputable { found["recomputable"] = true }
        if !planned.keys.isEmpty { found["exclusive"] = planned.keys.map { ["key": salt + $0.name, "limit": $0.limit] } }
        if let unique = planned.unique {
            found["unique"] = salt + unique.id
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
        case .notBefore(let milliseconds)?: found["notBefore"] = time(milliseconds)
        case nil: break
        }
        if !planned.conditions.isEmpty { found["conditions"] = try conditions(planned.conditions, wire) }
        return found
    }

    private func conditions(_ planned: [ConditionPlan], _ wire: WireNode?) throws -> [[String: Any]] {
        try zip(planned, wire?.conditions ?? []).map { planned, wire in
            switch planned {
            case .noFailedDependencies: return ["noFailedDependencies": true]
            case .noCancelledDependencies: return ["noCancelledDependencies": true]
            case .scripted(_, let isNegated):
                var found: [String: Any] = ["type": wire.probe.type, "with": try parameters(wire.probe.parameters)]
                if isNegated { found["negated"] = true }
                return found
            case .prepared, .all, .any, .not, .silent, .ignored:
                throw GraphFileErrors([GraphFileError(file: "", position: nil, message: "\(planned) is not drawn for a file")])
            }
        }
    }

    private func parameters(_ place: UInt32?) throws -> Any {
        try JSONSerialization.jsonObject(with: made.parameters[Int(place ?? 0)])
    }

    private func text(_ duration: Duration) -> String { "\(Int(duration / .milliseconds(1)))ms" }

    private func time(_ milliseconds: Int) -> String {
        let date = Date(timeIntervalSince1970: 1_000 + Double(milliseconds) / 1_000)
        return date.ISO8601Format(.init(includingFractionalSeconds: true))
    }
}

/// A graph without what depends on the order in which nodes and parameters are written, and what only Swift says of a type.
private struct Outline {
    struct Place: Equatable {
        var node: WireNode
        var receives: [String]
        var after: [String]
        /// Of the operation, and of conditions.
        var parameters: [String]
    }

    var name: String
    var nodes: [String: Place] = [:]

    init(_ graph: WireGraph) {
        name = graph.name
        var paths: [String] = []
        for (index, node) in graph.nodes.enumerated() {
            let above = index == 0 ? "" : paths[Int(node.parent)]
            paths.append(index == 0 ? "" : above.isEmpty ? node.id : "\(above)/\(node.id)")
        }
        func canonical(_ place: UInt32) -> String {
            guard let object = try? JSONSerialization.jsonObject(with: graph.parameters[Int(place)]),
                let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .fragmentsAllowed])
            else { return "no JSON" }
            return String(decoding: data, as: UTF8.self)
        }
        for (index, node) in graph.nodes.enumerated() {
            var place = Place(
                node: node, receives: node.receives.map { paths[Int($0)] }, after: node.after.map { paths[Int($0)] }.sorted(),
                parameters: [])
            (place.node.receives, place.node.after, place.node.parent) = ([], [], 0)
            if case .operation(var operation)? = node.kind {
                place.parameters.append(canonical(operation.parameters))
                (operation.parameters, operation.version) = (0, 0)
                place.node.kind = .operation(operation)
            }
            for condition in node.conditions.indices {
                guard case .probe(var probe)? = node.conditions[condition].kind else { continue }
                place.parameters.append(canonical(probe.parameters))
                probe.parameters = 0
                place.node.conditions[condition].kind = .probe(probe)
            }
            // A file says no wait of nothing, and the outputs of types are known to Swift.
            place.node.clearBackoff()
            if node.hasUnique { place.node.unique.output = "" }
            nodes[paths[index]] = place
        }
    }
}
