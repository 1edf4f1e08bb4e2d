import Foundation
import Synchronization
import Testing
import Tracing
import Wire

@testable import aop

/// Spans as lines of OTLP/JSON.
@Suite struct SpanTracerTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private let path = "\(NSTemporaryDirectory())aop-trace-\(UUID().uuidString).jsonl"
    private let told = Told()

    private final class Told: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private func tracer(bytesMax: Int = TraceFile.bytesMax) -> SpanTracer {
        let file = TraceFile(path, bytesMax: bytesMax) { [told] in told.add($1) }
        return SpanTracer(sinks: [FileSink(file: file, resource: SpanResource(service: "test"))])
    }

    /// The spans in the file, as JSON objects.
    private func spans() throws -> [[String: Any]] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            let message = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let resource = try #require((message["resourceSpans"] as? [[String: Any]])?.first)
            let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
            return try #require((scope["spans"] as? [[String: Any]])?.first)
        }
    }

    private func attribute(_ name: String, of span: [String: Any]) -> [String: Any]? {
        (span["attributes"] as? [[String: Any]])?.first { $0["key"] as? String == name }?["value"] as? [String: Any]
    }

    private struct Fields: Extractor, Injector {
        func extract(key: String, from fields: [String: String]) -> String? { fields[key] }
        func inject(_ value: String, forKey key: String, into fields: inout [String: String]) { fields[key] = value }
    }

    private func context(_ tracer: SpanTracer, _ fields: [String: String]) -> ServiceContext {
        var context = ServiceContext.topLevel
        tracer.extract(fields, into: &context, using: Fields())
        return context
    }

    @Test func spans_areChildrenOfWhatWasGiven_andArePassedOn() throws {
        defer { unlink(path) }
        let tracer = tracer()
        let given = context(tracer, ["traceparent": Self.parent, "tracestate": "a=1"])
        let passedOn = tracer.withSpan("outer", context: given, ofKind: .producer) { span in
            span.attributes["text"] = "x"
            span.attributes["count"] = 3
            span.attributes["flag"] = true
            tracer.withSpan("inner") { _ in }
            var fields: [String: String] = [:]
            tracer.inject(span.context, into: &fields, using: Fields())
            return fields
        }
        let spans = try spans()
        let (inner, outer) = (try #require(spans.first), try #require(spans.last))
        #expect(spans.count == 2)
        #expect(
            outer["traceId"] as? String == "0af7651916cd43dd8448eb211c80319c" && inner["traceId"] as? String == outer["traceId"] as? String)
        #expect(outer["parentSpanId"] as? String == "b7ad6b7169203331")
        #expect(inner["parentSpanId"] as? String == outer["spanId"] as? String)
        #expect(outer["name"] as? String == "outer" && outer["kind"] as? Int == 4 && inner["kind"] as? Int == 1)
        #expect(attribute("text", of: outer)?["stringValue"] as? String == "x")
        #expect(attribute("count", of: outer)?["intValue"] as? String == "3")
        #expect(attribute("flag", of: outer)?["boolValue"] as? Bool == true)
        let (begin, end) = (outer["startTimeUnixNano"] as? String ?? "", outer["endTimeUnixNano"] as? String ?? "")
        #expect(begin.count == 19 && begin <= end)
        #expect(passedOn["tracestate"] == "a=1")
        #expect(try #require(TraceParent(passedOn["traceparent"] ?? "")).spanID == outer["spanId"] as? String)
    }

    @Test func errors_areEventsAndStatus() throws {
        defer { unlink(path) }
        #expect(throws: CancellationError.self) { try tracer().withSpan("fails") { _ in throw CancellationError() } }
        let span = try #require(try spans().first)
        #expect((span["status"] as? [String: Any])?["code"] as? Int == 2)
        #expect((span["events"] as? [[String: Any]])?.first?["name"] as? String == "exception")
        #expect(span["parentSpanId"] == nil)
    }

    @Test func traceThatIsNotSampled_isPassedOn_andNotWritten() throws {
        defer { unlink(path) }
        let tracer = tracer()
        let span = tracer.startSpan("quiet", context: context(tracer, ["traceparent": Self.parent.replacing("-01", with: "-00")]))
        span.end()
        var fields: [String: String] = [:]
        tracer.inject(span.context, into: &fields, using: Fields())
        #expect(fields["traceparent"]?.hasSuffix("-00") == true)
        #expect(try spans().isEmpty)
    }

    @Test func whatIsNoContext_beginsATrace() throws {
        let tracer = tracer()
        #expect(context(tracer, ["traceparent": "nonsense"]).isEmpty)
    }

    @Test func whatIsTooMuchForASpan_isLeftOutAndCounted() throws {
        defer { unlink(path) }
        let span = tracer().startSpan("large")
        span.updateAttributes { attributes in for number in 0..<100 { attributes["a\(number)"] = number } }
        for number in 0..<70 { span.addEvent(SpanEvent(name: "e\(number)")) }
        span.operationName = String(repeating: "x", count: 5_000)
        span.end()
        span.end()
        let written = try #require(try spans().first)
        #expect(try spans().count == 1, "it ends once")
        #expect((written["attributes"] as? [Any])?.count == 64 && written["droppedAttributesCount"] as? Int == 36)
        #expect((written["events"] as? [Any])?.count == 64 && written["droppedEventsCount"] as? Int == 6)
        #expect((written["name"] as? String)?.count == 4_096)
    }

    @Test func fullFile_takesNoMore_andThatIsSaidOnce() throws {
        defer { unlink(path) }
        let tracer = tracer(bytesMax: 1_000)
        for _ in 0..<5 { tracer.startSpan("one").end() }
        let count = try spans().count
        #expect((1...2).contains(count))
        #expect(told.all.count == 1)
        #expect(told.all.first?.contains("it would have more than 1000 bytes (bytesMax); move it away") == true)
    }

    @Test func fileThatCannotBeWritten_isSaidOnce() {
        let file = TraceFile("/nowhere/at/all") { [told] in told.add($1) }
        let tracer = SpanTracer(sinks: [FileSink(file: file, resource: SpanResource(service: "test"))])
        for _ in 0..<3 { tracer.startSpan("one").end() }
        #expect(
            told.all == ["spans are dropped: /nowhere/at/all (AOP_TRACE_FILE) cannot be written: No such file or directory"]
        )
    }
}
