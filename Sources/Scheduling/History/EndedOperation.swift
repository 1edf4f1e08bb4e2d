/// What is kept of an operation for good, when its submission has ended.
public struct EndedOperation: Hashable, Sendable {
    public var unit: Int
    public var path: String
    public var kind: OperationView.Kind
    /// Empty: it is a group.
    public var type: String
    public var state: OperationState
    public var attempts: Int
    /// Who got its last attempt; empty: nobody did.
    public var worker: String
    /// Milliseconds since 1970; 0: it did not come to that.
    public var queuedAt: Int64
    public var startedAt: Int64
    public var finishedAt: Int64
    /// The first of its errors.
    public var failure: Failure?
}

/// A run of the operations of a submission that has ended.
public struct EndedOperations: Hashable, Sendable {
    public var operations: [EndedOperation]
    /// Where the rest begins; nil: there is none.
    public var next: Int?
}

extension Scheduler {
    /// All that there are which have ended, rising.
    public var endedSubmissions: [(number: SubmissionNumber, id: String, endedAt: Int64)] {
        durable.submissions.indices.compactMap { index in
            guard durable.submissions[index].outcome != nil else { return nil }
            let submission = durable.submissions[index]
            return (submission.number, submission.id, submission.units[0].finishedAt)
        }
    }

    /// A submission that has ended; nil: it is known no more.
    public func endedSubmission(_ number: SubmissionNumber) -> SubmissionView? {
        durable.isForgotten(number) ? nil : view(of: number)
    }

    /// Why a submission has failed: the first of its errors; nil: it has not, or is known no more.
    ///
    /// - Complexity: O(its units).
    public func failure(of number: SubmissionNumber) -> Failure? {
        durable.isForgotten(number) ? nil : durable.submissions[durable.index(of: number)].failures(of: 0).first
    }

    /// What came of the units of a submission that has ended, from `unit` on; nil: it is known no more.
    ///
    /// - Parameter limit: how many units are looked at, at most.
    /// - Complexity: O(limit).
    public func endedOperations(of number: SubmissionNumber, from unit: Int, limit: Int) -> EndedOperations? {
        guard !durable.isForgotten(number) else { return nil }
        let index = durable.index(of: number)
        let end = min(unit + limit, durable.submissions[index].units.count)
        return EndedOperations(
            operations: (unit..<max(unit, end)).compactMap { endedOperation($0, index) },
            next: end < durable.submissions[index].units.count ? end : nil)
    }

    func endedOperation(_ unit: Int, _ index: Int) -> EndedOperation? {
        let state = durable.submissions[index].units[unit]
        guard state.phase != .dropped else { return nil }
        var operation = EndedOperation(
            unit: unit, path: durable.submissions[index].path(of: unit), kind: .operation, type: "",
            state: operationState(of: state, isPaused: false), attempts: Int(state.attempts),
            worker: state.lastWorker.map { durable.workers[$0.index].identity.name } ?? "",
            queuedAt: durable.submissions[index].shownQueuedAt(of: unit), startedAt: state.startedAt,
            finishedAt: state.finishedAt)
        switch durable.submissions[index].node(unit).kind {
        case .operation(let node): operation.type = node.type
        case .group(let group): operation.kind = group.isOrdered ? .ordered : .group
        case .forEach: operation.kind = .forEach
        case .decider: return nil
        }
        if case .ended(.failure(let failures)) = state.phase { operation.failure = failures.first }
        return operation
    }
}
