import Foundation

/// Looks whether bytes are UTF-8, a piece at a time: no second copy of all of them is made.
enum UTF8Check {
    static func holds(_ bytes: Data, pieceBytes: Int = 1 << 20) -> Bool {
        precondition(pieceBytes >= 4, "a piece of \(pieceBytes) bytes may hold no whole character")
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = endOfPiece(bytes, from: start, pieceBytes)
            guard String(validating: bytes[start..<end], as: UTF8.self) != nil else { return false }
            start = end
        }
        return true
    }

    /// Not within a character. Where more bytes than a character has go on with one the text is wrong, wherever it is cut.
    private static func endOfPiece(_ bytes: Data, from start: Data.Index, _ pieceBytes: Int) -> Data.Index {
        guard bytes.endIndex - start > pieceBytes else { return bytes.endIndex }
        let limit = start + pieceBytes
        return (limit - 3...limit).last { bytes[$0] & 0xC0 != 0x80 } ?? limit
    }
}
