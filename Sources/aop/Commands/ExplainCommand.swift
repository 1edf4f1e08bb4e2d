import ArgumentParser
import Cluster
import Shapes

struct ExplainCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Why an operation waits, or why it ended as it did.",
        discussion: """
            Everything that is in the way of an operation or group, with who or what that is and what to do about it; of one that
            failed, what led to that; and what has happened to it. Of a submission, or a group, also what in it waits, and for what.

            Examples:
              aop explain last
              aop explain last/load
              aop explain 7fk2/load -o json
            """)

    @Argument(help: "ID, or ID/PATH of an operation or group.")
    var reference: OperationReference
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let explanation = try await connection.explain(reference.submission, path: reference.path)
            switch console.mode {
            case .json, .jsonl: try await console.writeValue(.shape(explanation.members))
            case .quiet: try await console.write(explanation.blockers.map { "\($0.kind)\n" }.joined())
            case .text: try await console.write(ExplainText(explanation, style: console.outStyle).text)
            }
        }
        return .success
    }
}
