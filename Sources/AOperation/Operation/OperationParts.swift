import Foundation

/// Operations that another one runs as a part of itself: in its queue and its slots, under its locks, without being
/// members of the queue or group that it is in.
///
/// Their ends are told to the closures given here, and nobody else but their own listeners.
final class OperationParts: LaneHost, @unchecked Sendable {
    let whole: AOperation
    private let settled: @Sendable (AOperation) -> Void
    private let ended: @Sendable (AOperation) -> Void

    /// - Parameters:
    ///   - whole: the operation that the parts belong to; it must be in a queue. Held while it has parts.
    ///   - settled: the outcome of a part is decided and its listeners have been told.
    ///   - ended: outcome and body of a part are over.
    init(
        of whole: AOperation,
        settled: @escaping @Sendable (AOperation) -> Void = { _ in },
        ended: @escaping @Sendable (AOperation) -> Void = { _ in }
    ) {
        self.whole = whole
        self.settled = settled
        self.ended = ended
    }

    /// Runs `operation`, and with it its delivery net. One that is in another queue, or has ended, is only waited for.
    func run(_ operation: AOperation) {
        for part in operation.deliveryNet() { enter(part) }
    }

    private func enter(_ part: AOperation) {
        part.core.withLock { core in if core.whole == nil { core.whole = whole } }
        guard let membership = whole.core.withLock({ $0.membership }) else {
            part.cancel()
            return observe(part)
        }
        if !part.enter(membership.lane, of: self, announcement: .due, epoch: membership.epoch) { observe(part) }
    }

    /// A part that another queue runs, or that was cancelled before it was in any.
    private func observe(_ part: AOperation) {
        part.onSettled { [self] part, _ in settled(part) }
        part.onEnd { [self] part in ended(part) }
    }

    func memberSettled(_ operation: Foundation.Operation, errors: [AOperationError]) {
        if let operation = operation as? AOperation { settled(operation) }
    }

    func memberEnded(_ operation: Foundation.Operation) {
        if let operation = operation as? AOperation { ended(operation) }
    }

    /// What a part produces is produced by the whole.
    func addProduced(_ operation: Foundation.Operation) { whole.produce(operation) }

    func runPlain(_ operation: Foundation.Operation) {
        preconditionFailure("\(operation) is no AOperation: only those are parts of another operation")
    }
}

extension AOperation {
    /// Gives the slot back while the operation waits for its parts.
    final func giveUpSlot() {
        let lane = core.withLock { core -> Lane? in
            guard core.holdsSlot else { return nil }
            core.holdsSlot = false
            return core.membership?.lane
        }
        lane?.returnSlot()
    }
}
