import Foundation

/// Somebody who waits for the end of an operation.
protocol Waiter: AnyObject {
    /// One of the operations it waits for has ended, for good.
    func dependencyEnded()
    /// Whether it still does: one that was cancelled, or has ended, is to be told nevertheless.
    var stillWaits: Bool { get }
}

extension AOperation: Waiter {
    /// Puts the operation into a lane. An operation that is, or was, in one already is left as it is.
    ///
    /// - Returns: whether the operation is a member of the lane now.
    @discardableResult
    final func enter(
        _ lane: Lane, of host: (any LaneHost)?, announcement: OperationCore.Announcement, isInline: Bool = false,
        epoch: UInt64? = nil
    ) -> Bool {
        var isBehindBarrier = false
        let (entrance, hasDeadline, stream) = core.withLock { core in
            (
                core.admit(announcement) {
                    let membership = lane.insert(.operation(self), of: host, epoch: epoch)
                    isBehindBarrier = membership.epoch > 0
                    return membership
                },
                core.timeLimits.deadline != nil, core.attachments?.stream
            )
        }
        switch entrance {
        case .admitted(let wanted, let areDeclared):
            defer { if areDeclared { wanted.withdrawDeclaration() } }  // it waits for them by now, or never will
            // It counts for one that joins another one, too. One whose time is over goes on to wait, for its end.
            guard !hasDeadline || startDeadline() else {
                if host != nil { Debugger.event(.added, of: self) }
                return true
            }
            if let duplicate = claimUniqueId() {
                endAsDuplicate(of: duplicate)
                return true
            }
            if host != nil { Debugger.event(.added, of: self) }
            // That one last: when it lets go, nothing else is known to be in the way.
            let streaming = stream.flatMap { stream in wanted.first { stream.isFrom($0) } }
            for dependency in wanted where dependency !== streaming { subscribe(to: dependency) }
            if !wanted.isEmpty { unsubscribe(fromRemoved: wanted) }
            if !wanted.isEmpty || isBehindBarrier { checkDependencies() }
            var isReady = core.withLock { $0.dependencyEnded() }
            if let stream, streaming != nil, !stream.hold(self) {
                isReady = core.withLock { $0.dependencyEnded() }
                if !isReady { stream.withdraw() }
            }
            if isReady {
                if isInline, hasNoTimeBeforeStart {
                    lane.takeSlot()
                    if !run() { lane.returnSlot() }
                } else {
                    becomeReady()
                }
            }
            return true
        case .announce(let waiters):
            host?.memberHadEnded(self)
            announceEnd(to: waiters)
            return false
        case .ends:
            onEnd { operation in host?.memberHadEnded(operation) }
            return false
        case .already:
            return false
        }
    }

    final var stillWaits: Bool { core.withLock { $0.verdict == nil && $0.state.ending == nil } }

    final func dependencyEnded() {
        guard core.withLock({ $0.dependencyEnded() }) else { return }
        becomeReady()
    }

    /// What one that waits for a slot is to know of itself.
    private struct Line {
        let membership: Membership?
        let isDecided: Bool
        let hasStart: Bool
        let stream: StreamLink?
        let limit: QueueTimer?

        /// Takes it where it is: a copy of all would cost.
        init(of core: inout OperationCore) {
            membership = core.membership
            isDecided = core.verdict != nil
            hasStart = core.timeLimits.start != nil
            stream = core.attachments?.stream
            limit = core.timeLimits.queueTimeout
        }
    }

    /// Its dependencies have ended: it waits for the time of its start, without a slot, and then queues for one.
    private func becomeReady() {
        let line = core.withLock { Line(of: &$0) }
        guard line.hasStart, waitForStart({ [weak self] in self?.queueForSlot() }) else { return queueForSlot(line) }
        let stream = line.stream
        stream?.expect()
        stream?.withdraw()  // it does not come at once
    }

    /// It queues for a slot; or not, if it was cancelled and waits for those inside of it.
    private func queueForSlot() { queueForSlot(core.withLock { Line(of: &$0) }) }

    private func queueForSlot(_ line: Line) {
        guard let membership = line.membership else { return }
        let isInTime = line.limit.map { start($0) } ?? true
        Debugger.event(.ready, of: self)
        guard !line.isDecided, isInTime else { return }
        let stream = line.stream
        stream?.expect()
        membership.lane.enqueue(.operation(self), priority: queuePriority, epoch: membership.epoch)
        // Who waits for something else might wait for the producer.
        if let stream, !isAboutToExecute { stream.withdraw() }
    }

    /// Foundation, or the program, calls `start()` on an operation that is in no queue of ours: it runs at once on
    /// this thread if nothing is in its way, else as soon as its dependencies have ended. What delivers to it and is
    /// in no queue is started as well.
    final func startByFoundation() {
        if core.withLock(\.isInNoQueue) {
            enterNet(into: .outside) { member in
                // What was cancelled before it was in a queue may yet be added to one that would not take it then.
                if member !== self, member.isInitialized { member.enter(.outside, of: nil, announcement: .onStart) }
            }
        }
        if isInitialized {
            if enter(.outside, of: nil, announcement: .due, isInline: true) { return }
        }
        if let waiters = core.withLock({ $0.foundationStarts() }) { announceEnd(to: waiters) }
    }

    final func announceEnd(to waiters: [any Waiter]) {
        announceEndToFoundation()
        withExtendedLifetime(core.withLock { $0.takeFollowers() }) {}
        for waiter in waiters { waiter.dependencyEnded() }
    }

