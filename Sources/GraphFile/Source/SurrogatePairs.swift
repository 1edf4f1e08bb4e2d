/// JSON writes characters beyond U+FFFF as two escapes (`\ud83d\ude00`), YAML scanners refuse such halves:
/// in JSON texts each pair becomes the character it stands for before the text is scanned.
enum SurrogatePairs {
    private static let backslash = UInt8(ascii: "\\")
    /// `\uXXXX\uXXXX`
    private static let pairBytes = 12

    static func resolved(in bytes: [UInt8]) -> ([UInt8], ColumnShifts) {
        guard isJSON(bytes), contains(bytes) else { return (bytes, ColumnShifts()) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var shifts = ColumnShifts()
        var line = 0
        var column = 0
        var isQuoted = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if isQuoted, byte == backslash {
                if let scalar = pair(in: bytes, at: index) {
                    result.append(contentsOf: Array(String(scalar).utf8))
                    column += 1
                    shifts.add(line: line, column: column, width: pairBytes - 1)
                    index += pairBytes
                } else {
                    let end = min(index + 2, bytes.count)
                    result.append(contentsOf: bytes[index..<end])
                    column += end - index
                    index = end
                }
                continue
            }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == 0x0A {
                line += 1
                column = 0
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            result.append(byte)
            index += 1
        }
        return (result, shifts)
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        bytes.first { $0 > 0x20 } == UInt8(ascii: "{")
    }

    private static func contains(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0] == backslash && pair(in: bytes, at: $0) != nil }
    }

    private static func pair(in bytes: [UInt8], at index: Int) -> Unicode.Scalar? {
        guard index + pairBytes <= bytes.count,
            let high = escape(in: bytes, at: index), (0xD800...0xDBFF).contains(high),
            let low = escape(in: bytes, at: index + 6), (0xDC00...0xDFFF).contains(low)
        else { return nil }
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    }

    private static func escape(in bytes: [UInt8], at index: Int) -> UInt32? {
        guard bytes[index] == backslash, bytes[index + 1] == UInt8(ascii: "u") else { return nil }
        var value: UInt32 = 0
        for byte in bytes[(index + 2)..<(index + 6)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

/// Where characters of the scanned text took more columns in the file.
struct ColumnShifts {
    private struct Shift {
        var line: Int
        var column: Int
        /// Of this shift and of those before it on the line.
        var width: Int
    }
    private var shifts: [Shift] = []

    /// From this place on the line's columns are `width` further right in the file. Places rise from call to call.
    mutating func add(line: Int, column: Int, width: Int) {
        let before = shifts.last.map { $0.line == line ? $0.width : 0 } ?? 0
        shifts.append(Shift(line: line, column: column, width: before + width))
    }

    /// How much further right the place is in the file. O(log shifts).
    func width(line: Int, column: Int) -> Int {
        if shifts.isEmpty { return 0 }
        var low = 0
        var high = shifts.count
        while low < high {
            let middle = (low + high) / 2
            if (shifts[middle].line, shifts[middle].column) <= (line, column) { low = middle + 1 } else { high = middle }
        }
        guard low > 0, shifts[low - 1].line == line else { return 0 }
        return shifts[low - 1].width
    }
}
