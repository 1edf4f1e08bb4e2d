import Shapes

/// Texts in pictures. What they say comes from graphs, and may be anything.
enum PictureText {
    /// As XML may have it: its signs escaped, on one line, and without what no XML can have.
    static func xml(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(visible(scalar))
            }
        }
        return escaped
    }

    /// In a string of the dot language; a backslash is none of its escapes.
    static func dot(_ lines: String...) -> String {
        let escaped = lines.map { line in
            var escaped = ""
            for scalar in line.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { escaped += "\\" }
                escaped.unicodeScalars.append(visible(scalar))
            }
            return escaped
        }
        return "\"\(escaped.filter { !$0.isEmpty }.joined(separator: "\\n"))\""
    }

    /// In a quoted label of Mermaid, whose escapes are entities with a number sign.
    static func mermaid(_ lines: String...) -> String {
        let escaped = lines.map { line in
            var escaped = ""
            for scalar in line.unicodeScalars {
                switch scalar {
                case "\"", "#", "&", "<", ">", ";", "`", "\\", "*", "_", "[", "]", "(", ")", "{", "}", "|": escaped += "#\(scalar.value);"
                default: escaped.unicodeScalars.append(visible(scalar))
                }
            }
            return escaped
        }
        return "\"\(escaped.filter { !$0.isEmpty }.joined(separator: "<br/>"))\""
    }

    /// As much of a text as fits.
    ///
    /// - Parameters:
    ///   - width: in pixels.
    ///   - size: of the letters, in pixels; how wide they are is a guess, as nobody knows the reader's font.
    static func cut(_ text: some StringProtocol, to width: Double, size: Double = 12) -> String {
        let columns = Int(width / (size * 0.52))
        var used = 0
        var kept = ""
        for character in text {
            let taken = columnsOf(character)
            if used + taken > columns {
                while used >= columns, let last = kept.popLast() { used -= columnsOf(last) }
                return columns > 0 ? kept + "…" : ""
            }
            used += taken
            kept.append(character)
        }
        return kept
    }

    /// Of what a reader is told when pointing at something.
    static func joined(_ parts: [String]) -> String {
        let text = parts.filter { !$0.isEmpty }.joined(separator: " · ")
        return text.count > PictureLimits.textMax ? text.prefix(PictureLimits.textMax) + "…" : text
    }

    private static func columnsOf(_ character: Character) -> Int {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFF00...0xFF60, 0x1F300...0x1FAFF, 0x20000...0x3FFFD: 2
        default: 1
        }
    }

    /// Line breaks and tabs as a space, other control characters as their picture.
    private static func visible(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: " "
        case 0..<0x20: Unicode.Scalar(0x2400 + scalar.value) ?? "?"
        case 0x7F..<0xA0, 0xFFFE, 0xFFFF: "?"
        // What turns the direction of what follows.
        case 0x202A...0x202E, 0x2066...0x2069: "?"
        default: scalar
        }
    }
}
