/// A text with `${name}`, `${name.key}` (or `${name.key.key}`) and `$$` in it, taken apart. A `$` before anything else is itself.
enum Template {
    enum Piece: Hashable {
        case text(String)
        case variable(name: String, keys: [String])
        /// `${…}` that names nothing.
        case malformed(String)
        /// `${` without an end.
        case unterminated
    }

    /// nil: there is no `$` in the text, as in nearly all of them.
    static func pieces(of text: String) -> [Piece]? {
        let dollar = UInt8(ascii: "$")
        guard text.utf8.contains(dollar) else { return nil }
        var pieces: [Piece] = []
        var rest = Substring(text)
        while let index = rest.utf8.firstIndex(of: dollar) {
            append(rest[..<index], to: &pieces)
            rest = rest[index...].dropFirst()
            if rest.utf8.first == dollar {
                append("$", to: &pieces)
                rest = rest.dropFirst()
            } else if rest.utf8.first == UInt8(ascii: "{") {
                guard let end = rest.utf8.firstIndex(of: UInt8(ascii: "}")) else { return pieces + [.unterminated] }
                pieces.append(variable(rest[..<end].dropFirst()))
                rest = rest[end...].dropFirst()
            } else {
                append("$", to: &pieces)
            }
        }
        append(rest, to: &pieces)
        return pieces
    }

    /// The first name behind a bare `$`, as a shell would read it, for which `isMeant` holds. Here such a `$` is a literal one.
    static func unbracedName(in text: String, where isMeant: (String) -> Bool) -> String? {
        let dollar = UInt8(ascii: "$")
        var rest = Substring(text)
        while let index = rest.utf8.firstIndex(of: dollar) {
            rest = rest[index...].dropFirst()
            if rest.utf8.first == dollar {
                rest = rest.dropFirst()
                continue
            }
            let name = String(Substring(rest.utf8.prefix(while: isWord)))
            if isIdentifier(name), isMeant(name) { return name }
        }
        return nil
    }

    private static func append(_ text: Substring, to pieces: inout [Piece]) {
        if text.isEmpty { return }
        if case .text(let before)? = pieces.last {
            pieces[pieces.count - 1] = .text(before + text)
        } else {
            pieces.append(.text(String(text)))
        }
    }

    private static func variable(_ inner: Substring) -> Piece {
        let parts = inner.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let keys = parts.dropFirst()
        guard let name = parts.first, isIdentifier(name), keys.allSatisfy(isKey) else { return .malformed(String(inner)) }
        return .variable(name: name, keys: Array(keys))
    }

    private static func isKey(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "$") && $0 != UInt8(ascii: "{") }
    }

    /// What a shell takes as the name of a variable: letters, digits and `_`, no digit first.
    static func isIdentifier(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return text.utf8.allSatisfy(isWord)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// A text that rendering gives back as it was.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
        return text.split(separator: "$", omittingEmptySubsequences: false).joined(separator: "$$")
    }
}
