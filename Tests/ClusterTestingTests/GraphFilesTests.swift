import AOperation
import Conformance
import ConformanceOperations
import ConformanceRemote
import Executing
import Foundation
import GraphFile
import Testing
import Wire

/// Random graphs as graph files: what is read from a file is the graph that the same operations make in Swift.
///
///
/// `AOP_CONFORMANCE_GRAPHS` says how many (100 if it is not set), `AOP_CONFORMANCE_SEED` the first seed.
@Suite struct GraphFilesTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let first = environment["AOP_CONFORMANCE_SEED"].flatMap(UInt64.init) ?? 1
    private static let count = environment["AOP_CONFORMANCE_GRAPHS"].flatMap(UInt64.init) ?? 100

    /// What a file can say, and Swift says alike.
    private static let features: GraphGenerator.Features = [
        .retries, .timeouts, .deadlines, .conditions, .groupConditions, .keys, .uniqueness, .delivery, .dependencies, .limits, .stops,
        .outsiders, .unorderedStops, .delays, .queueTimeouts, .atMostOnce, .placement, .recomputable, .scopes, .products,
        .retriedGroups,
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
            let file = try GraphFileText(plan, at: name, limits: limits).text(as: seed.isMultiple(of: 2) ? .json : .yaml)
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
            // A file says no wait of nothing, the outputs of types are known to Swift, and so is what their initializers say.
            place.node.described = false
            place.node.clearBackoff()
            if node.hasUnique { place.node.unique.output = "" }
            nodes[paths[index]] = place
        }
    }
}
