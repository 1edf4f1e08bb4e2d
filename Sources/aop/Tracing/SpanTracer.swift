import Foundation
import Synchronization
import Tracing
import Wire
import Worker

/// A tracer that hands each finished span on, and knows W3C Trace Context.
///
/// Of a trace that is not sampled nothing is handed on; it is passed on to others.
struct SpanTracer: Tracer {
    let sinks: [any SpanSink]

    /// Bootstraps one if the environment names a file, or a collector. Once in a process.
    static func bootstrap(arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment) {
        let command = arguments.dropFirst().first.flatMap { $0.hasPrefix("-") ? nil : $0 }
        let resource = SpanResource(service: command.map { "aop \($0)" } ?? "aop", environment: environment)
        var sinks: [any SpanSink] = []
        if let path = environment[TraceFile.variable], !path.isEmpty { sinks.append(FileSink(file: TraceFile(path), resource: resource)) }
        switch ExportSettings.of(environment) {
        case .off: break
        case .unusable(let problem):
            let message = "spans are not exported: \(problem)"
            ServiceNotice.write(.warning, message, logger: "aop.spans", text: "aop: warning: \(message)")
        case .export(let settings):
            let file = SpanLosses.path(in: environment)
            if file.isOwn { ownFile.withLock { $0 = file.path } }
            let losses = SpanLosses(path: file.path) { BootClock.milliseconds() }
            sinks.append(SpanExporter.start(settings, resource, losses: losses))
        }
        guard !sinks.isEmpty else { return }
        let tracer = SpanTracer(sinks: sinks)
        own.withLock { $0 = tracer }
        InstrumentationSystem.bootstrap(tracer)
    }

    /// Of this process.
    private static let own = Mutex<SpanTracer?>(nil)

    /// Tells what is to be told before this process ends. Takes at most `SpanExporter.flushMilliseconds`.
    static func end() {
        own.withLock { $0 }?.forceFlush()
        if let path = ownFile.withLock({ $0 }) { unlink(path) }
    }

    /// Of the spans that are lost, if this process has named it.
    private static let ownFile = Mutex<String?>(nil)

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind, at instant: @autoclosure () -> Instant,
        function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.tracePlace
        let place = TracePlace(
            parent: TraceParent(
                traceID: parent?.parent.traceID ?? Self.draw(bytes: 16), spanID: Self.draw(bytes: 8),
                isSampled: parent?.parent.isSampled ?? true), state: parent?.state)
        context.tracePlace = place
        let record = SpanRecord(
            name: operationName, kind: kind, place: place, parentSpanID: parent?.parent.spanID,
            startedAt: instant().nanosecondsSinceEpoch)
        return RecordedSpan(record, context: context) { [sinks] record in
            if place.parent.isSampled { for sink in sinks { sink.take(record) } }
        }
    }

    func forceFlush() { for sink in sinks { sink.flush() } }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let place = context.tracePlace else { return }
        injector.inject(place.parent.description, forKey: TraceFields.parent, into: &carrier)
        if let state = place.state { injector.inject(state, forKey: TraceFields.state, into: &carrier) }
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: TraceFields.parent, from: carrier), let parent = TraceParent(text) else { return }
        context.tracePlace = TracePlace(parent: parent, state: extractor.extract(key: TraceFields.state, from: carrier))
    }

    /// Lower-case hexadecimal digits, not all of them zero.
    private static func draw(bytes count: Int) -> String {
        let words = (0..<count / 8).map { _ in UInt64.random(in: 1 ... .max) }
        return words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// A span's place in its trace.
struct TracePlace: Hashable, Sendable {
    var parent: TraceParent
    /// `tracestate`, which others have written.
    var state: String?
}

private enum TracePlaceKey: ServiceContextKey {
    typealias Value = TracePlace
    static var nameOverride: String? { "aop-trace-place" }
}

extension ServiceContext {
    var tracePlace: TracePlace? {
        get { self[TracePlaceKey.self] }
        set { self[TracePlaceKey.self] = newValue }
    }
}
