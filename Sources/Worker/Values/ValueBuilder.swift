import Foundation
import Wire

/// Puts a value together that may become too large for memory: what is more than ``pieceBytes`` goes to an ``UnnamedFile``.
///
/// It waits for the disk then.
struct ValueBuilder {
    /// What a command's output of ``Limits/outputMemoryBytes`` can become at most, written as JSON: such a one never goes to the disk.
    static let pieceBytes = 8 * Limits.outputMemoryBytes

    private let directory: String
    /// What is not in `file`: all, while there is none.
    private var piece: [UInt8] = []
    private var file: UnnamedFile?

    init(in directory: String) { self.directory = directory }

    /// Adds what `add` puts behind the bytes that it is given.
    ///
    /// - Throws: `SystemCallError` when the disk does not take it.
    mutating func append(_ add: (inout [UInt8]) -> Void) throws {
        add(&piece)
        if piece.count > Self.pieceBytes { try spill() }
    }

    /// All that was added. Nothing may be added afterwards.
    ///
    /// - Throws: `SystemCallError` when the disk does not take it.
    mutating func finish() throws -> Data {
        guard file != nil else { return Data(piece) }
        try spill()
        return try file?.map() ?? Data()
    }

    private mutating func spill() throws {
        let file = try self.file ?? UnnamedFile(in: directory)
        self.file = file
        try piece.withUnsafeBytes { try file.write($0) }
        piece.removeAll(keepingCapacity: true)
    }
}
