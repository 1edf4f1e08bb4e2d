/// How long an operation has waited for an attempt of it to begin: from when nothing but conditions, locks and a worker was in its way.
///
/// For those who trace: nothing is decided by it, and it is told before the facts that it follows from are durable.
public struct OperationWait: Hashable, Sendable {
    /// As users see it.
    public var submission: String
    public var path: String
    /// The name of its type; of a closure of its submitter `hosted`.
    public var type: String
    /// From 1.
    public var attempt: Int
    /// Who has begun it.
    public var worker: String
    /// Milliseconds since 1970.
    public var from: Int64
    public var to: Int64
    /// Of its submission; never empty.
    public var trace: TraceContext
}

extension Scheduler {
    /// The worker has begun an attempt of the unit, which is told once: when it says so, or with the attempt's end.
    mutating func tellWait(of unit: UnitID, until startedAt: Int64, on worker: WorkerNumber, _ outputs: inout Outputs) {
        guard tellsWaits, startedAt > 0 else { return }
        let index = durable.index(of: unit.submission)
        guard !durable.submissions[index].trace.isEmpty else { return }
        let node = durable.submissions[index].node(unit.index)
        guard case .operation(let operation) = node.kind else { return }
        let state = durable.submissions[index].units[unit.index]
        guard state.queuedAt > 0, !state.isEvaluating, !durable.submissions[index].isConcluding(unit.index) else { return }
        let identity = durable.workers[worker.index].identity
        outputs.waits.append(
            OperationWait(
                submission: durable.submissions[index].id, path: durable.submissions[index].path(of: unit.index),
                type: node.isHosted ? Self.hostedType : operation.type, attempt: Int(state.attempts),
                worker: identity.isSubmitter ? "submitter" : identity.name,
                // A worker's clock may be behind.
                from: min(state.queuedAt, startedAt), to: startedAt, trace: durable.submissions[index].trace))
    }
}
