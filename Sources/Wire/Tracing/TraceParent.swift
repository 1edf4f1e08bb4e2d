/// The place in a trace, as the header `traceparent` of W3C Trace Context and the variable `TRACEPARENT` have it:
/// `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
///
/// https://www.w3.org/TR/trace-context/#traceparent-header
public struct TraceParent: Hashable, Sendable, CustomStringConvertible {
    /// 32 hexadecimal digits, not all of them zero.
    public let traceID: String
    /// 16 hexadecimal digits, not all of them zero: the span that is the parent of what is begun here.
    public let spanID: String
    /// The trace is recorded by who began it.
    public let isSampled: Bool

    /// - Parameters: as the properties are; lower case.
    public init(traceID: String, spanID: String, isSampled: Bool) {
        (self.traceID, self.spanID, self.isSampled) = (traceID, spanID, isSampled)
    }

    /// Nil: it is none. Of later versions the fields that this one has are read.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count >= 4, Self.isHexadecimal(parts[0], 2), parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            Self.isHexadecimal(parts[1], 32), !Self.isZero(parts[1]), Self.isHexadecimal(parts[2], 16), !Self.isZero(parts[2]),
            Self.isHexadecimal(parts[3], 2), let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        self.init(traceID: String(parts[1]), spanID: String(parts[2]), isSampled: flags & 1 == 1)
    }

    public var description: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    private static func isHexadecimal(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    private static func isZero(_ text: Substring) -> Bool { text.utf8.allSatisfy { $0 == UInt8(ascii: "0") } }
}
