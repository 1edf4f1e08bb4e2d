import Foundation

extension GroupOperation {
    /// A group of these children, in this order.
    public convenience init(operations: Foundation.Operation...) {
        self.init(operations: operations)
    }

    // MARK: What subclasses of the library ask of the children

    /// Whether children that are added now are run: it has not been cancelled, stopped or timed out.
    final var takesMore: Bool { roster.withLock { $0.takesMore } }

    /// Whether its children run elsewhere: it is a mirror, or only asked what comes next.
    final var runsElsewhere: Bool { roster.withLock { $0.isMirrored } }

    /// Whether `operation` is a child.
    final func isChild(_ operation: Foundation.Operation) -> Bool { roster.withLock { $0.contains(operation) } }

    /// Somebody has seen how this child ends and went on: see ``GroupRoster/ending``.
    ///
    /// - Parameter isListed: whether its errors are among the group's if that fails all the same.
    final func forgive(_ operation: Foundation.Operation, isListed: Bool = true) {
        _ = DecisionCapture.keep(for: self) { $0.forgiven.append(operation) }
        roster.withLock { $0.forgive(operation, isListed: isListed) }
    }
}

/// A group may be the delegate of a queue: it hears of what ends there as of its children, and does not wait for it. (Its
/// children it runs itself, in the queue that it is in; it needs to be nobody's delegate for that.)
extension GroupOperation: AOperationQueueDelegate {
    /// Does nothing.
    public final func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation) {}

    /// Calls ``operationDidFinish(_:withErrors:)``, unless it is the group itself, or a child, of which it hears anyhow.
    public final func operationQueue(
        _ queue: AOperationQueue, operationDidFinish operation: Foundation.Operation, withErrors errors: [AOperationError]
    ) {
        guard operation !== self, !isChild(operation) else { return }
        operationDidFinish(operation, withErrors: errors)
    }
}
