import Tracing
import Wire

/// What the tracer of this process does with what is executed here on a cluster's behalf, and with what is asked of one.
///
/// There is none where no instrument is bootstrapped; nothing is made for a trace then.
package struct TraceDesk: Sendable {
    package let tracer: any Tracer
    private let instrument: any Instrument

    /// As it is bootstrapped now, or bound by `withTracer` around the caller; nil: nothing is traced.
    package static var current: TraceDesk? {
        let instrument = InstrumentationSystem.instrument
        if instrument is NoOpInstrument || instrument is NoOpTracer { return nil }
        return TraceDesk(tracer: InstrumentationSystem.tracer, instrument: instrument)
    }

    /// The context that these fields, of another process, stand for.
    package func context(of fields: [String: String]) -> ServiceContext {
        var context = ServiceContext.topLevel
        if !fields.isEmpty { instrument.extract(fields, into: &context, using: FieldExtractor()) }
        return context
    }

    /// What another process needs to go on with the context; empty: the tracer has nothing to say.
    package func fields(of context: ServiceContext) -> [String: String] {
        var fields: [String: String] = [:]
        instrument.inject(context, into: &fields, using: FieldInjector())
        return fields
    }

    /// Calls `body` in this context, with this tracer.
    package func within<Result>(_ context: ServiceContext, _ body: () -> Result) -> Result {
        ServiceContext.withValue(context) {
            // One that is bootstrapped is found anyway, and may be one of several instruments.
            InstrumentationSystem.instrument is NoOpInstrument ? withTracer(tracer, body) : body()
        }
    }

    /// The span of a unit that was given to this process. It has not begun.
    package func span(_ name: BodySpan.Name, of assignment: WireAssignment, on worker: String) -> BodySpan {
        BodySpan(name, of: assignment, on: worker, desk: self)
    }
}

private struct FieldExtractor: Extractor {
    func extract(key: String, from fields: [String: String]) -> String? {
        if let value = fields[key] { return value }
        // Tracers ask for names of headers, whose case is of no matter.
        return fields.first { $0.key.lowercased() == key.lowercased() }?.value
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout [String: String]) { fields[key.lowercased()] = value }
}
