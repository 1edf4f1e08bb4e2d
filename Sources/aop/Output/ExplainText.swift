import Shapes
import Wire

/// An explanation as a person reads it: one sentence, then what is in the way with what to do about it, or what led to the end;
/// then what waits inside, and what has happened.
struct ExplainText {
    let explanation: WireExplanation
    let style: Style

    init(_ explanation: WireExplanation, style: Style) {
        self.explanation = explanation
        self.style = style
    }

    var text: String { ([sentence] + [blockers, causes, inside, history].filter { !$0.isEmpty }).joined(separator: "\n") }

    private var name: String {
        explanation.path.isEmpty ? explanation.submission : "\(explanation.submission)/\(explanation.path)"
    }

    private var word: String { explanation.hasView ? explanation.view.state.word : explanation.state.word }

    // MARK: The sentence

    private var sentence: String {
        let since = explanation.since == 0 ? "" : " since \(span(explanation.since))"
        let head = "\(style.bold(name)) "
        switch explanation.state {
        case .succeeded: return head + "has \(style.state("succeeded")) \(ago(explanation.since)).\n"
        case .failed, .cancelled:
            let verb = explanation.state == .failed ? "has " : "was "
            let (first, last) = (explanation.causes.first?.operation ?? "", explanation.causes.last?.operation ?? "")
            let origin = first == last ? "" : ", because of \(last)"
            return head + "\(verb)\(style.state(explanation.state.word)) \(ago(explanation.since))\(origin).\n"
        default: break
        }
        let waiting = explanation.inside.reduce(0) { $0 + Int($1.count) } + Int(explanation.moreInside)
        switch explanation.blockers.count + Int(explanation.moreBlockers) {
        case 0 where waiting > 0: return head + "is \(word)\(since); \(waiting) in it \(waiting == 1 ? "waits" : "wait").\n"
        case 0: return head + "is \(word)\(since); nothing is in its way.\n"
        case 1: return head + "is \(style.state(word))\(since): one thing is in its way.\n"
        case let count: return head + "is \(style.state(word))\(since): \(count) things are in its way.\n"
        }
    }

    // MARK: What is in its way

    private var blockers: String {
        guard !explanation.blockers.isEmpty else { return "" }
        let width = explanation.blockers.map(\.kind.count).max() ?? 0
        var text = ""
        for blocker in explanation.blockers {
            text += "  \(style.yellow(DisplayWidth.pad(blocker.kind, to: width)))  \(PlainText.of(blocker.text))\n"
            if !blocker.remedy.isEmpty { text += "  \(DisplayWidth.pad("", to: width))  → \(PlainText.of(blocker.remedy))\n" }
        }
        if explanation.moreBlockers > 0 { text += "  and \(explanation.moreBlockers) more\n" }
        return text
    }

    // MARK: What led to the end

    private var causes: String {
        guard !explanation.causes.isEmpty else { return "" }
        var text = "Why:\n"
        for cause in explanation.causes {
            let when = cause.at == 0 ? "" : " (\(TimeText.rfc3339(cause.at)))"
            text += "  \(cause.operation): \(PlainText.of(cause.text))\(when)\n"
        }
        // Of several conditions of one operation each has said something.
        let ends = explanation.causes.filter { $0.operation == explanation.causes.last?.operation && $0.hasFailure }
        for end in ends where end.hasCondition {
            text += "  → \(PlainText.of(end.condition.text)), at \(TimeText.rfc3339(end.condition.at))\n"
        }
        guard let last = ends.last else { return text }
        if last.failure.hasStderr {
            for line in last.failure.stderr.split(separator: "\n").suffix(10) { text += "    \(PlainText.of(String(line)))\n" }
        }
        return last.hasCondition || last.attempts == 0 || last.failure.code.meansThatItDidNotRun
            ? text : text + "  → `aop logs \(last.operation)` has what it wrote\n"
    }

    // MARK: What is in it, and what has happened

    private var inside: String {
        guard !explanation.inside.isEmpty else { return "" }
        var text = "In it wait:\n"
        for waiting in explanation.inside {
            let more = Int(waiting.count) - waiting.operations.count
            let names = waiting.operations.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
            text += "  \(waiting.count)  \(style.yellow(waiting.kind))  \(PlainText.of(waiting.text))\n     \(names)\n"
        }
        if explanation.moreInside > 0 { text += "  and \(explanation.moreInside) more, for something else\n" }
        if explanation.insidePartial { text += "  only the beginning of it was looked at; name a group in it\n" }
        if let first = explanation.inside.first?.operations.first {
            text += "  → `aop explain \(explanation.submission)/\(first)` says more of one\n"
        }
        return text
    }

    private var history: String {
        guard !explanation.history.isEmpty else { return "" }
        var table = Table(["AT", "EVENT", ""])
        for entry in explanation.history {
            table.add([TimeText.rfc3339(entry.at), entry.event, DisplayWidth.cut(PlainText.of(entry.text), to: 200)])
        }
        return table.text
    }

    /// By the coordinator's clock, which made the times.
    private func span(_ since: Int64) -> String {
        "\(TimeText.rfc3339(since)) (\(TimeText.duration(milliseconds: explanation.at - since)))"
    }

    private func ago(_ since: Int64) -> String { "\(TimeText.duration(milliseconds: explanation.at - since)) ago" }
}

extension WireFailureCode {
    /// What its condition, or another one like it, has kept from running has written nothing.
    fileprivate var meansThatItDidNotRun: Bool { self == .condition || self == .duplicate || self == .quarantined }
}
