import Foundation

/// Operations that another one runs as a part of itself: in its queue and its slots, under its locks, without being
/// members of the queue or group that it is in.
///
/// Their ends are told to the closures given here, and nobody else but their own listeners.
///
/// Invariant behind `@unchecked Sendable`: constant.
final class OperationParts: LaneHost, @unchecked Sendable {
    let whole: AOperation
    private let settled: @Sendable (AOperation) -> Void
    private let ended: @Sendable (AOperation) -> Void
    private let allEnded: @Sendable () -> Void

    /// - Parameters:
    ///   - whole: the operation that the parts belong to; it must be in a queue. Held while it has parts.
    ///   - settled: the outcome of a part is decided and its listeners have been told.
    ///   - ended: outcome and body of a part are over.
    ///   - allEnded: no part of the whole is left.
    init(
        of whole: AOperation,
        settled: @escaping @Sendable (AOperation) -> Void = { _ in },
        ended: @escaping @Sendable (AOperation) -> Void = { _ in },
        allEnded: @escaping @Sendable () -> Void = {}
    ) {
        self.whole = whole
        self.settled = settled
        self.ended = ended
        self.allEnded = allEnded
    }

    /// Runs `operation`, and with it its delivery net. One that is in another queue, or has ended, is only waited for.
    func run(_ operation: AOperation) {
        run([operation]) { _ in true }
    }

    /// Runs `operations`, with their delivery nets and with the dependencies that are in no queue yet, if `isWanted`
    /// says so; that is asked under the lock of the whole, which knows its parts from then on. If they are not wanted,
    /// they are cancelled, with their delivery nets. What they only depend on is left to the program.
    ///
    /// - Returns: whether they were wanted.
    @discardableResult
    func run(_ operations: [AOperation], if isWanted: (inout OperationCore) -> Bool) -> Bool {
        var parts: [AOperation] = []
        var known: Set<ObjectIdentifier> = []
        var isScoped = false
        for operation in operations {
            let belongings = operation.unqueuedDependencies()
            if RetryScope.assign(to: belongings) { isScoped = true }
            parts += belongings.filter { known.insert(ObjectIdentifier($0)).inserted }
        }
        // Before anything is done to them: who was not wanted must find the dependencies as if nobody had asked for them.
        let isListed = whole.core.withLock { core in
            guard isWanted(&core) else { return false }
            for part in parts { core.parts.append(part) }
            core.takingParts += 1
            return true
        }
        guard isListed else {
            let nets = Set(operations.flatMap { $0.deliveryNet() }.map { ObjectIdentifier($0) })
            for part in parts.reversed() where nets.contains(ObjectIdentifier(part)) { part.cancel() }
            return false
        }
        for part in parts {
            part.core.withLock { core in
                if core.whole == nil, core.state.isInitialized { core.whole = whole }
            }
        }
        let isOver = whole.core.withLock { core in
            core.takingParts -= 1
            return core.verdict != nil
        }
        RetryScope.foresee(parts)
        let lane = whole.core.withLock { $0.membership?.lane } ?? .outside
        lane.enterTogether(isScoped) {
            for part in parts { enter(part) }
        }
        if isOver { whole.stopParts() }
        return true
    }

    private func enter(_ part: AOperation) {
        guard let membership = whole.core.withLock({ $0.membership }) else {
            part.cancel()
            return observe(part)
        }
        guard !part.enter(membership.lane, of: self, announcement: .due, epoch: membership.epoch) else { return }
        whole.checkPart(part)
        observe(part)
    }

    /// A part that another queue runs, or that was cancelled before it was in any.
    private func observe(_ part: AOperation) {
        part.onSettled { [self] part, _ in settled(part) }
        part.onEnd { [self] part in end(part) }
    }

    private func end(_ part: AOperation) {
        let isLast = whole.core.withLock { core in
            core.parts.remove(part) && core.parts.isEmpty
        }
        // Those of parts of parts, however deep they are, end one after another.
        Trampoline.run { [self] in
            ended(part)
            if isLast { allEnded() }
        }
    }

    func memberSettled(_ operation: Foundation.Operation, errors: [AOperationError]) {
        if let operation = operation as? AOperation { settled(operation) }
    }

    func memberEnded(_ operation: Foundation.Operation) {
        if let operation = operation as? AOperation { end(operation) }
    }

    /// What a part produces is produced by the whole.
    func addProduced(_ operation: Foundation.Operation, id: String?) {
        if let id { whole.handOver(operation, id: id) } else { whole.takeProduced(operation) }
    }

    func claimProduced(_ id: String) -> Bool? { whole.claimProduced(id) }

    func runPlain(_ operation: Foundation.Operation) {
        preconditionFailure("\(operation) is no AOperation: only those are parts of another operation")
    }
}

extension AOperation {
    /// Gives the slot back while the operation waits for its parts, or between attempts. A group that has not begun has
    /// none, but may hold one for a child that did not let itself be cancelled.
    final func giveUpSlot() {
        let (lane, isHeld) = core.withLock { core in
            defer { core.holdsSlot = false }
            return (core.membership?.lane, core.holdsSlot)
        }
        let reclaimed = reclaimSlot(isHeld)
        lane?.giveUpSlot(from: reclaimed.isRunning, returning: reclaimed.hasSlot)
    }
}
