import Foundation
import Tracing
import Wire

/// What is known of a span.
///
/// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
struct SpanRecord: Sendable {
    /// Attributes of one span, or of one event; more are left out and counted.
    static let attributesMax = 64
    /// Events and links of one span; more are left out and counted.
    static let eventsMax = 64
    /// Of one text; the rest is cut off.
    static let textCharacters = 4096

    var name: String
    let kind: SpanKind
    let place: TracePlace
    /// Nil: it begins the trace.
    let parentSpanID: String?
    let startedAt: UInt64
    var endedAt: UInt64?
    var attributes = SpanAttributes()
    var status: SpanStatus?
    private var events: [SpanEvent] = []
    private var droppedEvents = 0
    private var links: [TracePlace] = []
    private var droppedLinks = 0

    init(name: String, kind: SpanKind, place: TracePlace, parentSpanID: String?, startedAt: UInt64) {
        (self.name, self.kind, self.place, self.parentSpanID, self.startedAt) = (name, kind, place, parentSpanID, startedAt)
    }

    mutating func add(_ event: SpanEvent) {
        if events.count < Self.eventsMax { events.append(event) } else { droppedEvents += 1 }
    }

    mutating func add(link: TracePlace) {
        if links.count < Self.eventsMax { links.append(link) } else { droppedLinks += 1 }
    }

    fileprivate var span: OTLP.Span {
        let (attributes, dropped) = OTLP.attributes(attributes)
        return OTLP.Span(
            traceId: place.parent.traceID, spanId: place.parent.spanID, traceState: place.state, parentSpanId: parentSpanID,
            name: OTLP.cut(name), kind: OTLP.number(of: kind), startTimeUnixNano: String(startedAt),
            endTimeUnixNano: String(endedAt ?? startedAt), attributes: attributes, droppedAttributesCount: dropped,
            events: events.map { event in
                let (attributes, dropped) = OTLP.attributes(event.attributes)
                return OTLP.Event(
                    timeUnixNano: String(event.nanosecondsSinceEpoch), name: OTLP.cut(event.name), attributes: attributes,
                    droppedAttributesCount: dropped)
            }, droppedEventsCount: droppedEvents,
            links: links.map { OTLP.Link(traceId: $0.parent.traceID, spanId: $0.parent.spanID) }, droppedLinksCount: droppedLinks,
            status: status.map { OTLP.Status(code: $0.code == .ok ? 1 : 2, message: $0.message.map(OTLP.cut)) })
    }
}

/// A whole message of OTLP/JSON: `TracesData`, as collectors read it from files, and `ExportTraceServiceRequest`, which has the same fields.
struct OTLPMessage {
    let json: Data

    init(of records: [SpanRecord], from resource: SpanResource) {
        let scope = OTLP.ScopeSpans(scope: OTLP.Scope(name: "aop", version: ProductVersion.current), spans: records.map(\.span))
        let attributes = resource.attributes.map { name, value in
            // The only one that is a number by the semantic conventions.
            OTLP.KeyValue(key: name, value: name == "process.pid" ? OTLP.Value(intValue: value) : OTLP.Value(stringValue: OTLP.cut(value)))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        let traces = OTLP.Traces(resourceSpans: [OTLP.ResourceSpans(resource: OTLP.Resource(attributes: attributes), scopeSpans: [scope])])
        do { json = try encoder.encode(traces) } catch {
            preconditionFailure("spans of texts and finite numbers have no JSON: \(error)")
        }
    }
}

/// The messages of OTLP/JSON, as far as they are written here.
private enum OTLP {
    struct Traces: Encodable { var resourceSpans: [ResourceSpans] }
    struct ResourceSpans: Encodable {
        var resource: Resource
        var scopeSpans: [ScopeSpans]
    }
    struct Resource: Encodable { var attributes: [KeyValue] }
    struct ScopeSpans: Encodable {
        var scope: Scope
        var spans: [Span]
    }
    struct Scope: Encodable {
        var name: String
        var version: String
    }
    struct Span: Encodable {
        var traceId: String
        var spanId: String
        var traceState: String?
        var parentSpanId: String?
        var name: String
        var kind: Int
        /// Numbers of 64 bits are texts in JSON.
        var startTimeUnixNano: String
        var endTimeUnixNano: String
        var attributes: [KeyValue]
        var droppedAttributesCount: Int
        var events: [Event]
        var droppedEventsCount: Int
        var links: [Link]
        var droppedLinksCount: Int
        var status: Status?
    }
    struct Event: Encodable {
        var timeUnixNano: String
        var name: String
        var attributes: [KeyValue]
        var droppedAttributesCount: Int
    }
    struct Link: Encodable {
        var traceId: String
        var spanId: String
    }
    struct Status: Encodable {
        var code: Int
        var message: String?
    }
    struct KeyValue: Encodable {
        var key: String
        var value: Value
    }
    /// One of them is there.
    struct Value: Encodable {
        var stringValue: String?
        var boolValue: Bool?
        var intValue: String?
        var doubleValue: Double?
    }

    static func cut(_ text: String) -> String { String(text.prefix(SpanRecord.textCharacters)) }

    static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    /// In the order of their names.
    static func attributes(_ attributes: SpanAttributes) -> ([KeyValue], dropped: Int) {
        var all: [KeyValue] = []
        attributes.forEach { key, value in all.append(KeyValue(key: cut(key), value: self.value(value))) }
        all.sort { $0.key < $1.key }
        return (Array(all.prefix(SpanRecord.attributesMax)), max(0, all.count - SpanRecord.attributesMax))
    }

    private static func value(_ attribute: SpanAttribute) -> Value {
        switch attribute {
        case .int32(let number): Value(intValue: String(number))
        case .int64(let number): Value(intValue: String(number))
        // JSON has no others.
        case .double(let number) where number.isFinite: Value(doubleValue: number)
        case .bool(let flag): Value(boolValue: flag)
        case .string(let text): Value(stringValue: cut(text))
        case .stringConvertible(let value): Value(stringValue: cut("\(value)"))
        case .int32Array(let list): Value(stringValue: cut("\(list)"))
        case .int64Array(let list): Value(stringValue: cut("\(list)"))
        case .doubleArray(let list): Value(stringValue: cut("\(list)"))
        case .boolArray(let list): Value(stringValue: cut("\(list)"))
        case .stringArray(let list): Value(stringValue: cut("\(list)"))
        default: Value(stringValue: cut("\(attribute)"))
        }
    }
}
