import ArgumentParser
import Cluster
import Coordinator
import Pictures
import Shapes
import Wire

enum GraphFormat: String, PictureFormat, ExpressibleByArgument {
    case svg, dot, mermaid, json

    static var standard: Self { .svg }

    var endings: [String] {
        switch self {
        case .svg: ["svg"]
        case .dot: ["dot", "gv"]
        case .mermaid: ["mmd", "mermaid"]
        case .json: ["json"]
        }
    }
}

struct GraphCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph",
        abstract: "A graph file, or a submission with how it stands, as a picture.",
        discussion: """
            What waits for something stands to the right of it, and groups are boxes around what is in them. Groups fold where there is no room
            for all; --depth says how deep to look. Of more than \(PictureLimits.cellsFrom) in one group each is a small square.
            A file is checked as `aop check` does, and drawn if it has no errors. dot is for Graphviz, mermaid for Markdown, and json has
            everything, unless --depth limits it.

            Examples:
              aop graph nightly.yaml --to nightly.svg
              aop graph last --to now.svg
              aop graph last/build --format dot | dot -Tpdf > build.pdf
              aop graph last -o json | jq '.nodes[] | select(.state == "failed") | .path'
            """)

    @Argument(
        help: "A graph file (YAML or JSON; - for standard input), or ID or ID/PATH of a submission, group or operation.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var subject: GraphSubject
    @Option(help: "svg (the default), dot, mermaid or json.")
    var format: GraphFormat?
    @Option(help: "Show so many levels of groups, 1 or more; deeper ones fold. By default as many as there is room for.")
    var depth: Int?
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Of a file: replace a variable of its `vars`; may be repeated.", valueName: "name=value"))
    var set: [Assignment] = []
    @OptionGroup var picture: PictureOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try FinishedPicture.check(format, picture, output.output)
        if let depth, depth < 1 { throw ValidationError("--depth \(depth): use a number from 1 on, or leave it out") }
        if case .submission(let reference) = subject, !set.isEmpty {
            throw ValidationError("--set replaces variables of graph files, and `\(reference.text)` is no file; leave it out")
        }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let format = GraphFormat.meant(format, picture, console.mode)
        switch subject {
        case .file(let file):
            let loaded = try await GraphSource(file: file, set: set).loadChecked(connection)
            let head: [(String, JSONValue)] = [("id", .null), ("name", .string(loaded.name)), ("state", .null)]
            try await draw(try PictureGraph(loaded), format, head: head, console, name: file)
        case .submission(let reference):
            let (view, graph) = try await fetch(reference)
            let head: [(String, JSONValue)] = [
                ("id", .string(view.id)), ("name", .string(view.name)), ("state", .string(view.state.word)),
            ]
            try await draw(graph, format, head: head, console, name: reference.text)
        }
        return .success
    }

    private func draw(
        _ graph: PictureGraph, _ format: GraphFormat, head: [(String, JSONValue)], _ console: Console, name: String
    ) async throws {
        let depth: GraphDepth? = depth.map { .levels($0) }
        let content: FinishedPicture.Content =
            switch format {
            case .svg: .text(GraphSVG(graph, depth: depth ?? .fitting).text)
            case .dot: .text(GraphDot(graph, depth: depth ?? .fitting).text)
            case .mermaid: .text(GraphMermaid(graph, depth: depth ?? .fitting).text)
            case .json: .json(.shape(head + GraphShape(graph, depth: depth ?? .everything).members))
            }
        try await FinishedPicture(content: content, format: format.rawValue).write(picture, console, example: "aop graph \(name.shellWord)")
    }

    private func fetch(_ reference: OperationReference) async throws -> (WireSubmissionView, PictureGraph) {
        do {
            return try await connection.withConnection { connection in
                let view = try await connection.show(reference.submission)
                var views: [WireOperationView] = []
                for try await page in connection.operations(of: view.id, path: reference.path, withDependencies: true) { views += page }
                let name = view.name.isEmpty ? view.id : "\(view.name) (\(view.id))"
                return (view, PictureGraph(name: name, views: views))
            }
        } catch let error as ClusterError where error.code == .notFound && reference.path.isEmpty {
            throw ToolError(.notFound, error.code.rawValue, "\(error.message); a file called `\(reference.text)` is not there either")
        }
    }
}

extension OperationReference {
    /// As users write it.
    var text: String { path.isEmpty ? submission : "\(submission)/\(path)" }
}
