import Synchronization
import Tracing

/// A span that is handed on when it ends.
final class RecordedSpan: Span {
    let context: ServiceContext
    private let record: Mutex<SpanRecord>
    private let write: @Sendable (SpanRecord) -> Void

    init(_ record: SpanRecord, context: ServiceContext, write: @escaping @Sendable (SpanRecord) -> Void) {
        self.context = context
        self.record = Mutex(record)
        self.write = write
    }

    var operationName: String {
        get { record.withLock { $0.name } }
        set { record.withLock { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { record.withLock { $0.attributes } }
        set { record.withLock { $0.attributes = newValue } }
    }

    var isRecording: Bool { record.withLock { $0.endedAt == nil } }

    func setStatus(_ status: SpanStatus) { record.withLock { $0.status = status } }

    func addEvent(_ event: SpanEvent) { record.withLock { $0.add(event) } }

    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var event = SpanEvent(name: "exception", at: instant(), attributes: attributes)
        if event.attributes["exception.type"] == nil { event.attributes["exception.type"] = "\(type(of: error))" }
        event.attributes["exception.message"] = "\(error)"
        addEvent(event)
    }

    func addLink(_ link: SpanLink) {
        guard let place = link.context.tracePlace else { return }
        record.withLock { $0.add(link: place) }
    }

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let at = instant().nanosecondsSinceEpoch
        let finished = record.withLock { record -> SpanRecord? in
            guard record.endedAt == nil else { return nil }
            record.endedAt = at
            return record
        }
        if let finished { write(finished) }
    }
}
