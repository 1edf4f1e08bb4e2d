import Executing
import Tracing
import Wire

/// The spans of what this process asks of a cluster. Without a tracer nothing is made for them.
enum ClusterSpan {
    /// Hands a submission in, within the span `aop.submit`; its place in the trace goes with it.
    ///
    /// - Parameters:
    ///   - trace: the context that the submitter was given; empty: that of the running task.
    ///   - body: does it.
    static func submit(
        _ submit: WireSubmit, name: String, nodes: Int, trace: [String: String],
        _ body: (WireSubmit) async throws -> SubmittedGraph
    ) async throws -> SubmittedGraph {
        var submit = submit
        submit.trace = trace
        guard let desk = TraceDesk.current else { return try await body(submit) }
        let parent = trace.isEmpty ? ServiceContext.current ?? .topLevel : desk.context(of: trace)
        let span: any Span = desk.tracer.startSpan("aop.submit", context: parent, ofKind: .producer)
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["messaging.system"] = "aop"
            attributes["messaging.operation.name"] = "submit"
            attributes["messaging.operation.type"] = "send"
            attributes["aop.submission.name"] = name
            attributes["aop.graph.nodes"] = nodes
        }
        let fields = desk.fields(of: span.context)
        if !fields.isEmpty { submit.trace = fields }
        do {
            let submitted = try await body(submit)
            span.updateAttributes { attributes in
                attributes["messaging.message.id"] = submitted.id
                attributes["aop.submission.id"] = submitted.id
                attributes["aop.submission.existing"] = submitted.isExisting
            }
            return submitted
        } catch {
            span.record(TracedFailure(of: error))
            throw error
        }
    }

    /// Waits for the end of a submission, within the span `aop.wait`.
    ///
    /// - Parameter state: how it has ended, as users read it, and whether all of it succeeded.
    static func wait<Outcome>(
        for id: String, state: (Outcome) -> (word: String, isSuccess: Bool), _ body: () async throws -> Outcome
    ) async rethrows -> Outcome {
        guard let desk = TraceDesk.current else { return try await body() }
        let span: any Span = desk.tracer.startSpan("aop.wait", ofKind: .client)
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["messaging.system"] = "aop"
            attributes["messaging.operation.name"] = "wait"
            attributes["aop.submission.id"] = id
        }
        do {
            let outcome = try await body()
            let (word, isSuccess) = state(outcome)
            span.updateAttributes { $0["aop.submission.state"] = word }
            if !isSuccess { span.setStatus(SpanStatus(code: .error, message: "submission \(id) is \(word)")) }
            return outcome
        } catch {
            span.record(TracedFailure(of: error))
            throw error
        }
    }
}

extension TracedFailure {
    /// Why a request came to nothing.
    init(of error: any Error) {
        switch error {
        case let error as ClusterError: self.init(type: error.code.rawValue, error.message)
        case is CancellationError: self.init(type: "CancellationError", "the task was cancelled")
        default: self.init(type: "\(Swift.type(of: error))", error.localizedDescription)
        }
    }
}
