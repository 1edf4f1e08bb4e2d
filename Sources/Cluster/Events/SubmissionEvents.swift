import Executing
import Wire

/// What happens to a submission, in order.
public enum SubmissionEvent: Sendable {
    /// The submission as it stands: at the beginning, and again after each reconnect and for who reads slowly. What has become of operations until
    /// then, and was not told, follows.
    case status(SubmissionStatus)
    /// What became of operations since, in the order in which that was committed, and the submission as it stands after it. After a status it
    /// is what has not been told yet, operation by operation (starts, retries and ends of their attempts, each once), and that status.
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
/// Each start, retry and end of an operation is told once, also what happened before the loop began, while the coordinator was not heard, or faster
/// than it was read; of an operation's attempts as many as are kept (see the limits). What it waited for in between, and how far it came, is not
/// made up for. A loop keeps some 60 bytes for each operation that has begun.
///
/// One loop reads them. Another one takes the submission's `events` anew; of these it gets a ``ClusterError`` with code `alreadyRead`.
public struct SubmissionEvents: AsyncSequence, Sendable {
    public typealias Element = SubmissionEvent

    private let events: FollowedEvents
    private let standing: OperationPages
    private let graph: @Sendable () -> OperationGraph

    /// - Parameters:
    ///   - standing: how its operations stand.
    ///   - graph: of whoever has submitted it, as it has become.
    init(
        _ events: FollowedEvents, standing: OperationPages,
        in graph: @escaping @Sendable () -> OperationGraph = { OperationGraph() }
    ) {
        self.events = events
        self.standing = standing
        self.graph = graph
    }

    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), standing: standing, graph: graph) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: FollowedEvents.Iterator
        fileprivate let standing: OperationPages
        fileprivate let graph: @Sendable () -> OperationGraph
        private var steps = OperationSteps()
        /// What is made up for, after the view with which that began.
        private var missed: (pages: OperationPages.Iterator, view: WireSubmissionView)?
        /// The end has been told.
        private var hasEnded = false

        fileprivate init(
            events: FollowedEvents.Iterator, standing: OperationPages, graph: @escaping @Sendable () -> OperationGraph
        ) {
            self.events = events
            self.standing = standing
            self.graph = graph
        }

        public mutating func next() async throws -> SubmissionEvent? {
            if let told = try await nextMissed() { return told }
            switch try await events.next() {
            case .view(let view)?:
                hasEnded = view.state.isFinal
                missed = (standing.makeAsyncIterator(), view)
                return .status(SubmissionStatus(view))
            case .events(let events, let view)?:
                hasEnded = view.state.isFinal
                return told(steps.happened(events), view)
            case .interrupted(let reason)?: return .interrupted(reason: reason)
            case nil:
                if hasEnded { return nil }
                // A stream ends for a cancelled task as if there were nothing more, and so does what was read before.
                try Task.checkCancellation()
                throw ClusterError(
                    .alreadyRead, "these events have been read by another loop; ask the submission for its `events` once more")
            }
        }

        private mutating func nextMissed() async throws -> SubmissionEvent? {
            while let (iterator, view) = missed {
                var pages = iterator
                let page: [WireOperationView]?
                do { page = try await pages.next() } catch let error as ClusterError where error.code == .notFound && hasEnded {
                    // It ended, and its retention is over.
                    page = nil
                }
                missed = page.map { _ in (pages, view) }
                let events = steps.stand(page ?? [])
                if !events.isEmpty { return told(events, view) }
            }
            return nil
        }

        private func told(_ events: [WireEvent], _ view: WireSubmissionView) -> SubmissionEvent {
            let known = graph()
            return .operations(events.map { OperationEvent($0, in: known) }, SubmissionStatus(view))
        }
    }
}
