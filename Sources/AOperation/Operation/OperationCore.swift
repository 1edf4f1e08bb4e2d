import Foundation

/// Everything an operation knows about itself, and the transitions between its states.
///
/// A value under one lock: its methods change the state and say what is to be done; the operation does it after the
/// lock is let go.
struct OperationCore {
    var state = OperationState.initialized

    /// Somebody called `cancel()` in time. A group stays undecided for a while after it.
    var isCancelRequested = false
    /// Holds a slot of its lane, to be returned at the end.
    var holdsSlot = false
    /// When Foundation is told of the end.
    var announcement = Announcement.unknown
    /// The lane it was admitted to, until it has ended.
    var membership: Membership?

    /// What it waits for, until it has ended.
    var dependencies = DependencyList()
    /// Watches of dependencies that are plain Foundation operations.
    var watches: [DependencyWatch] = []
    /// Who waits for the end of this operation.
    var waiters: [any Waiter] = []

    /// The operations whose results it receives, and the operations that receive its result: its delivery net.
    var producers: [AOperation] = []
    var receivers: [AOperation] = []
    /// Sets the received value from the producers' outcomes, just before the operation runs.
    var inbox: ((AOperation) -> Void)?
    /// The group it is a child of.
    weak var group: GroupOperation?
    /// The operation that runs this one as a part of itself.
    weak var whole: AOperation?
    /// What must hold before it is executed.
    var conditions: [any AOperationCondition] = []

    var observers: [any AOperationObserver] = []
    weak var delegate: (any AOperationDelegate)?
    var startHandlers: [@Sendable () -> Void] = []
    var produceHandlers: [@Sendable (Foundation.Operation) -> Void] = []
    /// Told when the outcome is decided and observers have heard, on the deciding thread.
    var settleHandlers: [(AOperation, _ callbacks: DispatchQueue) -> Void] = []
    /// Where `didFinish` is called; remembered when the lane is left.
    var callbackQueue: DispatchQueue?
    /// Told when outcome and body are over, on the ending thread.
    var endHandlers: [(AOperation) -> Void] = []
    var grace = Duration.seconds(5)
    /// What few operations have: partial results, progress, a trace.
    var attachments: OperationAttachments?

    /// Foundation must hear of the end once, and not before it has called `start()` on an operation in its queue: its
    /// lists would break.
    enum Announcement {
        /// In no queue of ours: it may be waiting in a Foundation queue.
        case unknown
        /// Foundation has, or may have, it in a queue and will call `start()`.
        case onStart
        /// To be announced at the end.
        case due
        case done
    }

    /// What a call of `start()` or an admission has to do.
    enum Entrance {
        /// Admitted: subscribe to these dependencies, then drop the admission's own hold.
        case admitted([Foundation.Operation])
        /// It has ended before: tell Foundation, and then those who waited for that.
        case announce([any Waiter])
        /// It is in a queue already.
        case already
    }

    /// What is left to do when everything about the operation is over.
    struct Departure {
        var membership: Membership?
        var wasRunning: Bool
        var waiters: [any Waiter]
        var handlers: [(AOperation) -> Void]
        var announces: Bool
        /// To be stopped before they are released.
        var watches: [DependencyWatch]
        /// Let go of after the lock: releasing them may release long chains.
        var released: [AnyObject]
    }
}

// MARK: - Transitions

extension OperationCore {
    /// Into a lane. The membership is made under the operation's lock, so that it cannot end before it is a member.
    mutating func admit(_ announcement: Announcement, join: () -> Membership) -> Entrance {
        switch state {
        case .initialized:
            self.announcement = announcement
            let wanted = dependencies.all
            state = .waiting(unmet: wanted.count + 1)
            membership = join()
            return .admitted(wanted)
        case .ended:
            guard self.announcement == .unknown else { return .already }
            self.announcement = .done
            defer { waiters = [] }
            return .announce(waiters)
        case .telling, .finished:
            if self.announcement == .unknown { self.announcement = .due }
            return .already
        case .waiting, .ready, .executing, .holding:
            return .already
        }
    }

    /// Foundation has called `start()`. Returns those to tell, when the end is to be announced at once.
    mutating func foundationStarts() -> [any Waiter]? {
        guard announcement != .done else { return nil }
        guard case .ended = state else {
            announcement = .due
            return nil
        }
        announcement = .done
        defer { waiters = [] }
        return waiters
    }

    /// One dependency less. Returns whether that was the last.
    mutating func dependencyEnded() -> Bool {
        switch state {
        case .waiting(let unmet):
            if unmet > 1 {
                state = .waiting(unmet: unmet - 1)
                return false
            }
            state = .ready
            return true
        case .telling, .finished, .ended:
            return false  // cancelled while it waited
        case .initialized, .ready, .executing, .holding:
            preconditionFailure("a dependency ended in state \(state): only a waiting operation waits for one")
        }
    }

