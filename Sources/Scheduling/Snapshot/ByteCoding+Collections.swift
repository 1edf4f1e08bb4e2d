import DequeModule

/// Tables and sets in one order, whatever order the process keeps them in: rising keys.
extension ByteWriter {
    mutating func write(_ number: Int32) { write(Int64(number)) }

    mutating func write(times: some Collection<Int64>) {
        write(count: times.count)
        for time in times { write(time) }
    }

    mutating func write(units: some Collection<Int32>) {
        write(count: units.count)
        for unit in units { write(unit) }
    }

    /// A table by unit.
    mutating func write<Value>(table: [Int32: Value], _ body: (inout ByteWriter, Value) -> Void) {
        write(count: table.count)
        for key in table.keys.sorted() {
            guard let value = table[key] else { continue }
            write(key)
            body(&self, value)
        }
    }

    /// A table whose keys have no order but that of their bytes.
    mutating func write<Key, Value>(
        table: [Key: Value], key: (inout ByteWriter, Key) -> Void, value: (inout ByteWriter, Value) -> Void
    ) {
        let entries = table.map { entry in
            var bytes = ByteWriter()
            key(&bytes, entry.key)
            return (key: bytes.bytes, value: entry.value)
        }
        write(count: entries.count)
        for entry in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            bytes += entry.key
            value(&self, entry.value)
        }
    }
}

extension ByteReader {
    mutating func units() throws(DecodingFailure) -> [Int32] {
        try list { reader throws(DecodingFailure) in try reader.signed32() }
    }

    mutating func times() throws(DecodingFailure) -> [Int64] {
        try list { reader throws(DecodingFailure) in try reader.signed() }
    }

    mutating func texts() throws(DecodingFailure) -> [String] {
        try list { reader throws(DecodingFailure) in try reader.text() }
    }

    mutating func table<Value>(
        _ body: (inout ByteReader) throws(DecodingFailure) -> Value
    ) throws(DecodingFailure) -> [Int32: Value] {
        try table(key: { reader throws(DecodingFailure) in try reader.signed32() }, value: body)
    }

    mutating func table<Key: Hashable, Value>(
        key: (inout ByteReader) throws(DecodingFailure) -> Key, value: (inout ByteReader) throws(DecodingFailure) -> Value
    ) throws(DecodingFailure) -> [Key: Value] {
        let entries = try list { reader throws(DecodingFailure) in (try key(&reader), try value(&reader)) }
        var table: [Key: Value] = [:]
        table.reserveCapacity(entries.count)
        for (key, value) in entries {
            guard table.updateValue(value, forKey: key) == nil else { throw DecodingFailure("a table names something twice") }
        }
        return table
    }
}
