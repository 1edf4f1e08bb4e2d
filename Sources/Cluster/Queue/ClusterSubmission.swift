import AOperation

/// What a ``ClusterQueue`` has handed over at once. It is on the coordinator's disk.
///
/// ```swift
/// let submission = try await cluster.submit(nightly, key: "nightly-\(day)")
/// for try await event in submission.events { … }
/// let outcome = await submission.outcome()
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
    public var events: AsyncThrowingStream<FollowEvent, any Error> { connection.follow(id) }

    /// Pauses it, or the operation or group at `path` within it: nothing of it that has not begun does so until it is
    /// resumed, by whomever. What runs goes on, and so do deadlines.
    ///
    /// - Throws: `ClusterError`: `notFound` for a path that there is not.
    @discardableResult
    public func pause(_ path: String = "") async throws -> Steering { try await connection.pause(id, path: path) }

    /// Lets it, or the operation or group at `path` within it, go on.
    @discardableResult
    public func resume(_ path: String = "") async throws -> Steering { try await connection.resume(id, path: path) }

    /// Waits until everything of it has ended.
    public func outcome() async -> SubmissionOutcome {
        await ClusterSpan.wait(for: id, state: { ($0.isSuccess ? "succeeded" : "failed", $0.isSuccess) }) { await ended() }
    }

    private func ended() async -> SubmissionOutcome {
        await session.ended()
        let graph = session.mirrors.graph
        let top = graph.top.compactMap { graph.members[$0].operation }
        for operation in top { await operation.over() }
        return SubmissionOutcome(id: id, isSuccess: top.allSatisfy { $0.publishedErrors.isEmpty }, errors: top.flatMap(\.publishedErrors))
    }
}

/// How a submission ended.
public struct SubmissionOutcome: Sendable {
    /// The submission's id.
    public let id: String
    /// Whether everything succeeded.
    public let isSuccess: Bool
    /// Those of the operations that were submitted, in their order; a group's are its children's.
    public let errors: [AOperationError]

    /// How one of its operations ended; nil for one that has not ended, which is none of them.
    public subscript<Output>(_ operation: ResultableOperation<Output>) -> OperationOutcome<Output>? { operation.outcome }
}

extension AOperation {
    /// Waits until outcome and body are over.
    fileprivate func over() async {
        await withCheckedContinuation { continuation in whenOver { continuation.resume() } }
    }
}
