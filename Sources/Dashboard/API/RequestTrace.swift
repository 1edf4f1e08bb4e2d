import Hummingbird
import Wire

/// The trace that a request says it belongs to: `traceparent` and `tracestate` of W3C Trace Context.
struct RequestTrace {
    /// What goes with a submission. Empty: the request names none.
    let fields: [String: String]
    /// What of it cannot, which is never an error.
    let warnings: [String]

    init(_ headers: HTTPFields) {
        var given: [String: String] = [:]
        for header in headers where TraceFields.variables[header.name.canonicalName] != nil {
            // A list may be in several headers. A `traceparent` is none: two of them are not sound.
            given[header.name.canonicalName, default: ""] += (given[header.name.canonicalName] == nil ? "" : ",") + header.value
        }
        let (fields, problem) = TraceFields.admitted(of: given.filter { !$0.value.isEmpty })
        self.fields = fields
        warnings = problem.map { ["the trace in the headers is not passed on: \($0)"] } ?? []
    }
}
