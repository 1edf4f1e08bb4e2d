import Cluster
import Synchronization
import Wire

/// What happens to workers, as the coordinator has noted it since its start.
final class WorkerFollower: Sendable {
    private enum State {
        /// Up to the event of this number all is known.
        case asking(after: UInt64)
        /// The key may not look at workers, or the coordinator is older than this question.
        case refused
    }

    private let connection: ClusterConnection
    private let state = Mutex(State.asking(after: 0))

    init(_ connection: ClusterConnection) { self.connection = connection }

    /// What was not told yet, the oldest first.
    func news() async throws -> [ClusterEvent] {
        guard case .asking(let last) = state.withLock({ $0 }) else { return [] }
        do {
            let list = try await connection.workerEvents(after: last)
            state.withLock { $0 = .asking(after: max(last, list.last)) }
            return list.events.map { ClusterEvent($0) }
        } catch let error as ClusterError where error.code == .notPermitted || error.code == .malformed {
            state.withLock { $0 = .refused }
            return []
        }
    }
}
