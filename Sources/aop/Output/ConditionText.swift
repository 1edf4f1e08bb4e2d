import Shapes
import Wire

/// Conditions as text.
enum ConditionText {
    /// What an operation waits for whose conditions say "not now".
    static func reason(_ conditions: [WireConditionView]) -> String {
        conditions.filter { $0.finding == .notNow }
            .map { "\(PlainText.of($0.reason)); asked again at \(TimeText.rfc3339($0.until))" }.joined(separator: "; ")
    }
}

extension WireConditionView {
    /// As a stage of an operation's way.
    var text: String {
        "\(PlainText.of(key)): \(word) (\(evaluator.isEmpty ? "coordinator" : evaluator))\(reason.isEmpty ? "" : ": \(PlainText.of(reason))")"
    }
}
