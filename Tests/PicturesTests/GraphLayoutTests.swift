import Foundation
import Testing

@testable import Pictures

@Suite struct GraphLayoutTests {
    private func layout(_ graph: PictureGraph, _ depth: GraphDepth = .fitting) -> GraphLayout {
        GraphLayout(graph, GraphFolding(graph, depth))
    }

    @Test func whatWaits_standsToTheRight_andNothingOverlaps() throws {
        let layout = layout(Graphs.small)
        func box(_ node: Int) throws -> GraphLayout.Box { layout.boxes[try #require(layout.boxOfNode[node])] }
        let (a, b, x, y) = (try box(1), try box(2), try box(3), try box(4))
        #expect(x.x + x.width < y.x)
        #expect(a.x + a.width < b.x)
        #expect(x.x > a.x && y.x + y.width < a.x + a.width)
        // Within a group from one to the other; between the groups from one group to the other.
        let arrows = layout.arrows.map { [layout.boxes[$0.from].node, layout.boxes[$0.to].node] }
        #expect(arrows == [[3, 4], [1, 2]])
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>) func boxes_ofTheSameGroup_doNotOverlap_andAreInside(_ seed: UInt64) {
        var numbers = Numbers(seed)
        let graph = Graphs.random(&numbers, count: 5 + Int(seed) * 4)
        for depth in [GraphDepth.fitting, .levels(2), .everything] {
            let layout = layout(graph, depth)
            var siblings: [Int: [GraphLayout.Box]] = [:]
            for box in layout.boxes {
                guard let parent = graph.nodes[box.node].parent else { continue }
                siblings[parent, default: []].append(box)
                guard let outer = layout.boxOfNode[parent].map({ layout.boxes[$0] }) else { continue }
                #expect(box.x > outer.x && box.y > outer.y, "seed \(seed)")
                #expect(box.x + box.width < outer.x + outer.width + 0.01 && box.y + box.height < outer.y + outer.height, "seed \(seed)")
            }
            for boxes in siblings.values {
                for (index, one) in boxes.enumerated() {
                    for other in boxes[..<index] {
                        let isApart =
                            one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y
                            || other.y + other.height <= one.y
                        #expect(isApart, "seed \(seed): \(graph.nodes[one.node].path) over \(graph.nodes[other.node].path)")
                    }
                }
            }
        }
    }

    @Test func depth_saysWhatIsFolded() {
        let graph = Graphs.small
        #expect(layout(graph, .levels(1)).boxes.map(\.kind) == [.box, .fold, .fold])
        #expect(layout(graph, .levels(2)).boxes.map(\.kind) == [.box, .box, .card, .card, .box, .card, .card])
        // Also of what is folded the arrows are there.
        let folded = layout(graph, .levels(1))
        #expect(folded.arrows.map { [folded.boxes[$0.from].node, folded.boxes[$0.to].node] } == [[1, 2]])
    }

    @Test func manyChildren_areSquares_andOfVeryManyOnlyTheFirst() {
        let many = layout(Graphs.wide(2000))
        #expect(many.boxes.count { $0.kind == .cell } == 2000)
        #expect(many.width < 1500 && many.height < 1500)
        let veryMany = layout(Graphs.wide(PictureLimits.cellsMax + 5))
        #expect(veryMany.boxes.count { $0.kind == .cell } == PictureLimits.cellsMax)
        #expect(veryMany.boxes.first { $0.kind == .box && $0.node == 1 }?.hidden == 5)
    }

    @Test func deeplyNested_isNoTrouble() {
        let nodes = (0..<1000).map { index in
            PictureGraph.Node(path: "g\(index)", kind: .group, parent: index == 0 ? nil : index - 1)
        }
        let graph = PictureGraph(name: "deep", nodes)
        #expect(layout(graph, .everything).boxes.count == 1000)
        #expect(XMLReading(GraphSVG(graph, depth: .everything).text)?.elements["rect"] ?? 0 >= 1000)
        #expect(GraphDot(graph, depth: .everything).text.count { $0 == "{" } == 1000)
    }

    /// The dashboard's own code, run beside this one.
    @Test func layout_isThatOfTheDashboard() throws {
        guard let node = Tool.path("node") else { return print("SKIPPED: no node here; the layout was not compared with the dashboard's") }
        var graphs: [(graph: PictureGraph, depth: GraphDepth)] = [(Graphs.small, .fitting), (Graphs.wide(2000), .fitting)]
        for seed in 1...60 as ClosedRange<UInt64> {
            var numbers = Numbers(seed)
            let graph = Graphs.random(&numbers, count: 3 + Int(seed) * 5)
            graphs.append((graph, seed % 3 == 0 ? .everything : .fitting))
        }
        let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Dashboard/Files")
        let asked = try JSONEncoder().encode(graphs.map { Told($0.graph, isOpen: $0.depth == .everything) })
        let copied = try Self.modules(files)
        defer { try? FileManager.default.removeItem(at: copied) }
        let answer = try Tool.run(node, [copied.appending(path: "compare.mjs").path], input: String(decoding: asked, as: UTF8.self))
        #expect(answer.status == 0, "\(answer.errors)")
        let theirs = try JSONDecoder().decode([Layout].self, from: Data(answer.output.utf8))
        #expect(theirs.count == graphs.count)
        for (index, (graph, depth)) in graphs.enumerated() where index < theirs.count {
            #expect(Layout(layout(graph, depth)) == theirs[index], "graph \(index)")
        }
    }

    // MARK: The dashboard

    /// A graph as the coordinator's API tells it.
    private struct Told: Encodable {
        struct Operation: Encodable {
            var unit: Int
            var parent: Int?
            var position: Int
            var path: String
            var kind: String
            var state: String
        }
        struct Edges: Encodable {
            var unit: Int
            var dependencies: [Int]
        }
        var operations: [Operation]
        var edges: [Edges]
        var isOpen: Bool

        init(_ graph: PictureGraph, isOpen: Bool) {
            operations = graph.nodes.enumerated().map { index, node in
                let position = node.parent.flatMap { graph.nodes[$0].children.firstIndex(of: index) } ?? 0
                return Operation(
                    unit: index, parent: node.parent, position: position, path: node.path, kind: node.kind.rawValue,
                    state: node.standing?.state ?? "blocked")
            }
            edges = graph.nodes.enumerated().map { Edges(unit: $0, dependencies: $1.dependencies) }
            self.isOpen = isOpen
        }
    }

    private struct Layout: Decodable, Equatable {
        struct Box: Decodable, Equatable {
            var node: Int
            var kind: String
            var x: Double
            var y: Double
            var w: Double
            var h: Double
        }
        var boxes: [Box]
        var arrows: [[Int]]

        init(_ layout: GraphLayout) {
            boxes = layout.boxes.map {
                Box(node: $0.node, kind: $0.kind.rawValue, x: $0.x, y: $0.y, w: $0.width, h: $0.height)
            }.sorted { $0.node < $1.node }
            arrows = layout.arrows.map { [layout.boxes[$0.from].node, layout.boxes[$0.to].node] }.sorted {
                $0.lexicographicallyPrecedes($1)
            }
        }
    }

    /// The dashboard's modules, where node takes them for modules, and what asks them.
    private static func modules(_ files: URL) throws -> URL {
        let directory = FileManager.default.temporaryDirectory.appending(path: "dashboard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for file in try FileManager.default.contentsOfDirectory(at: files, includingPropertiesForKeys: nil) where file.pathExtension == "js"
        {
            try FileManager.default.copyItem(at: file, to: directory.appending(path: file.lastPathComponent))
        }
        try Data(#"{"type":"module"}"#.utf8).write(to: directory.appending(path: "package.json"))
        try Data(
            """
            import { readFileSync } from "node:fs";
            import { GraphView } from "./graph.js";
            import { Work, isGroup } from "./work.js";
            const answers = JSON.parse(readFileSync(0, "utf8")).map(({ operations, edges, isOpen }) => {
              const view = Object.create(GraphView.prototype);
              view.work = new Work("id");
              view.work.build(operations, edges);
              view.folded = new Map();
              if (isOpen) for (const node of view.work.nodes.values()) if (isGroup(node)) view.folded.set(node.unit, false);
              view.foldAtFirst();
              view.layout();
              const boxes = view.boxes.map(({ node, kind, x, y, w, h }) => ({ node: node.unit, kind, x, y, w, h }));
              boxes.sort((a, b) => a.node - b.node);
              const arrows = view.edges.map(([a, b]) => [a.node.unit, b.node.unit]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
              return { boxes, arrows };
            });
            console.log(JSON.stringify(answers));

            """.utf8
        ).write(to: directory.appending(path: "compare.mjs"))
        return directory
    }
}
