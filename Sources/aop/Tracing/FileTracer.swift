import Foundation
import Tracing
import Wire

/// A tracer that writes each finished span to a file, as one line of OTLP/JSON, and knows W3C Trace Context.
///
/// Of a trace that is not sampled nothing is written; it is passed on.
struct FileTracer: Tracer {
    /// The variable that names the file.
    static let variable = "AOP_TRACE_FILE"

    let file: TraceFile
    /// `service.name` of what is written.
    let service: String

    /// Bootstraps one if the environment names a file. Once in a process.
    static func bootstrap(arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let path = environment[variable], !path.isEmpty else { return }
        let command = arguments.dropFirst().first.flatMap { $0.hasPrefix("-") ? nil : $0 }
        InstrumentationSystem.bootstrap(FileTracer(file: TraceFile(path), service: command.map { "aop \($0)" } ?? "aop"))
    }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind, at instant: @autoclosure () -> Instant,
        function: String, file fileID: String, line: UInt
    ) -> FileSpan {
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
        return FileSpan(record, context: context) { [file, service] record in
            if place.parent.isSampled { file.append(record.line(service: service)) }
        }
    }

    /// Each span is written when it ends.
    func forceFlush() {}

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
