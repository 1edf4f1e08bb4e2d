import AOperation
import Cluster
import ClusterTesting
import Foundation
import InMemoryTracing
import Testing
import Tracing

/// Makes a span of its own; fails so many times before it succeeds.
final class Spanned: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var text: String
        var fails = false
    }

    struct Sorry: PortableError, LocalizedError, Equatable {
        var errorDescription: String? { "not today" }
    }

    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    convenience init(_ text: String, fails: Bool = false) { self.init(.init(text: text, fails: fails)) }

    override func run() async throws -> String {
        let text = ServiceContext.current == nil ? "untraced" : parameters.text
        return try withSpan("inner \(parameters.text)") { _ in
            if parameters.fails { throw Sorry() }
            return text
        }
    }
}

/// Spans of the submitting process, of workers and of bodies.
@Suite struct TracingTests {
    private func trace(
        faults: [InMemoryCluster.Fault] = [], _ body: (InMemoryCluster) async throws -> Void
    ) async throws -> [FinishedInMemorySpan] {
        let tracer = InMemoryTracer()
        try await withTracer(tracer) {
            try await withSpan("job") { _ in
                try await body(try InMemoryCluster(workers: 2, clock: .virtual, seed: 7, faults: faults))
            }
        }
        return tracer.finishedSpans
    }

    private func one(_ name: String, in spans: [FinishedInMemorySpan]) throws -> FinishedInMemorySpan {
        let found = spans.filter { $0.operationName == name }
        #expect(found.count == 1, "\(name) among \(spans.map(\.operationName))")
        return try #require(found.first)
    }

    @Test func submitterWorkerAndBody_areOneTrace() async throws {
        let spans = try await trace { cluster in
            let operation = Spanned("a")
            let outcome = try await cluster.run(operation)
            #expect(outcome[operation]?.value == "a")
        }
        let (job, submit, run) = (try one("job", in: spans), try one("aop.submit", in: spans), try one("aop.run", in: spans))
        let (wait, inner) = (try one("aop.wait", in: spans), try one("inner a", in: spans))
        #expect(Set(spans.map(\.traceID)).count == 1)
        #expect(submit.parentSpanID == job.spanID && wait.parentSpanID == job.spanID)
        #expect(run.parentSpanID == submit.spanID)
        #expect(inner.parentSpanID == run.spanID)
        #expect(submit.kind == .producer && run.kind == .consumer)
        let id = submit.attributes.get("aop.submission.id")
        #expect(id != nil && run.attributes.get("aop.submission.id") == id && wait.attributes.get("aop.submission.id") == id)
        #expect(run.attributes.get("aop.operation.path") == "Spanned")
        #expect(run.attributes.get("aop.operation.type") == "Spanned")
        #expect(run.attributes.get("aop.operation.attempt") == .int64(1))
        #expect(run.attributes.get("messaging.operation.type") == "process")
        #expect(wait.attributes.get("aop.submission.state") == "succeeded")
        #expect(spans.allSatisfy { $0.status == nil && $0.errors.isEmpty })
    }

    @Test func failures_areTheSpansErrors() async throws {
        let spans = try await trace { cluster in
            let outcome = try await cluster.run(Spanned("a", fails: true))
            #expect(!outcome.isSuccess)
        }
        let run = try one("aop.run", in: spans)
        #expect(run.status == SpanStatus(code: .error, message: "not today"))
        #expect(run.attributes.get("error.type") == .string("\(Spanned.Sorry.self)"))
        #expect(run.errors.map { "\($0.error)" } == ["not today"])
        #expect(try one("aop.wait", in: spans).status?.code == .error)
        #expect(try one("aop.submit", in: spans).status == nil)
    }

    @Test func refusals_areErrorsOfTheSubmission() async throws {
        let spans = try await trace { cluster in
            do {
                _ = try await cluster.queue.submit(Spanned("never registered"))
                Issue.record("it was taken")
            } catch let error as ClusterError { #expect(error.code == .refused) }
        }
        let submit = try one("aop.submit", in: spans)
        #expect(submit.status?.code == .error)
        #expect(submit.attributes.get("error.type") == "refused")
    }

    @Test func crashesOfTheCoordinator_loseNoTrace() async throws {
        let spans = try await trace(faults: [.coordinatorCrash(every: 3)]) { cluster in
            let outcome = try await cluster.run(OrderedGroupOperation((0..<6).map { Spanned("\($0)") }))
            #expect(outcome.isSuccess)
            #expect(cluster.crashes.coordinators > 0)
        }
        let submit = try one("aop.submit", in: spans)
        let runs = spans.filter { $0.operationName == "aop.run" }
        #expect(Set(runs.compactMap { $0.attributes.get("aop.operation.path").map { "\($0)" } }).count == 6)
        #expect(runs.allSatisfy { $0.parentSpanID == submit.spanID && $0.traceID == submit.traceID })
    }

    @Test func codeOfTheSubmittingProcess_isInTheTrace() async throws {
        let spans = try await trace { cluster in
            let hosted = AOperationBlock { finish in
                startSpan("inside").end()
                finish()
            }
            let outcome = try await cluster.run(hosted)
            #expect(outcome.isSuccess)
        }
        let (submit, run) = (try one("aop.submit", in: spans), try one("aop.run", in: spans))
        #expect(run.parentSpanID == submit.spanID)
        #expect(try one("inside", in: spans).parentSpanID == run.spanID)
        #expect(run.attributes.get("aop.worker") == "submitter")
    }

    @Test func withoutATracer_bodiesHaveNoContext() async throws {
        let cluster = try InMemoryCluster()
        let operation = Spanned("a")
        let outcome = try await cluster.run(operation)
        #expect(outcome[operation]?.value == "untraced")
    }
}
