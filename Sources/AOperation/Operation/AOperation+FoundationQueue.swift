import Foundation

/// How an operation that is in no queue of ours tells a Foundation queue when it is ready.
///
/// Foundation asks when the operation is added, keeps the answer, and asks again, as long as that was no, each time it
/// looks for something to start. An answer that changes while the operation is being added is overwritten by the older
/// one: this is why operations whose readiness is a state of their own hang there. So a change is announced when it
/// happens, and once more whenever Foundation, of its own accord, asks an operation that was not ready before.
extension AOperation {
    private enum Announcement {
        /// Whether Foundation is asking because of an announcement of ours.
        @TaskLocal static var isUnderWay = false
    }

    final func isBlockedInFoundationQueue() -> Bool {
        if isInitialized {
            let open = openBlockers
            if !open.isEmpty {
                watchForFoundation(open)
                return true
            }
        }
        if !Announcement.isUnderWay, core.withLock({ $0.mayBeTakenForBlocked }) {
            DispatchQueue.global().async { [self] in announceReadiness() }
        }
        return false
    }

    /// What this operation, and those that deliver to it, depend on and that has not ended. The producers themselves
    /// are no blockers: they are started with the operation.
    private var openBlockers: [Foundation.Operation] {
        var blockers: [Foundation.Operation] = []
        var seen: Set<ObjectIdentifier> = []
        var pending: [AOperation] = [self]
        while let operation = pending.popLast() {
            guard seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            let (dependencies, producers) = operation.core.withLock { ($0.dependencies.all, $0.producers) }
            let unstarted = producers.filter(\.isInitialized)
            pending += unstarted
            blockers += dependencies.filter { dependency in
                !dependency.isOver && !unstarted.contains { $0 === dependency }
            }
        }
        return blockers
    }

    final func announceReadiness() {
        Announcement.$isUnderWay.withValue(true) { didChangeValue(forKey: "isReady") }
    }

    private func watchForFoundation(_ blockers: [Foundation.Operation]) {
        let new = core.withLock { core in
            blockers.filter { core.announcedBlockers.insert(ObjectIdentifier($0)).inserted }
        }
        for blocker in new {
            if let operation = blocker as? AOperation {
                operation.onEnd { [weak self] _ in self?.announceReadiness() }
            } else {
                watch(blocker) { [weak self] in self?.announceReadiness() }
            }
        }
    }
}

extension OperationCore {
    /// Whether a Foundation queue that has not called `start()` yet may have been told that the operation was blocked.
    /// Besides the end of what was in its way there are others of which that queue must hear: the operation was
    /// cancelled, or was started on behalf of one that it delivers to.
    var mayBeTakenForBlocked: Bool {
        guard !announcedBlockers.isEmpty else { return false }
        switch announcement {
        case .unknown, .onStart: return true
        case .due, .done: return false
        }
    }
}

extension Foundation.Operation {
    /// Whether one who depends on this operation may start.
    fileprivate var isOver: Bool {
        (self as? AOperation)?.isEnded ?? isFinished
    }
}
