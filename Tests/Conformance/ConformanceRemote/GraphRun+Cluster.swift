import AOperation
import Cluster
import Conformance
import ConformanceOperations
import Foundation

extension GraphRun {
    /// Adds the graph to a cluster, and cancels, pauses, resumes and submits again what is to be meanwhile.
    package func start(on cluster: ClusterQueue) {
        guard !plan.pauses.isEmpty || plan.isSubmittedTwice else { return start(on: cluster as AOperationQueue) }
        let root = root
        let key = plan.isSubmittedTwice ? "graph-\(UUID())" : nil
        let (turn, begin) = AsyncStream.makeStream(of: Void.self)
        let submission = Task {
            for await _ in turn { break }
            return try await cluster.submit(root, key: key)
        }
        if plan.isSubmittedTwice {
            submitAgain { again in
                _ = try await submission.value
                let second = try await cluster.submit(again, key: key)
                _ = try await second.outcome()
                return second.isExisting
            }
        }
        start(pausing: { [plan] node, pauses in
            guard let submission = try? await submission.value else { return false }
            let path = plan.path(of: node)
            let steering = pauses ? try? await submission.pause(path: path) : try? await submission.resume(path: path)
            return steering.map { !$0.alreadyEnded } ?? false
        }) { _ in
            // What is cancelled before it is added has been.
            begin.yield()
        }
    }
}

extension GraphPlan {
    /// What a cluster calls a node, whose names are unique.
    fileprivate func path(of node: Int) -> String {
        ([node] + ancestors(of: node)).dropLast().reversed().map(Self.name).joined(separator: "/")
    }
}
