import Foundation
import Wire

/// The secrets that were put into one operation's parameters, so that nothing that is told of it has them.
struct Redaction: Sendable, Equatable {
    /// Shorter ones are not looked for: what is left out around them would tell them.
    static let charactersMin = 4
    /// What stands in the place of a secret.
    static let mask = "***"

    private var texts: [String] = []

    /// A secret, and the lines that it has: what is told is often one of them, without the blanks around it.
    mutating func add(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        for part in [text] + lines where !part.isEmpty && !texts.contains(part) { texts.append(part) }
        // One secret may hold another one.
        texts.sort { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    }

    /// The end of a text, whose beginning was cut off: it may begin within a secret.
    func apply(toTail tail: String) -> String {
        guard !texts.isEmpty else { return tail }
        let whole = apply(to: tail)
        let cut = texts.compactMap { secret in
            secret.indices.dropFirst().first { start in
                secret.distance(from: start, to: secret.endIndex) >= Self.charactersMin && whole.hasPrefix(secret[start...])
            }.map { secret.distance(from: $0, to: secret.endIndex) }
        }.max()
        return cut.map { Self.mask + whole.dropFirst($0) } ?? whole
    }

    /// Whether something of a text was a secret.
    func occurs(in text: String) -> Bool { texts.contains { text.contains($0) } }

    func apply(to text: String) -> String {
        texts.reduce(text) { text, secret in
            secret.count < Self.charactersMin ? text : text.replacing(secret, with: Self.mask)
        }
    }

    func apply(to failure: WireOperationFailure) -> WireOperationFailure {
        guard !texts.isEmpty else { return failure }
        var failure = failure
        failure.message = apply(to: failure.message)
        if failure.hasStderr { failure.stderr = apply(to: failure.stderr) }
        // In its coded form a secret may be written otherwise.
        failure.error = Data()
        return failure
    }
}
