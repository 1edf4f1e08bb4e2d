import Foundation
import FoundationXML
import Testing

@testable import Pictures

/// Graphs to draw.
enum Graphs {
    typealias Node = PictureGraph.Node
    typealias Standing = PictureGraph.Standing

    /// Two groups one after the other, with something in the second that waits for something in the first.
    static let small = PictureGraph(
        name: "small",
        [
            Node(path: "", kind: .group, standing: Standing(state: "running"), parent: nil),
            Node(path: "a", kind: .ordered, standing: Standing(state: "succeeded"), parent: 0),
            Node(path: "b", kind: .group, standing: Standing(state: "running"), parent: 0),
            Node(
                path: "a/x", kind: .operation, type: "shell",
                standing: Standing(state: "succeeded", attempts: 1, worker: "h/0", startedAt: 1000, finishedAt: 3500), parent: 1),
            Node(path: "a/y", kind: .operation, type: "shell", standing: Standing(state: "succeeded"), parent: 1, dependencies: [3]),
            Node(
                path: "b/z", kind: .operation, type: "shell",
                standing: Standing(state: "failed", attempts: 2, error: "exited with 7 on h: oops"), parent: 2, dependencies: [4]),
            Node(path: "b/w", kind: .operation, type: "shell", standing: Standing(state: "queued"), parent: 2),
        ])

    /// `count` operations in a group beside one more.
    static func wide(_ count: Int) -> PictureGraph {
        var nodes = [
            Node(path: "", kind: .group, standing: Standing(state: "running"), parent: nil),
            Node(path: "each", kind: .forEach, standing: Standing(state: "running"), parent: 0),
            Node(path: "last", kind: .operation, type: "shell", standing: Standing(state: "blocked"), parent: 0, dependencies: [1]),
        ]
        for index in 0..<count {
            let state = ["succeeded", "running", "queued", "failed"][index % 4]
            nodes.append(
                Node(path: "each/\(index)", kind: .operation, type: "shell", standing: Standing(state: state), parent: 1))
        }
        return PictureGraph(name: "wide", nodes)
    }

    /// Any tree with any arrows that do not go in a circle.
    static func random(_ generator: inout some RandomNumberGenerator, count: Int, states: Bool = true) -> PictureGraph {
        let words = ["blocked", "queued", "running", "succeeded", "failed", "cancelled", "retrying", "paused"]
        func standing(_ generator: inout some RandomNumberGenerator) -> Standing? {
            states ? Standing(state: words.randomElement(using: &generator) ?? "queued") : nil
        }
        var nodes = [Node(path: "", kind: .group, standing: standing(&generator), parent: nil)]
        var groups = [0]
        for index in 1..<count {
            let parent = Int.random(in: 0..<3, using: &generator) == 0 ? groups[0] : groups.randomElement(using: &generator) ?? 0
            let kinds: [PictureGraph.Kind] = [.operation, .operation, .operation, .operation, .group, .ordered, .forEach, .decisions]
            let kind = kinds.randomElement(using: &generator) ?? .operation
            var dependencies: [Int] = []
            for _ in 0..<Int.random(in: 0..<3, using: &generator) {
                let other = Int.random(in: 0..<index, using: &generator)
                if !isAround(other, index, parent, nodes), !dependencies.contains(other) { dependencies.append(other) }
            }
            let prefix = nodes[parent].path.isEmpty ? "" : nodes[parent].path + "/"
            nodes.append(
                Node(
                    path: "\(prefix)n\(index)", kind: kind, type: kind == .operation ? "shell" : "", standing: standing(&generator),
                    parent: parent, dependencies: dependencies))
            if nodes[index].isGroup { groups.append(index) }
        }
        return PictureGraph(name: "random", nodes)
    }

    private static func isAround(_ other: Int, _ index: Int, _ parent: Int, _ nodes: [Node]) -> Bool {
        var up: Int? = parent
        while let current = up {
            if current == other { return true }
            up = nodes[current].parent
        }
        return other == index
    }
}

/// The same numbers every time.
struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

/// Reads XML as strictly as it has to be.
final class XMLReading: NSObject, XMLParserDelegate {
    private(set) var elements: [String: Int] = [:]
    private(set) var texts = ""

    /// nil: it is no XML.
    init?(_ text: String) {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        guard parser.parse() else {
            Issue.record("line \(parser.lineNumber): \(parser.parserError.map { "\($0)" } ?? "no XML")")
            return nil
        }
    }

    func parser(
        _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
    ) {
        elements[element, default: 0] += 1
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) { texts += text }
}

/// What is run beside a test, where the machine has it.
enum Tool {
    /// - Returns: its path; nil: it is not there.
    static func path(_ name: String) -> String? {
        ["/usr/bin/\(name)", "/usr/local/bin/\(name)", "/bin/\(name)"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs it with this on its standard input.
    static func run(_ path: String, _ arguments: [String], input: String) throws -> (status: Int32, output: String, errors: String) {
        let directory = FileManager.default.temporaryDirectory.appending(path: "pictures-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = ["in", "out", "err"].map { directory.appending(path: $0) }
        for file in files { try Data().write(to: file) }
        try Data(input.utf8).write(to: files[0])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        return (
            process.terminationStatus, try String(contentsOf: files[1], encoding: .utf8), try String(contentsOf: files[2], encoding: .utf8)
        )
    }
}
