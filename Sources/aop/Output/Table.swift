/// Columns of text, each as wide as its widest cell, except the last.
struct Table {
    private var rows: [[String]]

    init(_ header: [String]) { rows = [header] }

    mutating func add(_ row: [String]) { rows.append(row) }

    var text: String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], DisplayWidth.of(cell))
            }
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : DisplayWidth.pad(cell, to: widths[column])
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }
}

/// How many columns of a terminal a text takes.
enum DisplayWidth {
    static func of(_ text: String) -> Int { text.reduce(0) { $0 + of($1) } }

    static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - of(text)))
    }

    /// The text, or as much of it as fits before an ellipsis. Control characters become spaces.
    static func cut(_ text: String, to width: Int) -> String {
        var used = 0
        var kept = ""
        for character in text {
            let shown: Character =
                character.isNewline || character.unicodeScalars.allSatisfy({ $0.value < 0x20 || $0.value == 0x7f })
                ? " " : character
            used += of(shown)
            if used > width { return width > 0 ? dropLast(of: kept, toFit: width - 1) + "…" : "" }
            kept.append(shown)
        }
        return kept
    }

    private static func dropLast(of text: String, toFit width: Int) -> String {
        var text = text
        while of(text) > width { text.removeLast() }
        return text
    }

    private static func of(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        // East Asian wide and full-width blocks, and emoji.
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default:
            return 1
        }
    }
}
