import Foundation

/// What an operation produces that runs on somebody else's behalf: it does not come to the queue that the operation runs in
/// here, but to the group that it is in there.
extension AOperation {
    /// From now on what the operation produces is kept until ``takeProducts()``, and what it produces under an id of its own
    /// is told at once.
    package final func relayProducts(_ relay: @escaping @Sendable (_ product: Foundation.Operation, _ id: String) -> Void) {
        withAttachments { $0.productRelay = relay }
    }

    /// What it has produced since, in that order, without an id.
    package final func takeProducts() -> [Foundation.Operation] {
        core.withLock { core in
            guard let attachments = core.attachments else { return [] }
            defer { attachments.produced = [] }
            return attachments.produced
        }
    }

    /// Tells the listeners of an operation that it has produced another one, which somebody else has added to its group.
    package final func tellProduct(_ operation: Foundation.Operation) {
        let (observers, handlers) = core.withLock { ($0.observers, $0.produceHandlers) }
        for observer in observers { observer.operation(self, didProduceOperation: operation) }
        for handler in handlers { handler(operation) }
    }

    /// The same of a mirror, behind its start: what it produces at once may be heard of before that is told.
    package final func remoteDidProduce(_ operation: Foundation.Operation) {
        if !core.withLock(\.isStartTold) {
            remoteDidStart()
            tellStart()
        }
        let isHeld = core.withLock { core in
            if core.isStartBeingTold { core.attach().untold.append(operation) }
            return core.isStartBeingTold
        }
        if !isHeld { tellProduct(operation) }
    }

    /// Whether it has produced on somebody else's behalf.
    final var relaysProducts: Bool { attachment(\.productRelay) != nil }

    /// Whether anybody is to be told of it: observers, a delegate, closures.
    package final var hasListeners: Bool {
        core.withLock { core in
            !core.observers.isEmpty || core.delegate != nil || !core.startHandlers.isEmpty || !core.produceHandlers.isEmpty
                || !core.settleHandlers.isEmpty
        }
    }
}
