import Executing

/// What happens to a submission, in order.
public enum SubmissionEvent: Sendable {
    /// The submission as it stands: at the beginning, and again after each reconnect and for who reads so slowly that operations were
    /// left out (what happened in between is in the status alone).
    case status(SubmissionStatus)
    /// What became of operations since, in the order in which that was committed, and the submission as it stands after it.
    case operations([OperationEvent], SubmissionStatus)
    /// The coordinator cannot be heard; the connection is being made anew.
    case interrupted(reason: String)
}

/// What happens to a submission, beginning with how it stands and ending with its end: see ``RemoteSubmission/events`` and
/// ``ClusterSubmission/events``.
///
/// ```swift
/// for try await event in submission.events {
///     switch event {
///     case .status(let status): print(status.state)
///     case .operations(let events, _): for event in events { print(event.path, event.state) }
///     case .interrupted(let reason): print("not heard:", reason)
///     }
/// }
/// ```
/// Reading it throws ``ClusterError`` when the connection is closed or the submission is not kept any more, and `CancellationError` when
/// the task that reads is cancelled: a loop that ends without an error has seen the end. The work goes on whoever reads.
///
/// One loop reads them. Another one takes the submission's `events` anew; of these it gets a ``ClusterError`` with code `alreadyRead`.
public struct SubmissionEvents: AsyncSequence, Sendable {
    public typealias Element = SubmissionEvent

    private let events: FollowedEvents
    private let graph: @Sendable () -> OperationGraph

    /// - Parameter graph: of whoever has submitted it, as it has become.
    init(_ events: FollowedEvents, in graph: @escaping @Sendable () -> OperationGraph = { OperationGraph() }) {
        self.events = events
        self.graph = graph
    }

    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), graph: graph) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: FollowedEvents.Iterator
        fileprivate let graph: @Sendable () -> OperationGraph
        /// The end has been told.
        private var hasEnded = false

        fileprivate init(events: FollowedEvents.Iterator, graph: @escaping @Sendable () -> OperationGraph) {
            self.events = events
            self.graph = graph
        }

        public mutating func next() async throws -> SubmissionEvent? {
            switch try await events.next() {
            case .view(let view)?:
                hasEnded = view.state.isFinal
                return .status(SubmissionStatus(view))
            case .events(let events, let view)?:
                hasEnded = view.state.isFinal
                let known = graph()
                return .operations(events.map { OperationEvent($0, in: known) }, SubmissionStatus(view))
            case .interrupted(let reason)?: return .interrupted(reason: reason)
            case nil:
                if hasEnded { return nil }
                // A stream ends for a cancelled task as if there were nothing more, and so does what was read before.
                try Task.checkCancellation()
                throw ClusterError(
                    .alreadyRead, "these events have been read by another loop; ask the submission for its `events` once more")
            }
        }
    }
}
