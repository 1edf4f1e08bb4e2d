import Cluster
import Foundation
import Wire

/// Failures as a person reads them: path, message, and the end of what the command wrote to standard error.
struct FailureText {
    /// More are named by their number only.
    static let shownAtMost = 20

    var style: Style

    func list(_ failures: [FailedOperation], more: String) -> String {
        var text = failures.prefix(Self.shownAtMost).map(entry).joined()
        if failures.count > Self.shownAtMost {
            text += "… and \(failures.count - Self.shownAtMost) more failures; \(more)\n"
        }
        return text
    }

    func entry(_ failure: FailedOperation) -> String {
        failure.errors.map { error in
            head(error, path: failure.path) + "\n" + stderrLines(error).map { "    \($0)\n" }.joined()
        }.joined()
    }

    /// `failed count/3: exited with 3 on h1: no such file`
    func head(_ error: WireOperationFailure, path: String) -> String {
        let origin = error.origin.isEmpty || error.origin == path ? "" : " (from \(error.origin))"
        return "\(style.red("failed")) \(style.bold(path.isEmpty ? "the submission" : path)): \(PlainText.of(error.message))\(origin)"
    }

    /// The end of standard error, without what the message says already.
    private func stderrLines(_ error: WireOperationFailure) -> [String] {
        guard error.hasStderr else { return [] }
        let lines = error.stderr.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let end = lines.last == "" ? lines.dropLast() : lines[...]
        let shown = Array(end.suffix(10))
        if shown.count == 1, error.message.hasSuffix(shown[0]) { return [] }
        return shown.map(PlainText.of)
    }
}
