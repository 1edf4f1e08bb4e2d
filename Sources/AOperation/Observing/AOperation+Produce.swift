import Foundation

extension AOperation {
    /// Hands a new operation to the `AOperationQueue` or group that this operation is in, and tells the observers. An
    /// operation that is in none of these, or in a plain Foundation queue, only tells them: they run it.
    ///
    /// At once; but an operation that may be tried again (``retry(_:)``, or the end of its delivery net does so) keeps what
    /// it produces until it has succeeded. What an attempt that fails has produced is cancelled, so that it is there once,
    /// however many attempts there are. Use ``produce(_:id:)`` if this operation waits for what it produces.
    ///
    /// Once this operation has finished (``isFinished``) it is too late, even for its `didFinish` listeners: `operation`
    /// is cancelled, with an error line, and nobody is told.
    public final func produce(_ operation: Foundation.Operation) {
        let scope = core.withLock { $0.retryScope }
        let isHeld = core.withLock { core in
            guard core.retryDecider != nil || scope?.isMember(self) == true, core.state.ending == nil else { return false }
            core.attach().produced.append(operation)
            return true
        }
        if !isHeld { handOver(operation, isCertain: false) }
    }

    /// Like ``produce(_:)``, but at once, also if this operation may be tried again: what another attempt produces under
    /// the same id is the same to it.
    ///
    /// - Parameter id: what `operation` is called in the group that this operation is in; outside of groups, among what
    ///   this operation produces.
    /// - Returns: false if there is one of this id already: `operation` is cancelled then, and nobody is told.
    @discardableResult
    public final func produce(_ operation: Foundation.Operation, id: String) -> Bool {
        guard claimProduced(id) else {
            operation.cancel()
            return false
        }
        handOver(operation, isCertain: true)
        return true
    }

    /// - Parameter isCertain: whether it is not to be held by those around this operation either.
    final func handOver(_ operation: Foundation.Operation, isCertain: Bool) {
        let (isLate, observers, handlers, host) = core.withLock { core in
            (core.state.isFinished, core.observers, core.produceHandlers, core.membership?.host)
        }
        guard !isLate else {
            operation.cancel()
            Debugger.error("the operation \(publisherName), which has ended, produced another one; it is cancelled")
            return
        }
        for observer in observers { observer.operation(self, didProduceOperation: operation) }
        for handler in handlers { handler(operation) }
        host?.addProduced(operation, isCertain: isCertain)
    }

    /// Whether nothing was produced under this id.
    final func claimProduced(_ id: String) -> Bool {
        if let answer = core.withLock({ $0.membership?.host })?.claimProduced(id) { return answer }
        return core.withLock { $0.attach().producedIDs.insert(id).inserted }
    }

    /// The outcome is decided, or another attempt follows: what was held is handed over, or cancelled.
    final func settleProduced(isSuccess: Bool) {
        let produced = core.withLock { core -> [Foundation.Operation] in
            guard let attachments = core.attachments else { return [] }
            defer { attachments.produced = [] }
            return attachments.produced
        }
        for operation in produced {
            if isSuccess { handOver(operation, isCertain: false) } else { operation.cancel() }
        }
    }
}
