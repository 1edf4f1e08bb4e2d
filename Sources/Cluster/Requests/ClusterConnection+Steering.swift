import Foundation
import Wire

/// What became of a request to run a submission again.
public struct Retried: Hashable, Sendable {
    /// Of the new submission.
    public let id: String
    /// So many kinds of operations are kept from workers no more.
    public let lifted: Int
    /// Its key was used before: nothing new was submitted, this is the first submission under it.
    public let isExisting: Bool
}

extension ClusterConnection {
    /// Submits the graph of a submission that has ended again.
    ///
    /// - Parameters:
    ///   - force: operations of it that are kept from workers, because their like has ended too many processes, are let go.
    ///   - failedOnly: what has succeeded does not run again, but for what came after something that has not; its values are
    ///     those of the first submission.
    ///   - key: of the new submission. Drawn at random when nil.
    public func retry(_ id: String, force: Bool = false, failedOnly: Bool = false, key: String? = nil) async throws -> Retried {
        // What `id` names is settled first: a request that has to be repeated cannot come upon another submission.
        let whole = try await wholeID(of: id)
        let request = WireRetry.with {
            $0.submission = whole
            $0.force = force
            $0.failedOnly = failedOnly
            $0.key = key ?? UUID().uuidString
        }
        guard case .retried(let retried) = try await core.ask(.retry(request)) else { throw RequestLedger.unexpected }
        return Retried(id: retried.submitted.id, lifted: Int(retried.lifted), isExisting: retried.submitted.existing)
    }

    /// Takes a lock from everybody who holds it, as `locks(key:)` shows them. When this returns that is durable.
    ///
    /// - Parameter now: its holders fail at once, what they still report is refused, and the next in line goes on while they
    ///   may still run; else they are cancelled, and the lock is free when nothing of them runs.
    /// - Returns: from whom it was taken: submissions and paths.
    public func releaseLock(_ key: String, reason: String = "", now: Bool = false) async throws -> [String] {
        // A request that has to be repeated cannot take it from those who come after them.
        let holders = try await locks(key: key).flatMap(\.holders).map(\.operation)
        guard !holders.isEmpty else { return [] }
        let request = WireReleaseLock.with {
            $0.key = key
            $0.holders = holders
            $0.reason = reason
            $0.now = now
        }
        guard case .lockReleased(let released) = try await core.ask(.releaseLock(request)) else { throw RequestLedger.unexpected }
        return released.holders
    }
}
