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
    private var word: String {
        switch finding {
        case .satisfied: "satisfied"
        case .failed: "failed"
        case .ignored: "ignored"
        case .notNow: "notNow"
        case .UNRECOGNIZED: "unknown"
        }
    }

    /// As a stage of an operation's way.
    var text: String {
        "\(PlainText.of(key)): \(word) (\(evaluator.isEmpty ? "coordinator" : evaluator))\(reason.isEmpty ? "" : ": \(PlainText.of(reason))")"
    }

    /// An element of an operation's `conditions`.
    var json: JSONValue {
        .object([
            ("condition", .string(key)), ("verdict", .string(word)), ("reason", .optional(reason)),
            ("evaluator", .string(evaluator.isEmpty ? "coordinator" : evaluator)), ("at", .time(at)), ("until", .time(until)),
        ])
    }
}