    /// One dependency more, if it is not too late. Returns whether it must be subscribed to.
    mutating func addDependency(_ operation: Foundation.Operation) -> Bool {
        switch state {
        case .initialized:
            dependencies.append(operation)
            return false
        case .waiting(let unmet):
            guard dependencies.append(operation) else { return false }
            state = .waiting(unmet: unmet + 1)
            return true
        case .ready:
            guard dependencies.append(operation) else { return false }
            state = .waiting(unmet: 1)
            return true
        case .executing, .holding, .telling, .finished, .ended:
            return false
        }
    }

    /// Somebody asks for cancellation. False when the outcome is decided, or when it was asked for before.
    mutating func requestCancel() -> Bool {
        guard state.ending == nil, !isCancelRequested else { return false }
        isCancelRequested = true
        return true
    }

    /// Into execution. False when it was cancelled, has ended, or waits again, since it was given to a slot.
    mutating func begin() -> Bool {
        guard case .ready = state, !isCancelRequested else { return false }
        state = .executing
        holdsSlot = true
        return true
    }

    /// What a proposed ending leads to.
    enum Proposal {
        /// It is the outcome.
        case decided
        /// `willFinish` holds it back.
        case held
        /// The outcome was decided before; the body has ended with this.
        case bodyOver
        /// Nothing: there was a proposal before.
        case ignored
    }

    /// The body, or somebody in its name, proposes an ending. `commit` stores the value of a success.
    mutating func propose(_ ending: Ending, isHeld: Bool, commit: () -> Void) -> Proposal {
        switch state {
        case .executing:
            commit()
            if isHeld {
                state = .holding(ending)
                return .held
            }
            state = .telling(ending, .over)
            return .decided
        case .initialized, .waiting, .ready:
            commit()
            state = .telling(ending, .over)
            return .decided
        case .telling(let decided, .running):
            state = .telling(decided, .over)
            return .ignored  // whoever tells the listeners ends the operation afterwards
        case .finished(let decided, .running):
            state = .finished(decided, .over)
            return .bodyOver
        case .holding, .telling(_, .over), .finished(_, .over), .ended:
            return .ignored
        }
    }

    /// `willFinish` lets the proposed ending go. Nil when something else has decided meanwhile.
    mutating func release() -> Ending? {
        guard case .holding(let ending) = state else { return nil }
        state = .telling(ending, .over)
        return ending
    }

    /// Decides the outcome from outside of the body: cancellation, timeout. False when it is decided already.
    mutating func interrupt(_ ending: Ending) -> Bool {
        switch state {
        case .initialized, .waiting, .ready, .holding:
            state = .telling(ending, .over)
            return true
        case .executing:
            state = .telling(ending, .running)
            return true
        case .telling, .finished, .ended:
            return false
        }
    }

    /// The listeners have been told. Returns whether the body is over too.
    mutating func told() -> Bool {
        guard case .telling(let ending, let body) = state else {
            preconditionFailure("listeners were told in state \(state): only a decided outcome is told, once")
        }
        state = .finished(ending, body)
        switch body {
        case .running: return false
        case .over: return true
        }
    }

    /// Gives up waiting for the body. Returns whether it was still running.
    mutating func abandonBody() -> Bool {
        guard case .finished(let ending, .running) = state else { return false }
        state = .finished(ending, .over)
        return true
    }

    /// Takes out what an operation that never ended still holds.
    mutating func dismantle() -> (watches: [DependencyWatch], operations: [AnyObject]) {
        let left: [AnyObject] = dependencies.all + producers
        defer {
            watches = []
            dependencies = DependencyList()
            producers = []
            inbox = nil
        }
        return (watches, left)
    }

    /// The end of everything; nil unless the listeners have been told and the body is over.
    mutating func depart() -> Departure? {
        guard case .finished(let ending, .over) = state else { return nil }
        state = .ended(ending)
        let announces = announcement == .due
        if announces { announcement = .done }
        let departure = Departure(
            membership: membership,
            wasRunning: holdsSlot,
            waiters: waiters,
            handlers: endHandlers,
            announces: announces,
            watches: watches,
            released: dependencies.all + producers + receivers
        )
        membership = nil
        waiters = []
        endHandlers = []
        dependencies = DependencyList()
        watches = []
        producers = []
        receivers = []
        inbox = nil
        observers = []
        startHandlers = []
        produceHandlers = []
        return departure
    }
}
