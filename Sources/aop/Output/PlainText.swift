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
