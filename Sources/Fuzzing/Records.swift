/// Several messages in one input: each with its length (16 bits, little endian) before it; the last one may be cut off.
enum Records {
    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var records: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while let low = rest.popFirst(), let high = rest.popFirst() {
            let record = rest.prefix(Int(high) << 8 | Int(low))
            records.append(record)
            rest = rest.dropFirst(record.count)
        }
        return records
    }

    static func join(_ records: [[UInt8]]) -> [UInt8] {
        records.flatMap { [UInt8(truncatingIfNeeded: $0.count), UInt8(truncatingIfNeeded: $0.count >> 8)] + $0 }
    }
}
