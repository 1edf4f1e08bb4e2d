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
    public var events: AsyncThrowingStream<FollowEvent, any Error> { connection.follow(id) }

    /// Waits until everything of it has ended, across restarts of the coordinator.
    ///
    /// - Throws: ``ClusterError`` when the connection is closed or the submission is kept no more; `CancellationError`.
    public func outcome() async throws -> RemoteOutcome {
        let view = try await connection.outcome(of: id)
        let failures = try await connection.result(of: id).failures
        return RemoteOutcome(
            state: view.state, errors: failures.flatMap { failed in failed.errors.map { OperationGraph().error($0, of: 0) } })
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

    /// Asks for its cancellation, or that of what is at `path`; returns when that is durable.
    public func cancel(path: String = "", reason: String = "") async throws {
        _ = try await connection.cancel(id, path: path, reason: reason)
    }
}

/// How a submission of any process ended.
public struct RemoteOutcome: Sendable {
    /// Succeeded, failed or cancelled.
    public let state: WireSubmissionState
    /// Of its operations, in child order.
    public let errors: [AOperationError]

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
