import Foundation
import Wire

/// The secrets that were put into one operation's parameters, so that nothing that is told of it has them.
struct Redaction: Sendable, Equatable {
    /// Shorter ones are not looked for: what is left out around them would tell them.
    static let charactersMin = 4
    /// What stands in the place of a secret.
    static let mask = "***"

    private var texts: [String] = []

    mutating func add(_ text: String) {
        guard !text.isEmpty, !texts.contains(text) else { return }
        texts.append(text)
        // One secret may hold another one.
        texts.sort { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
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
