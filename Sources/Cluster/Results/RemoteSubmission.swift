import AOperation
import Executing
import Foundation
import Wire

/// A submission of this or another process, past or present.
///
/// ```swift
/// let nightly = try await cluster.connection.submission(key: "nightly-2031-05-01")
/// for try await event in nightly.events { print(event) }
/// let outcome = try await nightly.outcome()
/// let words = try await nightly.value(of: "count", as: Int.self)
/// ```
public struct RemoteSubmission: Sendable {
    /// Its name for the command line: `aop show ID`.
    public let id: String
    /// What the submitter called it.
    public let name: String
    /// Under which it was submitted.
    public let key: String
    let connection: ClusterConnection

    init(_ view: WireSubmissionView, _ connection: ClusterConnection) {
        id = view.id
        name = view.name
        key = view.key
        self.connection = connection
    }

    /// What happens to it, beginning with how it stands; ends with its end. It goes on after a restart of the
    /// coordinator. May be asked for several times.
    public var events: SubmissionEvents { SubmissionEvents(connection.follow(id), standing: connection.operations(of: id)) }

    /// Waits until everything of it has ended, across restarts of the coordinator.
    ///
    /// When the task that waits is cancelled, only the waiting ends: the work goes on, may be waited for again, and is ended by
    /// ``cancel(path:reason:now:)``.
    /// - Throws: ``ClusterError`` when the connection is closed or the submission is kept no more; `CancellationError`.
    public func outcome() async throws -> RemoteOutcome {
        guard let state = OutcomeState(try await connection.outcome(of: id).state) else { throw RequestLedger.unexpected }
        let failures = try await connection.failures(of: id)
        return RemoteOutcome(
            id: id, state: state,
            failures: failures.flatMap { failed in
                failed.errors.map { OperationFailure(path: failed.path, error: OperationGraph().error($0, of: 0)) }
            })
    }

    /// The value that the operation at `path` delivered.
    ///
    /// - Throws: ``ClusterError`` `notFound` if there is no such operation, or no value of it (yet), `valueUnavailable`;
    ///   `ClusterCodingError` for a value of another type.
    public func value<Value: Sendable>(of path: String, as type: Value.Type = Value.self) async throws -> Value {
        let node = try await connection.result(of: id, path: path).operations.root
        guard let node, !node.isGroup else {
            throw ClusterError(.notFound, "`\(path)` in submission \(id) is a group; ask for the values of its members")
        }
        guard node.view.state == .succeeded else {
            throw ClusterError(.notFound, "the operation `\(path)` in submission \(id) has no value: it is \(node.view.state)")
        }
        let bytes = try await connection.bytes(of: node.view.value)
        return try EncodedValue(node.view.value.encoding, bytes).decoded(as: type)
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
}

/// An error of a submission of any process, and the operation that failed with it.
public struct OperationFailure: Sendable {
    /// The operation's path within the submission; empty: the submission itself, by its deadline for example.
    public let path: String
    public let error: AOperationError
}

/// How a submission of any process ended.
public struct RemoteOutcome: Sendable {
    /// The submission's id.
    public let id: String
    public let state: OutcomeState
    /// Every error of every operation that failed, in child order; of a group only those of its own. What was cancelled has none.
    public let failures: [OperationFailure]

    /// The errors of ``failures``.
    public var errors: [AOperationError] { failures.map(\.error) }

    /// Whether everything succeeded.
    public var isSuccess: Bool { state == .succeeded }
}

extension ClusterConnection {
    /// The submission with this id, a unique prefix of it, or `last`.
    ///
    /// - Throws: ``ClusterError``: `notFound`, `ambiguous`.
    public func submission(_ id: String) async throws -> RemoteSubmission {
        RemoteSubmission(try await show(id), self)
    }

    /// The submission that was made under this key.
    ///
    /// - Throws: ``ClusterError`` `notFound`.
    public func submission(key: String) async throws -> RemoteSubmission {
        try await submission("key=\(key)")
    }
}
