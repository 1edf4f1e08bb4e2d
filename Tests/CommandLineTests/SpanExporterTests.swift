import Foundation
import LocalHTTPServer
import Synchronization
import Testing
import Tracing
import Wire

@testable import aop

/// Spans on their way to a collector.
@Suite(.timeLimit(.minutes(1))) struct SpanExporterTests {
    /// What a collector was sent, and what it says to each request, the last of which it goes on with.
    private final class Collector: Sendable {
        let requests = Mutex<[String]>([])
        private let answers: Mutex<[String?]>
        let told = Mutex<[String]>([])

        init(_ answers: [String?]) { self.answers = Mutex(answers) }

        func answer(_ request: String) -> String? {
            requests.withLock { $0.append(request) }
            return answers.withLock { answers in answers.count > 1 ? answers.removeFirst() : answers.first ?? nil }
        }
    }

    private static let taken = LocalHTTPServer.answer(200, "{}")

    private func settings(_ address: String, timeoutMilliseconds: Int = 2_000) throws -> ExportSettings {
        let environment = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20secret,other=1",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "\(timeoutMilliseconds)",
        ]
        guard case .export(let settings) = ExportSettings.of(environment) else { throw NoSettings() }
        return settings
    }

    private struct NoSettings: Error {}

    private func exporter(_ settings: ExportSettings, _ collector: Collector, _ losses: SpanLosses? = nil) -> SpanExporter {
        SpanExporter(settings, SpanResource(service: "test"), losses: losses ?? SpanLosses(path: nil) { 0 }) { level, text in
            collector.told.withLock { $0.append("\(level): \(text)") }
        }
    }

    private func record(_ name: String) -> SpanRecord {
        let parent = TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        guard let parent else { preconditionFailure("it is a context") }
        var record = SpanRecord(
            name: name, kind: .consumer, place: TracePlace(parent: parent, state: nil), parentSpanID: "00f067aa0ba902b7", startedAt: 1_000)
        record.endedAt = 2_000
        record.attributes["aop.operation.path"] = "a/b"
        record.attributes["aop.operation.attempt"] = 2
        record.status = SpanStatus(code: .error, message: "no")
        return record
    }

    /// The fields of `ExportTraceServiceRequest` and of what is in it, as the protocol's JSON has them.
    @Test func batch_isAnExportRequestOfTheStandard() throws {
        let collector = Collector([Self.taken])
        let server = try LocalHTTPServer { collector.answer($0) }
        let exporter = exporter(try settings(server.address), collector)
        exporter.take(record("one"))
        exporter.take(record("two"))
        exporter.flush()
        #expect(exporter.counts == SpanExporter.Counts(exported: 2, dropped: 0))
        let request = try #require(collector.requests.withLock { $0 }.first)
        let (head, body) = (request.components(separatedBy: "\r\n\r\n")[0].lowercased(), request.components(separatedBy: "\r\n\r\n")[1])
        #expect(head.hasPrefix("post /v1/traces http/1.1"))
        #expect(head.contains("content-type: application/json") && head.contains("api-key: a secret") && head.contains("other: 1"))
        let message = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        #expect(Set(message.keys) == ["resourceSpans"])
        let resource = try #require((message["resourceSpans"] as? [[String: Any]])?.first)
        #expect(Set(resource.keys) == ["resource", "scopeSpans"])
        let attributes = try #require((resource["resource"] as? [String: Any])?["attributes"] as? [[String: Any]])
        let service = attributes.first { $0["key"] as? String == "service.name" }?["value"] as? [String: Any]
        #expect(service?["stringValue"] as? String == "test")
        let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
        #expect(Set(scope.keys) == ["scope", "spans"] && (scope["scope"] as? [String: Any])?["name"] as? String == "aop")
        let spans = try #require(scope["spans"] as? [[String: Any]])
        #expect(spans.map { $0["name"] as? String } == ["one", "two"])
        let span = spans[0]
        #expect(
            Set(span.keys).isSubset(of: [
                "traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
                "attributes", "droppedAttributesCount", "events", "droppedEventsCount", "links", "droppedLinksCount", "status",
            ]))
        #expect(span["traceId"] as? String == "0af7651916cd43dd8448eb211c80319c" && span["spanId"] as? String == "b7ad6b7169203331")
        #expect(span["parentSpanId"] as? String == "00f067aa0ba902b7" && span["kind"] as? Int == 5)
        // 64 bits are texts in the protocol's JSON.
        #expect(span["startTimeUnixNano"] as? String == "1000" && span["endTimeUnixNano"] as? String == "2000")
        let attempt = (span["attributes"] as? [[String: Any]])?.first { $0["key"] as? String == "aop.operation.attempt" }
        #expect((attempt?["value"] as? [String: Any])?["intValue"] as? String == "2")
        let status = try #require(span["status"] as? [String: Any])
        #expect(status["code"] as? Int == 2 && status["message"] as? String == "no")
    }

    @Test func whatIsRefused_isDroppedAndSaidOnce_andNotSentAgain() throws {
        let collector = Collector([LocalHTTPServer.answer(400, "no such field"), LocalHTTPServer.answer(401, "who?")])
        let server = try LocalHTTPServer { collector.answer($0) }
        let exporter = exporter(try settings(server.address), collector)
        for _ in 0..<(SpanExporter.batchMax + 1) { exporter.take(record("one")) }
        exporter.flush()
        #expect(exporter.counts == SpanExporter.Counts(exported: 0, dropped: UInt64(SpanExporter.batchMax + 1)))
        #expect(collector.requests.withLock { $0.count } == 2)
        let told = collector.told.withLock { $0 }
        #expect(told.count == 1 && told.first?.contains("refuses them with 400: no such field") == true, "\(told)")
    }

    @Test func whoCannotTakeThemNow_isAskedAgain() async throws {
        let collector = Collector([LocalHTTPServer.answer(503, ""), Self.taken])
        let server = try LocalHTTPServer { collector.answer($0) }
        let exporter = exporter(try settings(server.address), collector)
        exporter.take(record("one"))
        try await eventually("it is taken the second time") { exporter.counts.exported == 1 }
        #expect(collector.requests.withLock { $0.count } == 2 && collector.told.withLock { $0 }.isEmpty)
    }

    /// As the processes of one run: they know of each other by a file.
    @Test func collectorThatGoesAwayAndComesBack_isToldOnceEach_withHowManyWereLost() throws {
        let path = NSTemporaryDirectory() + "aop-spans-test-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(path) }
        let refusal = LocalHTTPServer.answer(400, "no")
        let collector = Collector([refusal, refusal, refusal, Self.taken])
        let server = try LocalHTTPServer { collector.answer($0) }
        let settings = try settings(server.address)
        let exporters = (0..<3).map { _ in exporter(settings, collector, SpanLosses(path: path) { 0 }) }
        for exporter in exporters {
            exporter.take(record("one"))
            exporter.take(record("two"))
            exporter.flush()
        }
        #expect(collector.told.withLock { $0 }.count == 1, "\(collector.told.withLock { $0 })")
        for exporter in exporters {
            exporter.take(record("three"))
            exporter.flush()
        }
        let told = collector.told.withLock { $0 }
        #expect(
            told.count == 2 && told.last?.hasPrefix("notice: ") == true && told.last?.hasSuffix("again; 6 were lost") == true, "\(told)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func collectorThatComesAndGoes_isNotToldWithEachBatch() {
        let time = Mutex<Int64>(0)
        let losses = SpanLosses(path: nil) { time.withLock { $0 } }
        #expect(losses.takeBack() == nil, "nothing was lost")
        #expect(losses.note(1) && !losses.note(2))
        #expect(losses.takeBack() == 3)
        #expect(losses.note(4))
        #expect(losses.takeBack() == nil, "it has just been told")
        #expect(!losses.note(1))
        time.withLock { $0 = SpanLosses.quietMilliseconds }
        #expect(losses.takeBack() == 5)
    }

    @Test func nobodyThere_keepsNobodyWaiting() throws {
        let collector = Collector([])
        // Somebody had the port, and is gone.
        let address = try { try LocalHTTPServer { _ in nil }.address }()
        let exporter = exporter(try settings(address), collector)
        exporter.take(record("one"))
        exporter.flush()
        #expect(exporter.counts == SpanExporter.Counts(exported: 0, dropped: 1))
        #expect(collector.told.withLock { $0 }.first?.contains("cannot be reached") == true)
    }

    @Test func queue_isBounded_andTakingNeverWaits() async throws {
        let collector = Collector([nil])
        let server = try LocalHTTPServer { collector.answer($0) }
        let exporter = exporter(try settings(server.address, timeoutMilliseconds: 60_000), collector)
        // The first batch is with the collector, which does not answer.
        for _ in 0..<SpanExporter.batchMax { exporter.take(record("one")) }
        try await eventually("the collector has been asked") { collector.requests.withLock { $0.count } == 1 }
        for _ in 0..<(SpanExporter.queueMax + 7) { exporter.take(record("one")) }
        #expect(exporter.counts.dropped == 7)
        #expect(collector.told.withLock { $0 } == ["warning: spans are dropped: more than 2048 wait to be sent (queueMax)"])
    }

    private func eventually(_ what: String, _ isSo: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !isSo() {
            guard ContinuousClock.now < deadline else { throw TimedOut(what: what) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private struct TimedOut: Error { let what: String }

    // MARK: Settings

    @Test(
        arguments: [
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"], "http://c:4318/v1/traces"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318/"], "http://c:4318/v1/traces"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "https://c/otlp"], "https://c/otlp/v1/traces"),
            // That of traces goes first, and is taken as it is.
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://d/x"], "http://d/x"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"], "http://c/v1/traces"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "otlp"], "http://c/v1/traces"),
        ] as [([String: String], String)]) func address_isThatOfTheStandard(_ environment: [String: String], _ url: String)
    {
        guard case .export(let settings) = ExportSettings.of(environment) else {
            Issue.record("nothing is exported: \(ExportSettings.of(environment))")
            return
        }
        #expect(settings.url.absoluteString == url)
    }

    @Test func nothingIsExported_whereNothingIsNamedOrWanted() {
        let named = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"]
        #expect(ExportSettings.of([:]) == .off)
        #expect(ExportSettings.of(["OTEL_EXPORTER_OTLP_ENDPOINT": ""]) == .off)
        #expect(ExportSettings.of(named.merging(["OTEL_SDK_DISABLED": "true"]) { $1 }) == .off)
        #expect(ExportSettings.of(named.merging(["OTEL_TRACES_EXPORTER": "none"]) { $1 }) == .off)
    }

    @Test(
        arguments: [
            (["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"], "OTEL_EXPORTER_OTLP_PROTOCOL is `grpc`, and they are sent as http/json"),
            (["OTEL_TRACES_EXPORTER": "zipkin"], "OTEL_TRACES_EXPORTER is `zipkin`: it may be `otlp` or `none`"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"], "write an address such as http://127.0.0.1:4318"),
            (["OTEL_EXPORTER_OTLP_TIMEOUT": "10s"], "OTEL_EXPORTER_OTLP_TIMEOUT is `10s`: it must be milliseconds from 1 to 600000"),
        ] as [([String: String], String)]) func whatCannotBe_isNamedWithItsRemedy(_ environment: [String: String], _ words: String)
    {
        let choice = ExportSettings.of(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"].merging(environment) { $1 })
        guard case .unusable(let problem) = choice else {
            Issue.record("it is taken: \(choice)")
            return
        }
        #expect(problem.contains(words), "\(problem)")
    }

    @Test func resource_hasWhatTheEnvironmentSays() {
        let resource = SpanResource(
            service: "aop submit",
            environment: [
                "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=a%2Cb, service.name=x ,nonsense", "OTEL_SERVICE_NAME": "mine",
            ])
        let attributes = Dictionary(uniqueKeysWithValues: resource.attributes.map { ($0.name, $0.value) })
        #expect(attributes["deployment.environment"] == "a,b" && attributes["service.name"] == "mine" && attributes["nonsense"] == nil)
        #expect(SpanResource(service: "aop").attributes.contains { $0 == ("service.name", "aop") })
    }
}
