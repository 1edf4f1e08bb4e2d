import Foundation
import Shapes
import Testing
import Wire

@testable import Pictures

/// Graphs as SVG, dot, Mermaid and JSON.
@Suite struct GraphPictureTests {
    /// What no format may stumble over.
    private static let hostile = "a\"<b>&c'\\d\u{1B}]0;x\u{7}\n]]>--\u{0}\u{FFFE}é漢🙂#{|}"

    private static func named(_ name: String) -> PictureGraph {
        PictureGraph(
            name: name,
            [
                .init(path: "", kind: .group, standing: .init(state: "running"), parent: nil),
                .init(path: "g\(name.replacingOccurrences(of: "/", with: ""))", kind: .group, standing: .init(state: "failed"), parent: 0),
                .init(
                    path: "g/\(name.replacingOccurrences(of: "/", with: ""))", kind: .operation, type: name,
                    standing: .init(state: "failed", worker: name, error: name), parent: 1),
                .init(path: "h", kind: .operation, type: "shell", standing: .init(state: "unheard-of"), parent: 0, dependencies: [1, 2]),
            ])
    }

    @Test func svg_isXML_andShowsWhatThereIs() throws {
        let text = GraphSVG(Graphs.small).text
        let xml = try #require(XMLReading(text))
        for word in ["x", "y", "z", "w", "a", "b", "small", "succeeded · 2.5 s", "failed · attempt 2 · ", "3 of 4 ended · 1 failed"] {
            #expect(xml.texts.contains(word), "\(word)")
        }
        #expect(xml.texts.contains("exited with 7 on h: oops"))
        #expect(xml.texts.contains("queued 1") && xml.texts.contains("succeeded 2"))
        #expect(text.contains("prefers-color-scheme:dark"))
        #expect(xml.elements["g"] == 4)
    }

    @Test(arguments: ["", hostile, String(repeating: "long ", count: 500)]) func names_doNotBreakAnyFormat(_ name: String) throws {
        let graph = Self.named(name)
        #expect(XMLReading(GraphSVG(graph).text) != nil)
        let mermaid = GraphMermaid(graph).text
        for line in mermaid.split(separator: "\n") { #expect(line.count { $0 == "\"" } % 2 == 0, "\(line)") }
        #expect(!mermaid.contains("<b>"))
        guard let dot = Tool.path("dot") else { return print("SKIPPED: no dot here (Debian: graphviz); what it reads was not tried") }
        let read = try Tool.run(dot, ["-Tsvg"], input: GraphDot(graph).text)
        #expect(read.status == 0 && read.errors.isEmpty, "\(read.errors)")
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>) func everyFormat_hasEverythingThatIsNotFolded(_ seed: UInt64) throws {
        var numbers = Numbers(seed)
        let graph = Graphs.random(&numbers, count: 60, states: seed % 2 == 0)
        let dot = GraphDot(graph, depth: .everything).text
        let mermaid = GraphMermaid(graph, depth: .everything).text
        for (index, node) in graph.nodes.enumerated().dropFirst() {
            #expect(dot.contains(node.isGroup ? "subgraph cluster_\(index) {" : "n\(index) [label="), "seed \(seed)")
            #expect(mermaid.contains(node.isGroup ? "subgraph n\(index)[" : "n\(index)["), "seed \(seed)")
        }
        let edges = graph.nodes.enumerated().flatMap { index, node in node.dependencies.map { "  n\($0) --> n\(index)" } }
        #expect(mermaid.split(separator: "\n").filter { $0.contains("-->") }.map(String.init) == edges)
        #expect(dot.count { $0 == "{" } == dot.count { $0 == "}" })
        #expect(XMLReading(GraphSVG(graph, depth: .everything).text) != nil)
        guard let tool = Tool.path("dot") else { return }
        let read = try Tool.run(tool, ["-Tplain"], input: dot)
        #expect(read.status == 0, "\(read.errors)")
        #expect(read.output.split(separator: "\n").count { $0.hasPrefix("edge ") } == edges.count)
    }

    @Test func folded_isOneThing_andItsArrowsToo() {
        let dot = GraphDot(Graphs.small, depth: .levels(1)).text
        #expect(!dot.contains("subgraph") && dot.contains("n1 -> n2\n") && dot.contains("group of 2"))
        #expect(GraphDot(Graphs.small).text.contains("n4 -> n5\n"))
        let mermaid = GraphMermaid(Graphs.small, depth: .levels(1)).text
        #expect(mermaid.contains("n1[[\"a<br/>ordered of 2\"]]:::succeeded") && mermaid.contains("n1 --> n2\n"))
    }

    @Test func json_hasNodesAndEdges() throws {
        let members = Dictionary(uniqueKeysWithValues: GraphShape(Graphs.small).members)
        guard case .array(let nodes)? = members["nodes"], case .array(let edges)? = members["edges"] else {
            Issue.record("unlike")
            return
        }
        #expect(nodes.count == 7 && edges.count == 2)
        guard case .object(let edge)? = edges.last, case .string(let from) = edge[0].1, case .string(let to) = edge[1].1 else {
            Issue.record("unlike")
            return
        }
        #expect((from, to) == ("a/y", "b/z"))
        let folded = Dictionary(uniqueKeysWithValues: GraphShape(Graphs.small, depth: .levels(1)).members)
        guard case .array(let few)? = folded["nodes"] else {
            Issue.record("no nodes")
            return
        }
        #expect(few.count == 3)
    }

    @Test func views_comeInAnyOrder() throws {
        func view(_ unit: UInt32, _ parent: UInt32, _ position: UInt32, _ path: String, _ kind: WireOperationView.Kind) -> WireOperationView
        {
            .with {
                ($0.unit, $0.parent, $0.position, $0.path, $0.kind) = (unit, parent, position, path, kind)
                $0.state = .running
            }
        }
        var later = view(9, 5, 0, "g/late", .operation)
        later.dependencies = [7, 99]
        let graph = PictureGraph(
            name: "n", views: [view(0, 0, 0, "", .group), later, view(7, 0, 0, "first", .operation), view(5, 0, 1, "g", .group)])
        #expect(graph.nodes.map(\.path) == ["", "first", "g", "g/late"])
        #expect(graph.nodes[3].parent == 2 && graph.nodes[3].dependencies == [1])
        #expect(graph.nodes[0].total == 2)
    }

    @Test func colours_areTheDashboards() throws {
        let css = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Dashboard/Files/dashboard.css"), encoding: .utf8)
        let dark = try #require(css.range(of: "@media (prefers-color-scheme: dark)"))
        for colour in Palette.surfaces.map({ ("--\($0.name)", $0) }) + Palette.states.map({ ("--state-\($0.name)", $0) }) {
            #expect(css[..<dark.lowerBound].contains("\(colour.0): \(colour.1.light);"), "\(colour.0)")
            #expect(css[dark.lowerBound...].contains("\(colour.0): \(colour.1.dark);"), "\(colour.0)")
        }
    }
}
