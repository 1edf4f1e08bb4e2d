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
        // One that was cancelled waits for nothing. Cancelling a chain asks each of it.
        if isInitialized, core.withLock({ $0.verdict == nil }) {
            if isKnownToBeBlocked { return true }
            let shortcuts = Blocker.shortcuts
            let (open, producers) = openBlockers
            // Whichever of n blockers is taken, in whatever order they end: the search is repeated some log n times.
            if let one = open.lazy.compactMap({ $0.blockers.randomElement() }).first {
                core.withLock { core in
                    core.blocker = Blocker(operation: one, shortcuts: shortcuts)
                    core.wasBlocked = true
                }
                var hasNews = watchForFoundation(producers)
                for (operation, blockers) in open where watchForFoundation(blockers, inTheWayOf: operation) { hasNews = true }
                // A circle is closed by what is in the way since. Foundation, which is asking, is not called meanwhile.
                if hasNews, WaitForGraph.mayHaveCircles { DispatchQueue.global().async { [self] in checkInFoundationQueue() } }
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
        return blocker.operation?.isOver == false
    }

    /// What this operation, and each of those that deliver to it, depend on and that has not ended. The producers
    /// themselves are no blockers: they are started with the operation. Once one has ended it is none of these any more.
    private var openBlockers: (open: [(operation: AOperation, blockers: [Foundation.Operation])], producers: [Foundation.Operation]) {
        var blockers: [(operation: AOperation, blockers: [Foundation.Operation])] = []
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
            let startedWithIt = Set(unstarted.map { ObjectIdentifier($0) })
            let own = dependencies.filter { dependency in
                !dependency.isOver && !startedWithIt.contains(ObjectIdentifier(dependency))
                    && operation.receivedStream?.isFrom(dependency) != true
            }
            blockers.append((operation, own))
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

    /// - Parameter operation: this one or one that delivers to it.
    /// - Returns: whether something is in the way that was not before.
    private func watchForFoundation(_ blockers: [Foundation.Operation], inTheWayOf operation: AOperation) -> Bool {
        var hasNews = false
        for blocker in blockers where isNews(blocker) {
            hasNews = true
            if let blocking = blocker as? AOperation {
                let waiter = FoundationWaiter(asked: self, waiting: operation, for: blocking)
                if !blocking.addWaiter(waiter) { waiter.dependencyEnded() }
            } else {
                watch(blocker, in: \.announcingWatches) { [weak self] in self?.blockerEnded() }
            }
        }
        return hasNews
    }

    /// - Returns: whether one of them was not known.
    private func watchForFoundation(_ producers: [Foundation.Operation]) -> Bool {
        var hasNews = false
        for case let producer as AOperation in producers where isNews(producer) {
            hasNews = true
            producer.onEnd { [weak self] _ in self?.producerEnded() }
        }
        return hasNews
    }

    private func isNews(_ blocker: Foundation.Operation) -> Bool {
        core.withLock { $0.announcedBlockers.insert(ObjectIdentifier(blocker)).inserted }
    }

    fileprivate func blockerEnded(_ blocker: AOperation) {
        core.withLock { _ = $0.announcedBlockers.remove(ObjectIdentifier(blocker)) }
        blockerEnded()
    }

    /// Foundation hears of the end of an operation that it has not asked about, and that comes to no queue.
    final func announceUnasked() {
        let waiters = core.withLock { $0.announcement == .unknown ? $0.foundationStarts() : nil }
        if let waiters { announceEnd(to: waiters) }
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

/// An operation that a Foundation queue has not started waits for another one, on behalf of one that asked.
///
/// It stands among those who wait for that one, so that an end of it that may be tried again is none as long as somebody
/// waits for it who has no part in that.
///
final class FoundationWaiter: Waiter, Sendable {
    private weak let asked: AOperation?
    private weak let waiting: AOperation?
    private weak let blocker: AOperation?

    fileprivate init(asked: AOperation, waiting: AOperation, for blocker: AOperation) {
        self.asked = asked
        self.waiting = waiting
        self.blocker = blocker
    }

    /// Whether it still waits in this way: one that was started waits by itself.
    var stillWaits: Bool {
        guard let waiting, let blocker else { return false }
        return waiting.core.withLock { $0.state.isInitialized && $0.dependencies.contains(blocker) }
    }

    /// Whether it waits and was not cancelled.
    var isInterested: Bool {
        stillWaits && waiting?.core.withLock { $0.isCancelRequested } == false
    }

    func dependencyEnded() {
        guard let asked, let blocker else { return }
        asked.blockerEnded(blocker)
    }
}

/// Something that is in the way of an operation in a Foundation queue.
struct Blocker {
    private static let allShortcuts = Atomic<UInt64>(0)

    /// Held by whom it is in the way of, as long as it is.
    weak var operation: Foundation.Operation?
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
        case .unknown, .onStart, .open: return true
        case .due, .done: return false
        }
    }

    /// A Foundation queue asks. Whether the operation is on its way on behalf of another one: it needs no slot of that
    /// queue, which is to start it in name when it has ended.
    mutating func isAsked() -> Bool {
        if case .open = announcement { announcement = .onStart }
        guard case .onStart = announcement, membership?.lane.root === Lane.outside, !state.isEnded else { return false }
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
