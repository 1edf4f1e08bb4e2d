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
    /// An element of an operation's `conditions`.
    var json: JSONValue {
        let finding =
            switch self.finding {
            case .satisfied: "satisfied"
            case .failed: "failed"
            case .ignored: "ignored"
            case .notNow: "notNow"
            case .UNRECOGNIZED: "unknown"
            }
        return .object([
            ("condition", .string(key)), ("verdict", .string(finding)), ("reason", .optional(reason)),
            ("evaluator", .string(evaluator.isEmpty ? "coordinator" : evaluator)), ("at", .time(at)), ("until", .time(until)),
        ])
    }
}
