/// Where a submission, or an operation in it, is found that may not have been made yet. Unlike its session it may be kept by
/// its operations.
final class SubmissionPlace: Sendable {
    private let promise = Promise<String>()

    /// Only the first call counts.
    func settle(_ result: Result<String, ClusterError>) { promise.settle(result.mapError { $0 as any Error }) }

    /// Nil: it is not known.
    var known: String? { if case .success(let id)? = promise.known { id } else { nil } }

    /// The submission's id, or the operation's path; waits until it is on the coordinator's disk.
    ///
    /// - Throws: why it could not be submitted; `CancellationError`.
    func id() async throws -> String { try await promise.value() }
}
