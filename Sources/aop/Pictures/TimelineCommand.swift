import ArgumentParser
import Cluster
import Pictures
import Shapes
import Wire

enum TimelineFormat: String, PictureFormat, ExpressibleByArgument {
    case svg, json

    static var standard: Self { .svg }

    var endings: [String] { [rawValue] }
}

struct TimelineCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Who ran what when, as a picture.",
        discussion: """
            Lines for each worker, with what ran there one after the other, in the colour of its state. Each attempt of an operation
            is a bar; of those that did not count (the last 20 of an operation, as far as they had begun) it says how they ended.
            Above them is marked where something failed, and where an attempt was lost with its worker. What is too close together to be
            seen is one bar, and says what is in it.

            Examples:
              aop timeline last --to last.svg
              aop timeline 7fk2/build > build.svg
              aop timeline last -o json | jq '.lanes[] | [.worker, (.attempts | length)]'
            """)

    @Argument(help: "ID or ID/PATH of a submission, or of a group in it.")
    var reference: OperationReference
    @Option(help: "svg (the default) or json.")
    var format: TimelineFormat?
    @OptionGroup var picture: PictureOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try FinishedPicture.check(format, picture, output.output) }

    func execute(_ console: Console) async throws -> ExitStatus {
        let (view, timeline) = try await connection.withConnection { connection in
            let view = try await connection.show(reference.submission)
            var views: [WireOperationView] = []
            for try await page in connection.operations(of: view.id, path: reference.path) { views += page }
            let name = view.name.isEmpty ? view.id : "\(view.name) (\(view.id))"
            let timeline = Timeline(
                name: reference.path.isEmpty ? name : "\(name): \(reference.path)", state: view.state.word, views: views,
                submittedAt: reference.path.isEmpty ? view.submittedAt : 0, now: WallClock.milliseconds())
            return (view, timeline)
        }
        let format = TimelineFormat.meant(format, picture, console.mode)
        let content: FinishedPicture.Content =
            switch format {
            case .svg: .text(TimelineSVG(timeline).text)
            case .json:
                .json(
                    .shape(
                        [("id", .string(view.id)), ("name", .string(view.name)), ("state", .string(view.state.word))] + timeline.members))
            }
        try await FinishedPicture(content: content, format: format.rawValue).write(
            picture, console, example: "aop timeline \(reference.text.shellWord)")
        return .success
    }
}
