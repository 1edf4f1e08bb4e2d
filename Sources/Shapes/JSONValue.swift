import Wire

/// A JSON value whose members keep their order.
package indirect enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([(String, JSONValue)])
    /// The value of an operation: its bytes are written when it is their turn, however many there are.
    case value(WireValue)

    package static func optional(_ text: String) -> JSONValue { text.isEmpty ? .null : .string(text) }

    /// Milliseconds since 1970 as RFC 3339 in UTC; 0 is null.
    package static func time(_ milliseconds: Int64) -> JSONValue {
        milliseconds == 0 ? .null : .string(TimeText.rfc3339(milliseconds))
    }

    /// A duration in seconds, to the millisecond.
    package static func seconds(milliseconds: Int64) -> JSONValue { .number(Double(milliseconds) / 1000) }
}
