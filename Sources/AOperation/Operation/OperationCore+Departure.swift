import Foundation

/// Those who could have held an end back. Released outside of the lock.
struct Closures {
    var holders: [any HoldingObserver] = []
    var willFinish: Any?
}

/// What an operation leaves behind at its end, and to whom.
extension OperationCore {
    /// Takes out what an operation still holds that never ended, or that was cancelled before it was in any queue.
    mutating func dismantle() -> (watches: [DependencyWatch], operations: [AnyObject]) {
        guard !state.isEnded else {
            let lost = attachments?.lostNet
            attachments = nil
            return ([], (lost?.producers ?? []) + (lost?.dependencies ?? []))
        }
        let left: [AnyObject] = dependencies.all + producers + injections
        defer {
            watches = WatchList()
            announcingWatches = WatchList()
            dependencies = OperationList()
            blocker = nil
            producers = []
            inbox = nil
            injections = []
        }
        return (watches.all + announcingWatches.all, left)
    }

    /// Whether the listeners have been told and the body is over: once.
    mutating func beginDeparture() -> Bool {
        guard case .finished(_, .over) = state, !isDeparting else { return false }
        isDeparting = true
        return true
    }

    /// The end of everything; nil unless the listeners have been told and the body is over.
    mutating func depart() -> Departure? {
        guard case .finished(let ending, .over) = state else { return nil }
        state = .ended(ending)
        isStopped = false
        rememberNet()
        let announces = announcement == .due || isUnstartedChild && attachments?.followers.isEmpty == false
        if announces { announcement = .done }
        let departure = Departure(
            membership: membership,
            wasRunning: holdsSlot,
            waiters: takeWaiters(evenFollowers: announces || announcement == .done),
            lockRequest: lockRequest,
            uniqueness: uniqueness,
            handlers: endHandlers,
            announces: announces,
            isOpen: announcement == .open,
            announcesReadiness: mayBeTakenForBlocked,
            followers: announces ? takeFollowers() : [],
            watches: watches.all + announcingWatches.all,
            timer: timer,
            dependencies: dependencies.all,
            declarations: takeDeclarations(),
            producers: producers,
            receivers: receivers,
            injections: injections,
            left: hasLeftovers ? takeLeftovers() : nil
        )
        membership = nil
        timer = nil
        endHandlers = []
        dependencies = OperationList()
        watches = WatchList()
        announcingWatches = WatchList()
        blocker = nil
        producers = []
        receivers = []
        injections = []
        lockRequest = nil
        uniqueness = nil
        return departure
    }

    /// It may yet be added to a queue, and all that belongs with it is added then.
    private mutating func rememberNet() {
        guard membership == nil else { return }
        let declared = dependencies.all.compactMap { $0 as? AOperation }
        guard !(producers.isEmpty && receivers.isEmpty && declared.isEmpty) else { return }
        attach().lostNet = LostNet(producers: producers, receivers: receivers, dependencies: declared)
    }

    /// What delivers to it or receives from it, also if it was cancelled before it was in a queue.
    var net: AdmissionOrder.Neighbours {
        guard producers.isEmpty, receivers.isEmpty, let lost = attachments?.lostNet else {
            return AdmissionOrder.Neighbours(before: producers, after: receivers)
        }
        return AdmissionOrder.Neighbours(before: lost.producers, after: lost.receivers)
    }

    /// Whether it was in no queue, though it may have been cancelled.
    var isInNoQueue: Bool { membership == nil && (state.isInitialized || announcement == .unknown) }

    var hasNet: Bool { !producers.isEmpty || !receivers.isEmpty || attachments?.lostNet != nil }

    /// Those who are told of the end.
    ///
    /// - Parameter evenFollowers: whether Foundation hears of it, too. Plain operations that depend on it wait for that: until then
    ///   they would take a slot and not start.
    mutating func takeWaiters(evenFollowers: Bool) -> [any Waiter] {
        guard !evenFollowers, let followers = attachments?.followers, !followers.isEmpty else {
            return waiters.takeAll()
        }
        let kept = Set(followers.map { ObjectIdentifier($0) })
        let all = waiters.takeAll()
        for waiter in all where kept.contains(ObjectIdentifier(waiter)) { waiters.append(waiter) }
        return all.filter { !kept.contains(ObjectIdentifier($0)) }
    }

    /// Foundation hears of the end: those who are told by it may go then.
    mutating func takeFollowers() -> [any Waiter] {
        guard let attachments else { return [] }
        defer { attachments.followers = [] }
        return attachments.followers
    }

    private var hasLeftovers: Bool {
        inbox != nil || !observers.isEmpty || !attemptObservers.isEmpty || !conditions.isEmpty || preparation != nil
            || !lenders.isEmpty || retryDecider != nil || retryScope != nil || !startHandlers.isEmpty || !produceHandlers.isEmpty
    }

    private mutating func takeLeftovers() -> Leftovers {
        defer {
            inbox = nil
            observers = []
            attemptObservers = []
            conditions = []
            preparation = nil
            lenders = []
            retryDecider = nil
            retryScope = nil
            startHandlers = []
            produceHandlers = []
        }
        return Leftovers(
            inbox: inbox, observers: observers, attemptObservers: attemptObservers, conditions: conditions, preparation: preparation,
            lenders: lenders, retryDecider: retryDecider, retryScope: retryScope, startHandlers: startHandlers,
            produceHandlers: produceHandlers)
    }
}
