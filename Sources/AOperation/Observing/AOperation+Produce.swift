import Foundation

extension AOperation {
    /// Hands a new operation to the `AOperationQueue` or group that this operation is in, and tells the observers. An
    /// operation that is in none of these, or in a plain Foundation queue, only tells them: they run it.
    ///
    /// At once; but an operation that may be tried again (``retry(_:)``, or the end of its delivery net does so) keeps what
    /// it produces until it has succeeded. What an attempt that fails has produced is cancelled, so that it is there once,
    /// however many attempts there are. Use ``produce(_:id:)`` if this operation waits for what it produces.
    ///
    /// Of an operation that runs on a cluster, also of one that executes in the process that submitted it, what an attempt
    /// produces is sent with its success, and becomes a child of the group that the operation is in there, or of the
    /// submission. What cannot be sent makes the attempt fail. On a worker `operation` itself is only what is sent: it ends
    /// there as cancelled, and must have no listeners.
    ///
    /// Once this operation has finished (``isFinished``) it is too late, even for its `didFinish` listeners: `operation`
    /// is cancelled, with an error line, and nobody is told.
    public final func produce(_ operation: Foundation.Operation) {
        if isLateToProduce { refuse(operation) } else { takeProduced(operation) }
    }

    /// Like ``produce(_:)``, but at once, also if this operation may be tried again: what another attempt produces under
    /// the same id is the same to it.
    ///
    /// Do not wait, in the body, for what is produced behind a barrier of the queue: the barrier waits for this operation.
    ///
    /// - Parameter id: what `operation` is called in the group that this operation is in; outside of groups, among what
    ///   this operation produces.
    /// - Returns: false if there is one of this id already, or it is too late: `operation` is cancelled then, and nobody is
    ///   told. Of an operation that runs on a cluster: false if this attempt has produced one of this id; what others have
    ///   is known there only, and what comes second is left out.
    @discardableResult
    public final func produce(_ operation: Foundation.Operation, id: String) -> Bool {
        guard !isLateToProduce else {
            refuse(operation)
            return false
        }
        guard claimProduced(id) else {
            discard(operation)
            return false
        }
        handOver(operation, id: id)
        return true
    }

    /// Once it has finished; and once another attempt, an operation of its own, has taken its place.
    private var isLateToProduce: Bool { core.withLock { $0.state.isFinished || $0.state.isRetrying } }

    private func refuse(_ operation: Foundation.Operation) {
        discard(operation)
        Debugger.error("the operation \(publisherName), which has ended, produced another one; it is cancelled")
    }

    /// What it, or an attempt of it, produces.
    final func takeProduced(_ operation: Foundation.Operation) {
        let isMember = core.withLock { $0.retryScope }?.isMember(self) == true
        let fate = core.withLock { core in
            guard core.retryDecider != nil || isMember || core.attachments?.productRelay != nil else { return Fate.handedOver }
            // Its outcome may be known while its body goes on.
            switch core.state.ending {
            case .success?: return .handedOver
            case .failure?, .cancelled?: return .refused
            case nil: break
            }
            core.attach().produced.append(operation)
            return .held
        }
        switch fate {
        case .held: break
        case .handedOver: handOver(operation, id: nil)
        case .refused: refuse(operation)
        }
    }

    /// What becomes of a product.
    private enum Fate {
        /// It waits for the outcome of the operation that made it.
        case held
        case handedOver
        case refused
    }

    /// - Parameter id: under which it is there whatever becomes of this operation: those around it do not hold it either.
    final func handOver(_ operation: Foundation.Operation, id: String?) {
        let (isLate, host, relay) = core.withLock { core in
            (core.state.isFinished, core.membership?.host, core.attachments?.productRelay)
        }
        guard !isLate else { return refuse(operation) }
        if let relay, let id {
            // Of what runs elsewhere its listeners are told when it is there.
            if !isMirror { tellProduct(operation) }
            return relay(operation, id)
        }
        tellProduct(operation)
        if relay == nil { host?.addProduced(operation, id: id) }
    }

    /// Ends what comes to no queue. It may receive from this operation, which goes on.
    final func discard(_ operation: Foundation.Operation) {
        let whole = logical
        (operation as? AOperation)?.core.withLock { core in
            core.producers.removeAll { $0 === self || $0 === whole }
        }
        operation.cancelUnqueued()
    }

    /// Whether nothing was produced under this id.
    final func claimProduced(_ id: String) -> Bool {
        if let answer = core.withLock({ $0.membership?.host })?.claimProduced(id) { return answer }
        return core.withLock { $0.attach().producedIDs.insert(id).inserted }
    }

    /// The outcome is decided, or another attempt follows: what was held is handed over, or cancelled.
    final func settleProduced(isSuccess: Bool) {
        if isSuccess, relaysProducts, !isMirror {
            // Whoever this operation runs for takes them.
            for operation in core.withLock({ $0.attachments?.produced ?? [] }) { tellProduct(operation) }
            return
        }
        for operation in takeProducts() {
            // What the body of a mirror produces after its end is known to nobody.
            if isSuccess, !relaysProducts { handOver(operation, id: nil) } else { discard(operation) }
        }
    }
}

extension Foundation.Operation {
    /// Cancels an operation that comes to no queue, so that those who depend on it hear of its end.
    package final func cancelUnqueued() {
        let wasCancelled = isCancelled
        let operation = self as? AOperation
        let isAsked = operation?.core.withLock { $0.wasAsked } == true  // cancelling asks, too
        cancel()
        if let operation {
            if !isAsked { operation.announceUnasked() }
        } else if !wasCancelled, !isFinished, !isExecuting {
            // One that was cancelled before may have come here before, as several attempts can produce the same.
            PlainOperations.queue.addOperation(self)
        }
    }
}
