import Wire

/// A submission with everything its operations gave.
package struct SubmissionResult: Sendable {
    package var submission: WireSubmissionView
    /// All operations, with the values of those that succeeded; large values by reference (`ClusterConnection.read`).
    package var operations: OperationTree

    package init(submission: WireSubmissionView, operations: OperationTree) {
        self.submission = submission
        self.operations = operations
    }

    /// The failures, one entry per failed operation, in child order.
    package var failures: [FailedOperation] { operations.failures }
}

/// An operation that ended with errors.
package struct FailedOperation: Sendable {
    package var path: String
    /// The first one leads; never empty.
    package var errors: [WireOperationFailure]
}

extension OperationTree {
    /// One entry per failed operation, in child order. A group has an entry only for errors of its own (its timeout),
    /// which none of its children has.
    package var failures: [FailedOperation] {
        depthFirst().compactMap { node in
            guard node.view.state == .failed, !node.view.errors.isEmpty else { return nil }
            return FailedOperation(path: node.view.path, errors: node.view.errors)
        }
    }
}

extension ClusterConnection {
    /// The outcome of a submission, or of the operation or group at `path` within it, with all values.
    ///
    /// It does not wait: of work that goes on it gives what there is.
    package func result(of id: String, path: String = "") async throws -> SubmissionResult {
        let submission = try await show(id)
        var views: [WireOperationView] = []
        for try await page in operations(of: submission.id, path: path, withValues: true) { views += page }
        return SubmissionResult(submission: submission, operations: OperationTree(views))
    }

    /// What has failed in a submission, in child order, and nothing else of it.
    package func failures(of id: String) async throws -> [FailedOperation] {
        var views: [WireOperationView] = []
        for try await page in operations(of: id, failedOnly: true) { views += page }
        return OperationTree(views, isPartial: true).failures
    }

    /// Waits until the submission has its outcome, across restarts of the coordinator, and gives its final view.
    package func outcome(of id: String) async throws -> WireSubmissionView {
        try await outcome(of: id, in: core.follow(id, .end))
    }

    /// As ``outcome(of:)``, where it is followed already.
    func outcome(of id: String, in events: FollowedEvents) async throws -> WireSubmissionView {
        try await ClusterSpan.wait(for: id, state: { ("\($0.state)", $0.state == .succeeded) }) {
            try await Self.outcome(in: events)
        }
    }

    /// The final view among what a follower is told.
    private static func outcome(in events: FollowedEvents) async throws -> WireSubmissionView {
        for try await event in events {
            switch event {
            case .view(let view), .events(_, let view): if view.state.isFinal { return view }
            case .interrupted: break
            }
        }
        throw CancellationError()
    }
}
