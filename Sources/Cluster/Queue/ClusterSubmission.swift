import AOperation

/// What a ``ClusterQueue`` has handed over at once. It is on the coordinator's disk.
///
/// ```swift
/// let submission = try await cluster.submit(nightly, key: "nightly-\(day)")
/// for try await event in submission.events { … }
/// let outcome = try await submission.outcome()
/// print(outcome[publish])
/// ```
public final class ClusterSubmission: Sendable {
    /// Its name for the command line: `aop show ID`.
    public let id: String
    /// The key had been used for the same graph before: this is that submission.
    public let isExisting: Bool
    private let session: SubmissionSession
    private let connection: ClusterConnection

    init(_ submitted: SubmittedGraph, _ session: SubmissionSession, _ connection: ClusterConnection) {
        id = submitted.id
        isExisting = submitted.isExisting
        self.session = session
        self.connection = connection
    }

    /// What happens to it on the cluster, beginning with how it stands; ends with its end. May be asked for several times.
    public var events: SubmissionEvents {
        SubmissionEvents(connection.follow(id), standing: connection.operations(of: id)) { [session] in session.mirrors.graph }
    }

    /// Asks for its cancellation, or that of the operation or group at `path` within it, as `aop cancel` does. When this returns the
    /// request is durable; the work ends as cancelled some time later, which ``outcome()`` waits for.
    ///
    /// - Parameters:
    ///   - reason: why; it is kept with the submission.
    ///   - now: end commands without their grace.
    /// - Returns: whether there was something to cancel: it had not ended.
    /// - Throws: ``ClusterError``: `notFound` for a path that there is not; `CancellationError`: it may have been asked for.
    @discardableResult
    public func cancel(path: String = "", reason: String = "", now: Bool = false) async throws -> Bool {
        !(try await connection.cancel(id, path: path, reason: reason, now: now).alreadyEnded)
    }

    /// Pauses it, or the operation or group at `path` within it, as `aop pause` does: nothing of it that has not begun does so until
    /// it is resumed, by whomever. What runs goes on, and so do deadlines.
    ///
    /// - Throws: ``ClusterError``: `notFound` for a path that there is not; `CancellationError`: it may have been asked for.
    @discardableResult
    public func pause(path: String = "") async throws -> Steering { try await connection.pause(id, path: path) }

    /// Lets it, or the operation or group at `path` within it, go on, as `aop resume` does.
    ///
    /// - Throws: ``ClusterError``: `notFound` for a path that there is not; `CancellationError`: it may have been asked for.
    @discardableResult
    public func resume(path: String = "") async throws -> Steering { try await connection.resume(id, path: path) }

    /// Waits until everything of it has ended.
    ///
    /// When the task that waits is cancelled, only the waiting ends: the work goes on, may be waited for again, and is ended by
    /// ``cancel(path:reason:now:)``.
    /// - Throws: `CancellationError`, and nothing else: what went wrong is in the outcome.
    public func outcome() async throws -> SubmissionOutcome {
        try await ClusterSpan.wait(for: id, state: { ($0.state.rawValue, $0.isSuccess) }) { try await ended() }
    }

    private func ended() async throws -> SubmissionOutcome {
        let told = try await session.ended()
        let graph = session.mirrors.graph
        let top = graph.top.compactMap { graph.members[$0].operation }
        for operation in top { try await operation.over() }
        let errors = top.flatMap(\.publishedErrors)
        return SubmissionOutcome(id: id, state: OutcomeState(told: told, isSuccessHere: errors.isEmpty), errors: errors)
    }
}

/// How a submission of this process ended.
public struct SubmissionOutcome: Sendable {
    /// The submission's id.
    public let id: String
    /// What the coordinator says of the submission; `failed` where this process could not hear it, or not read a value.
    public let state: OutcomeState
    /// Those of the operations that were submitted, in their order; a group's are its children's. A cancelled operation has
    /// `AOperationError.IsCancelled`.
    public let errors: [AOperationError]

    /// Whether everything succeeded.
    public var isSuccess: Bool { state == .succeeded }

    /// How one of its operations ended; nil for one that has not ended, which is none of them.
    public subscript<Output>(_ operation: ResultableOperation<Output>) -> OperationOutcome<Output>? { operation.outcome }
}

extension AOperation {
    /// Waits until outcome and body are over.
    ///
    /// - Throws: `CancellationError`.
    fileprivate func over() async throws {
        let end = Promise<Void>()
        whenOver { end.settle(.success(())) }
        try await end.value()
    }
}
