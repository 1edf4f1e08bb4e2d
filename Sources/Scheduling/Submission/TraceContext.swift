/// The trace that a submission belongs to, as its submitter's tracer has written it: for those who execute it.
///
/// Nothing is decided by it, and it is no part of what a submission's key stands for.
public struct TraceContext: Hashable, Sendable {
    public struct Field: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Each name once, in the order of the names' bytes.
    public let fields: [Field]

    public init(_ fields: [String: String] = [:]) {
        guard !fields.isEmpty else {
            self.fields = []
            return
        }
        self.fields = fields.map { Field(name: $0.key, value: $0.value) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// In the order in which they were.
    init(inOrder fields: [Field]) { self.fields = fields }

    public var isEmpty: Bool { fields.isEmpty }

    public var byName: [String: String] { Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first } }
}

extension ByteWriter {
    mutating func write(trace: TraceContext) {
        write(list: trace.fields) { writer, field in
            writer.write(field.name)
            writer.write(field.value)
        }
    }
}

extension ByteReader {
    mutating func trace() throws(DecodingFailure) -> TraceContext {
        TraceContext(
            inOrder: try list { reader throws(DecodingFailure) in
                TraceContext.Field(name: try reader.text(), value: try reader.text())
            })
    }
}
