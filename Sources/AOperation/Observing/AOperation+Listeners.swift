import Foundation

extension AOperation {
    /// Accompanies the operation; held weakly.
    public final var delegate: (any AOperationDelegate)? {
        get { core.withLock { $0.delegate } }
        set { core.withLock { $0.delegate = newValue } }
    }

    /// Adds an observer. Observers are told in the order in which they were added; one that comes after the outcome
    /// was decided is told of the end at once. A ``HoldingObserver`` is told of the end that comes, too.
    public final func addObserver(_ observer: any AOperationObserver) {
        let attemptObserver = observer as? any AttemptObserver
        let holder = (observer as? BlockObserver)?.holder ?? observer as? any HoldingObserver
        let (ending, isLate) = core.withLock { core -> (Ending?, isLate: Bool) in
            guard let ending = core.state.ending else {
                if let attemptObserver {
                    core.attemptObservers.append(attemptObserver)
                } else {
                    core.observers.append(observer)
                }
                guard let holder else { return (nil, false) }
                guard core.attachments?.remote == nil else { return (nil, true) }
                holders.append(holder)
                return (nil, false)
            }
            return (ending, false)
        }
        if isLate { tooLate("an observer of `willFinish`") }
        if let ending { observer.operationDidFinish(self, errors: ending.errors) }
    }

    /// Adds observers, in this order.
    @discardableResult
    public final func observers(_ observers: [any AOperationObserver]) -> Self {
        for observer in observers { addObserver(observer) }
        return self
    }

    /// Adds observers, in this order.
    @discardableResult
    public final func observers(_ observers: any AOperationObserver...) -> Self {
        self.observers(observers)
    }

    /// Calls `startHandler` just before the operation is executed, on the executing thread. An operation that is
    /// cancelled before its start, or whose conditions fail, never starts.
    @discardableResult
    public final func didStart(_ startHandler: @escaping @Sendable () -> Void) -> Self {
        core.withLock { $0.startHandlers.append(startHandler) }
        return self
    }

    /// Calls `produceHandler` with every operation that this operation produces.
    @discardableResult
    public final func didProduce(_ produceHandler: @escaping @Sendable (Foundation.Operation) -> Void) -> Self {
        core.withLock { $0.produceHandlers.append(produceHandler) }
        return self
    }

    /// Calls `handler` once the outcome is decided and observers have been told, on the deciding thread, with the
    /// queue on which callbacks are called; at once when that is past.
    final func onSettled(_ handler: @escaping (AOperation, _ callbacks: DispatchQueue) -> Void) {
        let callbacks = core.withLock { core -> DispatchQueue?? in
            if core.state.isFinished { return .some(core.callbackQueue) }
            core.settleHandlers.append(handler)
            return nil
        }
        if let callbacks { handler(self, callbacks ?? AOperation.callbackQueue) }
    }

    /// Calls `handler` once outcome and body are over, on the ending thread; at once when that is past.
    final func onEnd(_ handler: @escaping (AOperation) -> Void) {
        let isPast = core.withLock { core in
            if core.state.isEnded { return true }
            core.endHandlers.append(handler)
            return false
        }
        if isPast { handler(self) }
    }

    /// The start of an attempt; told to the listeners of the operation as a whole if it is the first that starts.
    final func tellStart() {
        let (observers, whole) = core.withLock { ($0.attemptObservers, $0.isAttempt ? $0.whole : nil) }
        let isFirst = (whole ?? self).core.withLock { $0.beginTellingStart() }  // before the attempt can time out
        for observer in observers { observer.attemptDidStart(self) }
        if isFirst { (whole ?? self).tellFirstStart() }
    }

    /// In this order: delegate, observers, `didStart`. The end is told after that, whoever decides it meanwhile.
    private func tellFirstStart() {
        let (delegate, observers, handlers) = core.withLock { ($0.delegate, $0.observers, $0.startHandlers) }
        delegate?.operationDidStart(self)
        for observer in observers { observer.operationDidStart(self) }
        for handler in handlers { handler() }
        for operation in core.withLock({ $0.startWasTold() }) { tellProduct(operation) }
        if core.withLock({ $0.wasTold() }) { settle() }
    }

    /// The end of an attempt that this operation itself was.
    final func tellAttemptEnd() {
        for observer in core.withLock({ $0.attemptObservers }) { observer.attemptDidEnd(self) }
    }

    /// `willFinish` begins to hold the operation back.
    final func tellHold() {
        for observer in core.withLock({ $0.attemptObservers }) { observer.operationIsHeldBack(self) }
    }
}

/// An observer of every single attempt, not of the operation as a whole. The operation it is told of is the attempt.
protocol AttemptObserver: AOperationObserver {
    func attemptDidStart(_ attempt: AOperation)
    /// Told once the ending of the attempt is known; also of one that never started.
    func attemptDidEnd(_ attempt: AOperation)
    /// The last attempt is over, and `willFinish` holds its ending back; the end of that is told as of an attempt.
    func operationIsHeldBack(_ operation: AOperation)
}
