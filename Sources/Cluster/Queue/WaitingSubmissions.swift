import AOperation
import Executing
import Foundation
import Synchronization

/// Submissions of this process that have not been handed over, because they wait for operations that are in none of their graphs.
///
/// All of such a submission waits until these have ended, which an operation in it may not need: so two of them can wait for each other although
/// no operation waits for itself.
final class WaitingSubmissions: Sendable {
    static let shared = WaitingSubmissions()

    /// By each operation of a submission that waits, what it waits for.
    private let waiting = Mutex<[ObjectIdentifier: [Foundation.Operation]]>([:])

    /// - Returns: why the graph cannot wait; nil: it waits, if it has to, until it leaves.
    /// - Complexity: O(what is waited for, directly or not), for a graph that waits; else O(1).
    func enter(_ graph: OperationGraph) -> ClusterError? {
        guard !graph.outside.isEmpty else { return nil }
        let own = Set(graph.members.compactMap(\.operation).map(ObjectIdentifier.init))
        return waiting.withLock { waiting in
            var seen: Set<ObjectIdentifier> = []
            var pending = graph.outside
            while let next = pending.popLast() {
                let id = ObjectIdentifier(next)
                if own.contains(id) { return Self.circle(graph, next) }
                guard seen.insert(id).inserted else { continue }
                pending += (next as? AOperation)?.prerequisites ?? next.dependencies
                pending += waiting[id] ?? []
            }
            for id in own { waiting[id] = graph.outside }
            return nil
        }
    }

    /// It has been handed over, or given up.
    func leave(_ graph: OperationGraph) {
        guard !graph.outside.isEmpty else { return }
        waiting.withLock { waiting in
            for operation in graph.members.compactMap(\.operation) { waiting[ObjectIdentifier(operation)] = nil }
        }
    }

    private static func circle(_ graph: OperationGraph, _ operation: Foundation.Operation) -> ClusterError {
        let name = (operation as? AOperation)?.errorName ?? operation.name ?? "\(type(of: operation))"
        return ClusterError(
            .refused,
            """
            `\(name)` is waited for by another submission, for all of which this one has to wait before it is handed over; add both at once, \
            with one `addOperations` or in one group, or take a dependency off
            """)
    }
}
