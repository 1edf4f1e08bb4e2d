import Foundation

extension AOperation {
    /// Counts this operation among those whose wait leads out of a lock's scope, or that have joined another one.
    final func noteCrossing() {
        let isNew = core.withLock { core in
            guard !core.isCrossing, !core.state.isEnded else { return false }
            core.isCrossing = true
            return true
        }
        guard isNew else { return }
        WaitForGraph.add(crossing: self)
        onEnd { WaitForGraph.remove(crossing: $0) }
    }

    /// Inside of the scope of a lock, `request` asks for one that the nearest holder does not lend; or it borrows what a retry
    /// scope keeps, which does not come back before this operation has ended, whatever the end of that scope does.
    final func noteCrossing(asking request: LockRequest) {
        if request.lenders.contains(where: \.isKept) { return noteCrossing() }
        guard let holder = enclosing?.nearestHolder else { return }
        if request.locks.keys.contains(where: { $0.scope != holder.request.id }) { noteCrossing() }
    }

    /// Looks whether what an operation that has not started waits for, its dependencies and the barrier that it is behind, closes a
    /// circle. It fails then; or, if there is one in it that has joined another one, that one does not join any more.
    ///
    /// To be called while the operation is kept from starting.
    final func checkDependencies() {
        let (membership, isInside) = core.withLock { ($0.membership, !$0.waiters.isEmpty || $0.group != nil || $0.whole != nil) }
        let isAwaited = isContainer || isInside
        guard let membership else { return }
        let lane = membership.lane.root
        DependencyCircles.pay(into: lane)
        guard WaitForGraph.mayHaveCircles || isAwaited else { return }
        let open = core.withLock { core -> [Foundation.Operation] in
            if case .waiting(let unmet) = core.state, unmet > 1 { core.dependencies.all } else { [] }
        }
        guard !open.isEmpty || membership.lane.hasBarrier(before: membership.epoch) else { return }
        if let holder = enclosing?.nearestHolder?.operation, open.contains(where: { !$0.isInside(holder, like: self) }) {
            noteCrossing()
        }
        if WaitForGraph.mayHaveCircles, isWaitedFor, !LateCircleCheck.join(self) {
            switch WaitForGraph.mayCloseCircle(self) {
            case false?: break
            case true?: guard openCircles() else { return }
            case nil: LateCircleCheck.begin(with: self)
            }
        }
        while let circle = DependencyCircles.circle(through: self, paidBy: lane) {
            // Somebody in it may have begun to fail meanwhile: there may be another one.
            if failWithDependencyCycle(circle) || DependencyCircles.isEnding(self) { return }
        }
    }

    /// Opens the circles that have a lock in them, or one that has joined another one: by failing, if there is no other way.
    ///
    /// To be called while the operation is kept from starting.
    ///
    /// - Parameters:
    ///   - isOthers: whether a circle is left to somebody else.
    ///   - leave: what is done then.
    /// - Returns: whether it has not failed.
    @discardableResult
    final func openCircles(
        unlessIn isOthers: (WaitForGraph.Circle) -> Bool = { _ in false }, then leave: (AOperation) -> Void = { _ in }
    ) -> Bool {
        while let circle = WaitForGraph.circle(through: self) {
            guard !isOthers(circle) else {
                leave(self)
                return true
            }
            if let joiner = circle.joiner {
                joiner.stopJoining()
            } else if !circle.letBorrow(), WaitForGraph.isClosed(through: self) || !circle.letOvertake() {
                guard circle.keys.isEmpty else {
                    failWithLockCycle(circle)
                    return false
                }
                return true
            }
        }
        return true
    }

    /// Keeps the operation from starting until ``dependencyEnded()``; false if it waits for no dependency.
    final func waitOnceMore() -> Bool {
        core.withLock { core in
            guard case .waiting(let unmet) = core.state else { return false }
            core.state = .waiting(unmet: unmet + 1)
            return true
        }
    }

    /// To be called while the operation is kept from starting.
    ///
    /// - Returns: false: somebody else in it is about to fail, or this one was.
    @discardableResult
    final func failWithDependencyCycle(_ circle: WaitForGraph.Circle) -> Bool {
        guard DependencyCircles.mayFail(self, in: circle) else { return false }
        failBeforeExecution([AOperationError(AOperationError.DependencyCycle(self, circle)).published(by: publisherName)])
        DependencyCircles.failed(self)
        return true
    }

    /// Looks whether a circle is closed as this operation comes to wait for `part`, which somebody else runs, or which is
    /// a plain operation: that cannot look for itself.
    final func checkPart(_ part: Foundation.Operation) {
        guard !part.isOver, part is AOperation || part.dependencies.contains(where: \.isToBeHeardOf) else { return }
        if nearestHolder != nil { noteCrossing() }
        Self.resolve { WaitForGraph.circle(from: part, to: self) }
    }

    /// Looks whether a circle is closed as locks come to be kept until the end of this operation: also for those who wait in line
    /// behind somebody who waits for them.
    final func checkKeptLocks() {
        Self.resolve { WaitForGraph.circle(through: self) }
    }

    /// Looks whether the dependencies of an operation that is in a Foundation queue close a circle.
    final func checkInFoundationQueue() {
        guard WaitForGraph.mayHaveCircles else { return }
        Self.resolve { WaitForGraph.circle(through: self) }
    }

    /// Lets those who wait for locks, or have joined another operation, find their own way out of circles.
    static func resolve(_ circle: () -> WaitForGraph.Circle?) {
        while let circle = circle() {
            if let joiner = circle.joiner {
                joiner.stopJoining()
            } else if let request = circle.askers.first {
                request.operation?.checkRequest(request)
                // If it waits no more somebody else saw to it in this moment: there may be other circles.
                guard request.operation?.core.withLock({ $0.lockRequest }) !== request || !LockTable.shared.isWaiting(request) else {
                    return
                }
            } else {
                return
            }
        }
    }

    private func failWithLockCycle(_ circle: WaitForGraph.Circle) {
        failBeforeExecution([AOperationError(AOperationError.LockCycle(self, circle)).published(by: publisherName)])
    }
}

extension Foundation.Operation {
    /// Whether plain operations have not heard of its end.
    fileprivate var isToBeHeardOf: Bool {
        !isOver || (self as? AOperation)?.core.withLock(\.isInNoQueue) == true
    }

    /// Whether it is inside of `holder`, as `other` is.
    fileprivate func isInside(_ holder: AOperation, like other: AOperation) -> Bool {
        guard let operation = self as? AOperation else { return false }
        if let enclosing = operation.enclosing, enclosing === other.enclosing { return true }
        return operation.enclosingOperations.contains { $0 === holder }
    }
}

extension WaitForGraph.Circle {
    /// Lets those who wait for locks in it ask again, if somebody lends them these by now. Whether there are such.
    func letBorrow(besides known: LockRequest? = nil) -> Bool {
        let late = askers.filter { $0 !== known && $0.operation?.findsLender(for: $0) == true }
        for request in late { request.operation?.askAgain(inPlaceOf: request) }
        return !late.isEmpty
    }

    /// Lets those who wait for locks in it go before others who came earlier. Whether there are such.
    fileprivate func letOvertake() -> Bool {
        let late = askers.filter { !$0.isFirst && $0.operation != nil }
        for request in late { request.operation?.askAgain(inPlaceOf: request, isFirst: true) }
        return !late.isEmpty
    }
}
