/// Counts what is in serialized bytes before they are decoded, which costs many times their size: an empty node has two bytes on the wire,
/// and hundreds in memory.
package enum MessageScan {
    /// Numbers of fields, from the outermost message in.
    private static let graphPaths: [[UInt64]] = [[8, 2, 2, 2], [8, 11, 1, 2]]

    /// - Throws: ``WireError/tooManyNodes(_:)``: a submission or a check in a peer's message has a graph that is too large.
    static func checkGraphs(in bytes: UnsafeRawBufferPointer) throws(WireError) {
        for path in graphPaths { try check(count(path[...], in: bytes)) }
    }

    /// - Parameter bytes: a serialized graph.
    /// - Throws: ``WireError/tooManyNodes(_:)``.
    package static func checkGraph(_ bytes: UnsafeRawBufferPointer) throws(WireError) { try check(count([2], in: bytes)) }

    private static func check(_ count: Int) throws(WireError) {
        guard count <= Limits.graphNodes else { throw .tooManyNodes(count) }
    }

    /// How many messages there are on that path. What is not of Protocol Buffers ends the count: the decoder refuses it.
    ///
    /// - Complexity: O(fields outside of what is counted).
    static func count(_ path: ArraySlice<UInt64>, in bytes: UnsafeRawBufferPointer) -> Int {
        guard let wanted = path.first else { return 0 }
        var (position, total) = (0, 0)
        func varint() -> UInt64? {
            var value: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 70, by: 7) {
                guard position < bytes.count else { return nil }
                let byte = bytes[position]
                position += 1
                value |= shift < 64 ? UInt64(byte & 0x7F) << shift : 0
                if byte < 0x80 { return value }
            }
            return nil
        }
        while position < bytes.count, let tag = varint() {
            switch tag & 7 {
            case 0: guard varint() != nil else { return total }
            case 1: position += 8
            case 5: position += 4
            case 2:
                guard let length = varint(), length <= UInt64(bytes.count - position) else { return total }
                let end = position + Int(length)
                if tag >> 3 == wanted {
                    total +=
                        path.count == 1
                        ? 1 : count(path.dropFirst(), in: UnsafeRawBufferPointer(rebasing: bytes[position..<end]))
                }
                position = end
            default: return total
            }
        }
        return total
    }
}