    /// Foundation has the completion block called, and keeps it otherwise, with what that has caught.
    final func announceEndToFoundation() {
        didChangeValue(forKey: "isFinished")
        if completionBlock != nil { completionBlock = nil }
    }

    /// Waits for `dependency`, on top of what the operation waits for already.
    private func subscribe(to dependency: Foundation.Operation) {
        if let stream = receivedStream, stream.isFrom(dependency) {
            if !stream.hold(self) { dependencyEnded() }
            return
        }
        if let operation = dependency as? AOperation {
            if !operation.addWaiter(self) { dependencyEnded() }
            return
        }
        guard !dependency.isFinished else { return dependencyEnded() }
        watch(dependency) { [weak self] in self?.dependencyEnded() }
    }

    /// Calls `handler` when a plain operation has finished, as long as this operation has not ended.
    ///
    /// - Parameter list: where the watch is kept.
    final func watch(
        _ dependency: Foundation.Operation, in list: WritableKeyPath<OperationCore, WatchList> = \.watches,
        _ handler: @escaping () -> Void
    ) {
        let watch = DependencyWatch(on: dependency, handler: handler)
        let isHeld = core.withLock { core in
            guard !core.state.isEnded else { return false }
            core[keyPath: list].add(watch)
            return true
        }
        guard isHeld else { return }
        watch.begin()
        AwaitedPlain.note(dependency)
    }

    /// Remembers who waits for this operation; false when it has ended already.
    ///
    /// A plain operation waits until Foundation has been told of the end too: that comes later for an operation that
    /// was cancelled before it was in any queue.
    final func addWaiter(_ waiter: any Waiter, untilAnnounced: Bool = false) -> Bool {
        let scope = core.withLock { $0.retryScope }
        let isCovered = scope?.covers(waiter) == true
        let (isAdded, held, isDue) = core.withLock { core -> (Bool, Int?, Bool) in
            if core.state.isProvisional, isCovered { return (false, nil, false) }
            let isDue = untilAnnounced && core.mustAnnounce()
            if core.state.isEnded {
                guard untilAnnounced, core.announcement != .done else { return (false, nil, isDue) }
            }
            core.waiters.append(waiter)
            if untilAnnounced { core.attach().followers.append(waiter) }
            return (true, core.state.isProvisional ? core.retries : nil, false)
        }
        if isAdded { scope?.noteWait() }
        if isDue { announceEnd(to: core.withLock { $0.takeWaiters(evenFollowers: true) }) }
        // Somebody from outside waits: what was provisional is the outcome. The end of the net may be waiting for him.
        if let held { acceptAttempt(held) }
        return isAdded
    }

    // MARK: Dependencies

    /// Lets this operation wait for the end of `operation`, however that ends: an `AOperation` in any queue, or a
    /// plain Foundation operation. Once the operation executes it is too late and nothing happens.
    ///
    /// Amortised constant time. The dependency is held until this operation has ended.
    final func wait(for operation: Foundation.Operation) {
        precondition(operation !== self, "the operation \(publisherName) cannot depend on itself")
        let (dependence, queueTimer, scope) = core.withLock { ($0.addDependency(operation), $0.timeLimits.queueTimeout, $0.retryScope) }
        scope?.noteDependency()
        guard case .wait(let request) = dependence else {
            if case .declared = dependence { (operation as? AOperation)?.declareDependent() }
            // In a queue of ours it looks for itself, when it comes there.
            if core.withLock(\.wasAsked) { checkInFoundationQueue() }
            return announceChange(isShortcut: false)
        }
        queueTimer?.stop()  // it waits for another dependency: it is not ready any more
        receivedStream?.withdraw()
        if let request { LockTable.shared.release(request) }
        if isMirror { tooLate("a dependency") }
        subscribe(to: operation)
        unsubscribe(fromRemoved: [operation])
        checkDependencies()
        dependencyEnded()
    }

    /// Lets this operation no longer wait for `operation`. Amortised constant time.
    final func stopWaiting(for operation: Foundation.Operation) {
        let (wasWaiting, wasDeclared) = core.withLock { core in
            guard core.dependencies.remove(operation) else { return (false, false) }
            guard case .waiting = core.state else { return (false, core.isDeclaring) }
            core.removals += 1
            return (true, false)
        }
        if wasDeclared { [operation].withdrawDeclaration() }
        announceChange(isShortcut: true)
        if wasWaiting { unsubscribe(from: operation) }
    }

    /// Some may have been removed in the moment before they were subscribed to.
    private func unsubscribe(fromRemoved operations: [Foundation.Operation]) {
        guard core.withLock({ $0.removals > 0 }) else { return }
        for operation in operations where !core.withLock({ $0.dependencies.contains(operation) }) {
            unsubscribe(from: operation)
        }
    }

    /// Counts one dependency less, unless its end has been told, or is being told.
    private func unsubscribe(from operation: Foundation.Operation) {
        let watch = core.withLock { $0.watches.remove(of: operation) }
        let wasOpen = watch?.stop() ?? (operation as? AOperation)?.removeWaiter(self) ?? false
        if wasOpen { dependencyEnded() }
    }

    /// Forgets one who waited; false when it has been told of the end already, or is being told.
    private func removeWaiter(_ waiter: AOperation) -> Bool {
        let (wasWaiting, scope) = core.withLock { core in
            var known = core.attachments?.disinterest.waiters ?? 0
            guard core.waiters.remove(waiter, keeping: &known) else { return (false, nil as RetryScope?) }
            core.attachments?.disinterest.waiterRemoved(leaving: known)
            return (true, core.retryScope)
        }
        scope?.noteWait()
        return wasWaiting
    }
}
