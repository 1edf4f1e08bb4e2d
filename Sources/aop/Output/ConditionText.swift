import Shapes
import Wire

/// Conditions as text.
enum ConditionText {
    /// What an operation waits for whose conditions say "not now".
    static func reason(_ conditions: [WireConditionView]) -> String {
        conditions.filter { $0.finding == .notNow }
            .map { condition in
                // It is due, and waits for a worker.
                let isDue = condition.until <= WallClock.milliseconds()
                return
                    "\(PlainText.of(condition.reason)); asked again \(isDue ? "once a worker takes it" : "at \(TimeText.rfc3339(condition.until))")"
            }.joined(separator: "; ")
    }
}

extension WireConditionView {
    /// As a stage of an operation's way.
    var text: String {
        "\(PlainText.of(key)): \(word) (\(evaluator.isEmpty ? "coordinator" : evaluator))\(reason.isEmpty ? "" : ": \(PlainText.of(reason))")"
    }
}
