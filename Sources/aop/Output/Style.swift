/// Colours, where they are wanted.
struct Style: Sendable {
    var isEnabled: Bool

    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    func yellow(_ text: String) -> String { wrap(text, "33") }
    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }

    /// The word of a state in its colour.
    func state(_ word: String) -> String {
        switch word {
        case "succeeded": green(word)
        case "failed": red(word)
        case "cancelled", "retrying", "stopping": yellow(word)
        default: word
        }
    }

    /// A text as it is seen.
    static func withoutCodes(_ text: String) -> String {
        var seen = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "\u{1B}[") {
            seen += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstIndex(of: "m") else { return seen }
            rest = rest[rest.index(after: end)...]
        }
        return seen + rest
    }

    private func wrap(_ text: String, _ code: String) -> String {
        isEnabled ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
