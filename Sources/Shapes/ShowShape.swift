import Cluster
import Wire

/// Which operations of a submission are listed.
package enum ShownOperations: String, CaseIterable, Sendable { case none, failed, all }

extension SubmissionResult {
    /// What `show` has besides the members of a result.
    package func showMembers(_ operations: ShownOperations) -> [(String, JSONValue)] {
        let shown = self.operations.depthFirst().map(\.view).filter { view in
            switch operations {
            case .none: false
            case .failed: view.state == .failed && !view.path.isEmpty
            case .all: !view.path.isEmpty
            }
        }
        var paths: [UInt32: String] = [:]
        for node in self.operations.nodes { paths[node.view.unit] = node.view.path }
        return [
            ("submittedAt", .time(submission.submittedAt)), ("finishedAt", .time(submission.finishedAt)),
            ("principal", .optional(submission.principal)),
            ("cancelReason", .optional(submission.cancelReason)),
            ("operations", .array(shown.map { $0.json(producedBy: $0.added.hasProducer ? paths[$0.added.producer] : nil) })),
        ]
    }
}
