import Foundation
import Wire

/// The trace that whoever has started this process works in, a CI job for example: `TRACEPARENT` and `TRACESTATE`.
enum GivenTrace {
    /// What goes with a submission. What cannot is said, and is no error.
    static func fields(
        _ console: Console, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String: String] {
        let (fields, problem) = TraceFields.admitted(of: TraceFields.fields(ofEnvironment: environment))
        if let problem { console.note("aop: warning: the trace in the environment is not passed on: \(problem)\n") }
        return fields
    }
}
