import Synchronization
import Tracing
import Wire

/// The span of one attempt of an operation, or of another unit, from the begin of its body to its end; and the context in which the
/// body runs: a child of the one that came with the submission.
package final class BodySpan: Sendable {
    package enum Name: String, Sendable {
        case run = "aop.run"
        case evaluate = "aop.evaluate"
        case decide = "aop.decide"
    }

    private enum State {
        /// Its body has not begun.
        case due
        case open(any Span)
        /// Also of a body that has never begun, which has no span.
        case over
    }

    private let state = Mutex(State.due)
    private let name: Name
    private let assignment: WireAssignment
    private let worker: String
    private let desk: TraceDesk

    init(_ name: Name, of assignment: WireAssignment, on worker: String, desk: TraceDesk) {
        (self.name, self.assignment, self.worker, self.desk) = (name, assignment, worker, desk)
    }

    /// Begins it, and calls `body` in its context.
    package func run(_ body: () -> Void) {
        guard let context = begin() else { return body() }
        desk.within(context, body)
    }

    /// Nil: its end is known.
    private func begin() -> ServiceContext? {
        let span: any Span = desk.tracer.startSpan(name.rawValue, context: desk.context(of: assignment.trace), ofKind: .consumer)
        span.updateAttributes { attributes in
            attributes["messaging.system"] = "aop"
            attributes["messaging.operation.name"] = name.word
            attributes["messaging.operation.type"] = "process"
            attributes["messaging.message.id"] = "\(assignment.submission)/\(assignment.path)"
            attributes["aop.submission.id"] = assignment.submission
            attributes["aop.operation.path"] = assignment.path
            attributes["aop.operation.type"] = assignment.operation
            attributes["aop.operation.attempt"] = Int(assignment.attemptNumber)
            attributes["aop.worker"] = worker
        }
        let isDue = state.withLock { state in
            guard case .due = state else { return false }
            state = .open(span)
            return true
        }
        guard isDue else {
            span.end()
            return nil
        }
        return span.context
    }

    /// Ends it as its body has ended. Of what was given up nothing more is told.
    ///
    /// - Parameter ending: with failures as they are told to others: without secrets.
    package func end(_ ending: UnitEnding) {
        let last = state.withLock { state in
            defer { state = .over }
            return state
        }
        guard case .open(let span) = last else { return }
        switch ending {
        case .failure(let failures):
            if let first = failures.first { span.record(TracedFailure(first)) }
        case .cancelled:
            span.updateAttributes { $0["aop.operation.cancelled"] = true }
        case .success, .production, .elements, .storedElements, .answers, .decided, .concluded: break
        }
        span.end()
    }

    /// What its commands are told: its own place in the trace, or that of the submission where the tracer says nothing.
    package var fields: [String: String] {
        let span: (any Span)? = state.withLock { state in if case .open(let span) = state { span } else { nil } }
        guard let span else { return assignment.trace }
        let fields = desk.fields(of: span.context)
        return fields[TraceFields.parent] == nil ? assignment.trace : fields
    }
}

extension BodySpan.Name {
    /// As `messaging.operation.name` has it.
    fileprivate var word: String { String(rawValue.drop { $0 != "." }.dropFirst()) }
}

/// Why an operation failed, for a span.
package struct TracedFailure: Error, CustomStringConvertible {
    /// The failure's code, or the type of an error of the program's own.
    package let type: String
    package let description: String

    package init(type: String, _ description: String) { (self.type, self.description) = (type, description) }

    package init(_ failure: WireOperationFailure) {
        let isOwn = failure.code == .operation && !failure.typeName.isEmpty
        self.init(type: isOwn ? failure.typeName : failure.code.word, failure.message)
    }
}

extension Span {
    /// Ends in an error, but not the span.
    package func record(_ failure: TracedFailure) {
        updateAttributes { $0["error.type"] = failure.type }
        recordError(failure, attributes: ["exception.type": .string(failure.type)])
        setStatus(SpanStatus(code: .error, message: failure.description))
    }
}
