import Foundation
import Synchronization

/// How an operation that is in no queue of ours tells a Foundation queue when it is ready.
///
/// Foundation asks when the operation is added, keeps the answer, and asks again, as long as that was no, each time it
/// looks for something to start. An answer that changes while the operation is being added is overwritten by the older
/// one: this is why operations whose readiness is a state of their own hang there. So a change is announced when it
/// happens, and once more whenever Foundation, of its own accord, asks an operation that was not ready before.
extension AOperation {
    final func isBlockedInFoundationQueue() -> Bool {
        if core.withLock({ $0.isAsked() }) { return true }
        if isInitialized {
            if isKnownToBeBlocked { return true }
            let shortcuts = Blocker.shortcuts
            let (open, producers) = openBlockers
            if let first = open.first {
                core.withLock { core in
                    core.blocker = Blocker(operation: first, shortcuts: shortcuts)
                    core.wasBlocked = true
                }
                watchForFoundation(open) { $0.blockerEnded() }
                watchForFoundation(producers) { $0.producerEnded() }
                return true
            }
        }
        if Announcement.current?.isTheAsking(of: self) != true, core.withLock({ $0.mayBeTakenForBlocked }) {
            DispatchQueue.global().async { [self] in announceReadiness() }
        }
        return false
    }

    /// Whether what was in its way when Foundation asked before still is. Foundation asks n times about each of n
    /// operations that wait.
    private var isKnownToBeBlocked: Bool {
        guard let blocker = core.withLock({ $0.blocker }), blocker.isUpToDate else { return false }
        return !blocker.operation.isOver
    }

    /// What this operation, and those that deliver to it, depend on and that has not ended. The producers themselves
    /// are no blockers: they are started with the operation. Once one has ended it is none of these any more.
    private var openBlockers: (blockers: [Foundation.Operation], producers: [Foundation.Operation]) {
        var blockers: [Foundation.Operation] = []
        var open: [Foundation.Operation] = []
        var seen: Set<ObjectIdentifier> = []
        var pending: [AOperation] = [self]
        while let operation = pending.popLast() {
            guard seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            let (dependencies, producers) = operation.core.withLock { core in
                core.wasAsked = true
                return (core.dependencies.all, core.producers)
            }
            let unstarted = producers.filter(\.isInitialized)
            pending += unstarted
            open += unstarted
            blockers += dependencies.filter { dependency in
                !dependency.isOver && !unstarted.contains { $0 === dependency }
            }
        }
        return (blockers, open)
    }

    /// It depends on something more, or something less. A Foundation queue is told if it has asked before, of this
    /// operation or of those that it delivers to.
    ///
    /// - Parameter isShortcut: whether less may be in the way.
    final func announceChange(isShortcut: Bool) {
        guard core.withLock({ $0.wasAsked && $0.state.isInitialized }) else { return }
        if isShortcut { Blocker.noteShortcut() }
        var seen: Set<ObjectIdentifier> = []
        var pending: [AOperation] = [self]
        while let operation = pending.popLast() {
            let (isOpen, receivers) = operation.core.withLock { ($0.wasAsked && $0.state.isInitialized, $0.receivers) }
            guard isOpen, seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            operation.announceReadiness()
            pending += receivers
        }
    }

    final func announceReadiness() {
        Announcement.$current.withValue(Announcement(of: self)) { didChangeValue(forKey: "isReady") }
    }

    private func watchForFoundation(_ blockers: [Foundation.Operation], _ ended: @escaping (AOperation) -> Void) {
        let new = core.withLock { core in
            blockers.filter { core.announcedBlockers.insert(ObjectIdentifier($0)).inserted }
        }
        for blocker in new {
            if let operation = blocker as? AOperation {
                operation.onEnd { [weak self] _ in self.map(ended) }
            } else {
                watch(blocker, in: \.announcingWatches) { [weak self] in self.map(ended) }
            }
        }
    }

    private func blockerEnded() {
        if core.withLock({ $0.mayBeTakenForBlocked }) { announceReadiness() }
    }

    /// One that was not started has been cancelled: what it waited for is in nobody's way.
    private func producerEnded() {
        guard core.withLock({ $0.mayBeTakenForBlocked }) else { return }
        Blocker.noteShortcut()
        announceReadiness()
    }
}

/// One announcement of an operation's readiness, in which Foundation asks for it.
///
/// It asks at once, and keeps the answer. If it asks once more, before it has started the operation, then an older
/// answer has been written over that one: it needs another announcement.
private final class Announcement: Sendable {
    @TaskLocal static var current: Announcement?

    private let operation: ObjectIdentifier
    private let isAsked = Atomic(false)

    init(of operation: AOperation) {
        self.operation = ObjectIdentifier(operation)
    }

    /// Whether it is why `operation` is being asked.
    func isTheAsking(of operation: AOperation) -> Bool {
        ObjectIdentifier(operation) == self.operation && !isAsked.exchange(true, ordering: .relaxed)
    }
}

/// Something that is in the way of an operation in a Foundation queue.
struct Blocker {
    private static let allShortcuts = Atomic<UInt64>(0)

    let operation: Foundation.Operation
    /// The number of shortcuts before it was looked for.
    let shortcuts: UInt64

    /// How often something, anywhere, may have ceased to be in the way otherwise than by its end.
    static var shortcuts: UInt64 { allShortcuts.load(ordering: .sequentiallyConsistent) }

    /// Whether it is in the way until it ends.
    var isUpToDate: Bool { shortcuts == Self.shortcuts }

    fileprivate static func noteShortcut() {
        allShortcuts.add(1, ordering: .sequentiallyConsistent)
    }
}

extension OperationCore {
    /// Whether a Foundation queue that has not called `start()` yet may have been told that the operation was blocked.
    /// Besides the end of what was in its way there are others of which that queue must hear: the operation was
    /// cancelled, or was started on behalf of one that it delivers to.
    var mayBeTakenForBlocked: Bool {
        guard wasBlocked else { return false }
        switch announcement {
        case .unknown, .onStart: return true
        case .due, .done: return false
        }
    }

    /// A Foundation queue asks. Whether the operation is on its way on behalf of another one: it needs no slot of that
    /// queue, which is to start it in name when it has ended.
    mutating func isAsked() -> Bool {
        guard case .onStart = announcement, membership?.lane === Lane.outside, !state.isEnded else { return false }
        wasBlocked = true
        return true
    }
}

extension Foundation.Operation {
    /// Whether one who depends on this operation may start.
    var isOver: Bool {
        (self as? AOperation)?.isEnded ?? isFinished
    }
}
