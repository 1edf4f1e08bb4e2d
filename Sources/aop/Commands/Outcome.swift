import Cluster
import Shapes
import Wire

/// Shows what a submission, or a part of it, gave: the same for `run`, `submit --wait`, `wait` and `result`.
struct Outcome {
    let console: Console
    let connection: ClusterConnection

    /// Prints the outcome of a whole submission.
    /// - Parameter besides: members of the JSON that are the command's own.
    func show(_ view: WireSubmissionView, moreFailures: String, besides: [(String, JSONValue)] = []) async throws {
        var result = try await connection.result(of: view.id)
        result.submission = view
        switch console.mode {
        case .json, .jsonl:
            try await console.writeValue(.shape(result.members + besides), connection: connection)
        case .quiet:
            try await ResultText(result.operations, output: console.out, connection: connection, isBare: true).write()
            await listFailures(result, more: moreFailures)
        case .text:
            try await ResultText(result.operations, output: console.out, connection: connection).write()
            await listFailures(result, more: moreFailures)
            try await console.write(SummaryText.line(view, style: console.outStyle))
        }
    }

    private func listFailures(_ result: SubmissionResult, more: String) async {
        let failures = result.failures
        guard !failures.isEmpty else { return }
        console.note(FailureText(style: console.errStyle).list(failures, more: more))
        await console.err.flush()
    }
}
