import Foundation
import LocalHTTPServer
import Synchronization
import Testing

extension SystemTests {
    /// A trace that begins outside of the cluster, and reaches its commands.
    @Suite(.timeLimit(.minutes(2))) struct Traces {
        private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        private static let given = ["TRACEPARENT": parent, "TRACESTATE": "vendor=1"]
        private static let print = "echo \"$TRACEPARENT $TRACESTATE\""

        @Test func traceOfTheSubmitter_reachesCommands_alsoAfterARestartOfTheCoordinator() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "graph.yaml",
                    """
                    ordered:
                      - {id: first, run: '\(Self.print) >>\(harness.directory)/log; until [ -e \(harness.directory)/go ]; do sleep 0.05; done'}
                      - {id: second, run: '\(Self.print) >>\(harness.directory)/log'}

                    """)
                let submitted = try await harness.aop("submit", graph, "--key", "k", "-o", "quiet", environment: Self.given)
                let id = submitted.text
                #expect(submitted.status == 0, "\(submitted)")
                try await eventually("the first one runs") { harness.lines(of: "log").count == 1 }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                // The same submission, also where it is handed in from another trace.
                let other = ["TRACEPARENT": Self.parent.replacing("b7ad", with: "aaaa")]
                let again = try await harness.aop("submit", graph, "--key", "k", "-o", "quiet", environment: other)
                #expect(again.status == 0 && again.text == id, "\(again)")
                _ = try harness.write("go", "")
                let waited = try await harness.aop("wait", "last")
                #expect(waited.status == 0, "\(waited)")
                #expect(harness.lines(of: "log") == [String](repeating: "\(Self.parent) vendor=1", count: 2))
            }
        }

        @Test func run_passesItsTraceOn_andSaysWhatIsNone() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("graph.yaml", "group: [{id: a, run: '\(Self.print)'}]\n")
                let run = try await harness.aop("run", graph, "-o", "quiet", environment: Self.given)
                #expect(run.text.trimmed == "\(Self.parent) vendor=1", "\(run)")
                let none = try await harness.aop("run", graph, "-o", "quiet", environment: ["TRACEPARENT": "nonsense"])
                #expect(none.status == 0 && none.text.trimmed.isEmpty, "\(none)")
                #expect(none.stderr.contains("warning: the trace in the environment is not passed on: `traceparent` is `nonsense`"))
            }
        }

        private final class Bodies: Sendable {
            private let texts = Mutex<[String]>([])
            var all: [String] { texts.withLock { $0 } }
            func add(_ text: String) { texts.withLock { $0.append(text) } }
        }

        @Test func collector_isSentTheSpansOfAllProcesses() async throws {
            try await ProcessHarness.with { harness in
                let bodies = Bodies()
                let collector = try LocalHTTPServer { request in
                    bodies.add(request.components(separatedBy: "\r\n\r\n").dropFirst().joined())
                    return LocalHTTPServer.answer(200, "{}")
                }
                let graph = try harness.write("graph.yaml", "group: [{id: a, run: '\(Self.print)'}]\n")
                let run = try await harness.aop(
                    "run", graph, "-o", "quiet", environment: Self.given.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": collector.address]) { $1 })
                #expect(run.status == 0 && !run.stderr.contains("warning"), "\(run)")
                let resources = try bodies.all.flatMap { try JSON(parsing: $0)["resourceSpans"].elements }
                let spans = resources.flatMap { $0["scopeSpans"][0]["spans"].elements }
                #expect(Set(spans.compactMap { $0["name"].string }) == ["aop.submit", "aop.queue", "aop.run"], "\(spans)")
                #expect(spans.allSatisfy { $0["traceId"].string == "0af7651916cd43dd8448eb211c80319c" })
                let services = resources.flatMap { $0["resource"]["attributes"].elements }
                    .filter { $0["key"].string == "service.name" }.compactMap { $0["value"]["stringValue"].string }
                #expect(Set(services).isSuperset(of: ["aop run", "aop coordinator"]), "\(services)")
            }
        }

        @Test func collectorThatIsNotThere_isOneWarningOfARun() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write("work.yaml", "group:\n  - {id: a, run: echo 1}\n  - {id: b, run: echo 2}\n")
                let ended = try await harness.start(
                    BuiltProducts.aop, ["run", file, "--workers", "2"], environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"]
                ).finish()
                #expect(ended.status == 0, "\(ended)")
                #expect(ended.stderr.components(separatedBy: "spans are dropped").count == 2, "\(ended)")
            }
        }

        @Test func traceFile_hasTheSpansOfAllProcesses_andCommandsAreBelowTheirs() async throws {
            try await ProcessHarness.with { harness in
                let file = "\(harness.directory)/spans.jsonl"
                let graph = try harness.write("graph.yaml", "group: [{id: a, run: '\(Self.print)'}]\n")
                let run = try await harness.aop(
                    "run", graph, "-o", "quiet", environment: Self.given.merging(["AOP_TRACE_FILE": file]) { $1 })
                #expect(run.status == 0, "\(run)")
                let spans = try harness.lines(of: "spans.jsonl").map { line in
                    try JSON(parsing: line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
                }
                let submit = try #require(spans.first { $0["name"].string == "aop.submit" })
                let body = try #require(spans.first { $0["name"].string == "aop.run" })
                let queue = try #require(spans.first { $0["name"].string == "aop.queue" })
                #expect(queue["parentSpanId"].string == submit["spanId"].string)
                let (ready, begun) = (queue["startTimeUnixNano"].string ?? "", queue["endTimeUnixNano"].string ?? "")
                #expect((submit["startTimeUnixNano"].string ?? "").dropLast(6) <= ready.dropLast(6) && ready <= begun)
                #expect(submit["parentSpanId"].string == "b7ad6b7169203331")
                #expect(body["parentSpanId"].string == submit["spanId"].string)
                #expect(spans.allSatisfy { $0["traceId"].string == "0af7651916cd43dd8448eb211c80319c" })
                #expect(run.text.trimmed == "00-0af7651916cd43dd8448eb211c80319c-\(body["spanId"].string ?? "")-01 vendor=1")
            }
        }
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
