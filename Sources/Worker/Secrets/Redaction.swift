import CLinux
import Foundation
import Wire

/// The secrets that were put into one operation's parameters, so that nothing that is told of it has them.
///
/// They are looked for byte by byte: what is told may have been cut anywhere, and a secret may be long.
struct Redaction: Sendable, Equatable {
    /// Shorter ones are not looked for: what is left out around them would tell them.
    static let charactersMin = 4
    /// What stands in the place of a secret.
    static let mask = "***"

    /// Of at least `charactersMin`, the longest first: one secret may hold another one.
    private var texts: [[UInt8]] = []
    private var shortTexts: Set<String> = []

    /// A secret, and the lines that it has: what is told is often one of them, without the blanks around it.
    ///
    /// - Complexity: O(n log n), n bytes of all secrets.
    mutating func add(_ text: String) {
        var known = Set(texts)
        for part in [text] + text.split(whereSeparator: \.isNewline).map({ $0.trimmingCharacters(in: .whitespaces) }) where !part.isEmpty {
            if part.prefix(Self.charactersMin).count < Self.charactersMin {
                shortTexts.insert(part)
            } else {
                known.insert(Array(part.utf8))
            }
        }
        texts = known.sorted { $0.count == $1.count ? $1.lexicographicallyPrecedes($0) : $0.count > $1.count }
    }

    /// The end of a text, whose beginning may have been cut off, within a secret or a character.
    ///
    /// - Complexity: O(bytes of the secrets + their number × bytes of the tail).
    func apply(toTail tail: [UInt8]) -> String {
        guard !texts.isEmpty, !tail.isEmpty else { return String(decoding: tail, as: UTF8.self) }
        let start = SuffixSearch(tail)
        let cut = texts.map { start.longestSuffix(of: $0) }.max() ?? 0
        guard cut >= Self.charactersMin else { return apply(to: String(decoding: tail, as: UTF8.self)) }
        return Self.mask + apply(to: String(decoding: tail[cut...], as: UTF8.self))
    }

    /// Whether something of a text was a secret.
    func occurs(in text: String) -> Bool {
        let isLongOne = Array(text.utf8).withUnsafeBytes { bytes in texts.contains { Self.find($0, in: bytes) != nil } }
        return isLongOne || shortTexts.contains { text.contains($0) }
    }

    /// - Complexity: O(number of secrets × bytes of the text).
    func apply(to text: String) -> String {
        guard !texts.isEmpty else { return text }
        return String(decoding: texts.reduce(into: Array(text.utf8)) { Self.mask($1, in: &$0) }, as: UTF8.self)
    }

    func apply(to failure: WireOperationFailure) -> WireOperationFailure {
        guard !texts.isEmpty || !shortTexts.isEmpty else { return failure }
        var failure = failure
        failure.message = apply(to: failure.message)
        if failure.hasStderr { failure.stderr = apply(to: failure.stderr) }
        // In its coded form a secret may be written otherwise.
        failure.error = Data()
        return failure
    }

    private static func mask(_ secret: [UInt8], in text: inout [UInt8]) {
        var masked: [UInt8] = []
        var end = 0
        text.withUnsafeBytes { bytes in
            while let found = find(secret, in: UnsafeRawBufferPointer(rebasing: bytes[end...])) {
                masked += bytes[end..<(end + found)]
                masked += mask.utf8
                end += found + secret.count
            }
        }
        if end > 0 { text = masked + text[end...] }
    }

    private static func find(_ secret: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress, bytes.count >= secret.count,
            let found = clinux_find(start, bytes.count, secret, secret.count)
        else { return nil }
        return found - start
    }

    /// Looks for the longest end of a text with which another one begins: the algorithm of Knuth, Morris and Pratt.
    private struct SuffixSearch {
        private let beginning: [UInt8]
        /// By place: how many bytes before it, it included, are a beginning, too; fewer than all.
        private var borders: [Int]

        init(_ beginning: [UInt8]) {
            self.beginning = beginning
            borders = Array(repeating: 0, count: beginning.count)
            for place in beginning.indices.dropFirst() {
                borders[place] = next(after: borders[place - 1], beginning[place])
            }
        }

        private func next(after matched: Int, _ byte: UInt8) -> Int {
            var matched = matched
            while matched > 0, matched == beginning.count || beginning[matched] != byte { matched = borders[matched - 1] }
            return beginning[matched] == byte ? matched + 1 : 0
        }

        func longestSuffix(of text: [UInt8]) -> Int { text.suffix(beginning.count).reduce(0, next) }
    }
}
