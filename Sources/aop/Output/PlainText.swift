import Foundation

/// Text of operations as a terminal may safely be given it.
enum PlainText {
    /// `text` with every control character but line feed and tab made visible (`\u{1B}` becomes `␛`), so that what a
    /// command wrote can neither recolour nor retitle the terminal of whoever looks at it.
    static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard isControl(scalar) else {
                plain.append(scalar)
                continue
            }
            // The block "Control Pictures" begins at U+2400.
            plain.append(scalar.value < 0x20 ? Unicode.Scalar(0x2400 + scalar.value) ?? "?" : scalar.value == 0x7f ? "␡" : "?")
        }
        return String(plain)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a: false
        case 0..<0x20, 0x7f..<0xa0: true
        default: false
        }
    }
}

extension PlainText {
    /// The same for UTF-8 that comes in pieces, which may begin and end within a character.
    struct Pieces {
        /// The first byte of the characters from U+0080 on, to which other control characters belong.
        private static let lead: UInt8 = 0xC2
        /// Such a byte was read, and what follows is not known yet.
        private var hasLead = false

        /// What can be shown after another piece.
        mutating func next(_ piece: Data) -> Data {
            var shown = Data()
            shown.reserveCapacity(piece.count)
            for byte in piece {
                if hasLead {
                    hasLead = false
                    if (0x80..<0xa0).contains(byte) {
                        shown.append(UInt8(ascii: "?"))
                        continue
                    }
                    shown.append(Self.lead)
                }
                switch byte {
                case Self.lead: hasLead = true
                case 0x20..<0x7f, 0x80...: shown.append(byte)
                default: shown.append(contentsOf: PlainText.of(String(Unicode.Scalar(byte))).utf8)
                }
            }
            return shown
        }

        /// What is left at the end.
        mutating func end() -> Data {
            defer { hasLead = false }
            return hasLead ? Data([Self.lead]) : Data()
        }
    }
}
