/// Why a text cannot be taken apart at all: nothing after it has been looked at.
struct SourceProblem: Error {
    /// nil: the file as a whole.
    var position: GraphFilePosition?
    var message: String
}

/// A graph file's text: valid UTF-8, of bounded size, ready for the YAML scanner.
struct SourceText {
    /// Never empty.
    let bytes: [UInt8]
    private let shifts: ColumnShifts

    static let tooLarge = SourceProblem(
        message:
            "is larger than \(FileLimits.fileBytes >> 20) MiB, the most a graph file may be; let a `forEach` over a producer make the nodes"
    )

    init(_ bytes: [UInt8]) throws(SourceProblem) {
        guard bytes.count <= FileLimits.fileBytes else { throw Self.tooLarge }
        if let problem = Self.encodingProblem(bytes) { throw problem }
        guard bytes.contains(where: { !Self.isBlank($0) }) else { throw Self.empty }
        (self.bytes, shifts) = SurrogatePairs.resolved(in: bytes)
    }

    static let empty = SourceProblem(
        position: GraphFilePosition(line: 1, column: 1), message: "the file is empty; a graph needs `group:` or `ordered:`")

    /// The place in the file of a place in `bytes`; both count from 0 here.
    func position(line: Int, column: Int) -> GraphFilePosition {
        GraphFilePosition(line: line + 1, column: column + shifts.width(line: line, column: column) + 1)
    }

    /// The place of a byte of `bytes`.
    func position(offset: Int) -> GraphFilePosition {
        let (line, column) = Self.lineAndColumn(bytes, before: min(offset, bytes.count))
        return position(line: line, column: column)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private static func encodingProblem(_ bytes: [UInt8]) -> SourceProblem? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        let start = GraphFilePosition(line: 1, column: 1)
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return SourceProblem(position: start, message: "is UTF-16; save it as UTF-8")
        }
        let offset = firstInvalidByte(bytes)
        let (line, column) = lineAndColumn(bytes, before: offset)
        let value = String(bytes[offset], radix: 16)
        return SourceProblem(
            position: GraphFilePosition(line: line + 1, column: column + 1), message: "is not UTF-8: byte 0x\(value); save it as UTF-8")
    }

    private static func firstInvalidByte(_ bytes: [UInt8]) -> Int {
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        var offset = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            offset += UTF8.width(scalar)
        }
        return min(offset, bytes.count - 1)
    }

    /// Lines and scalars before a byte, counted from 0.
    private static func lineAndColumn(_ bytes: [UInt8], before offset: Int) -> (line: Int, column: Int) {
        var line = 0
        var column = 0
        for byte in bytes[..<offset] {
            if byte == 0x0A {
                line += 1
                column = 0
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }
}
