import Foundation

/// Everything an operation knows about itself, and the transitions between its states.
///
/// A value under one lock: its methods change the state and say what is to be done; the operation does it after the
/// lock is let go.
struct OperationCore {
    var state = OperationState.initialized

    /// What the operation ends with whatever its body or its attempts report: it was cancelled in time, or stopped for
    /// good. A group stays undecided for a while after it.
    var verdict: Ending?
    /// Holds a slot of its lane, to be returned at the end.
    var holdsSlot = false
    /// When Foundation is told of the end.
    var announcement = Announcement.unknown
    /// The lane it was admitted to, until it has ended.
    var membership: Membership?
    /// How many tellings are under way, of the start or of a cancellation, that the end is not to be told before.
    private var endHolds: UInt8 = 0
    /// Whether the end is to be told after them.
    private var isEndHeld = false

    /// What it waits for, until it has ended.
    var dependencies = OperationList<Foundation.Operation>()
    /// Watches of dependencies that are plain Foundation operations.
    var watches = WatchList()
    /// How many dependencies were removed while it waited.
    var removals = 0
    /// Blockers whose end is announced to a Foundation queue, and watches of those that are plain operations.
    var announcedBlockers: Set<ObjectIdentifier> = []
    var announcingWatches = WatchList()
    /// Whether a Foundation queue has asked, of this operation or of one that it delivers to, before it was started.
    var wasAsked = false
    /// Whether somebody is about to add it to a queue, together with others: no group takes it.
    var isReserved = false
    /// Whether it may have been told that the operation was blocked.
    var wasBlocked = false
    /// One of them, until Foundation has started the operation.
    var blocker: Blocker?
    /// Who waits for the end of this operation.
    var waiters = WaiterList()
    /// How many have declared that they depend on it and are not among these yet, as they are in no queue, or are tasks.
    var declaredDependents = 0
    /// Whether it is itself among those of what it depends on: until it is in a queue, or cancelled.
    var isDeclaring = true

    /// The operations whose results it receives, and the operations that receive its result: its delivery net.
    var producers: [AOperation] = []
    var receivers: [AOperation] = []
    /// Sets the received value from the producers' outcomes, just before the operation runs.
    var inbox: DeliveryInbox?
    /// How these outcomes become that value.
    var delivery = DeliveryForm.none
    /// What is called after that, to take something from its dependencies.
    var injections: [ResultInjection] = []
    /// The group it is a child of.
    weak var group: GroupOperation?
    /// The operation that runs this one as a part of itself.
    weak var whole: AOperation?
    /// Whether it is another attempt of its whole.
    var isAttempt = false
    /// It stands for a child of an earlier attempt of its group.
    var isRemade = false
    /// The operations that it runs as parts of itself and that have not ended: dependent operations of its conditions,
    /// another attempt, what it wraps.
    var parts = OperationList<AOperation>()
    /// How often some of these are being taken: they are not told apart yet from what it only waits for.
    var takingParts = 0

    /// What must hold before it is executed.
    var conditions: [any AOperationCondition] = []
    /// The conditions of this attempt with their dependent operations, once they were needed.
    var preparation: Preparation?
    /// Whether locks are held and conditions have been found to hold.
    var isPrepared = false
    /// Rises whenever a preparation begins or is given up: what an earlier one still reports is of no interest.
    var round: UInt64 = 0
    /// How often its queue had been suspended and resumed when the preparation began.
    var pause: UInt64?
    /// Whether it is inside of an operation that holds a lock, and waits for something outside of that.
    var isCrossing = false
    /// Whether a plain operation waits for it, as far as somebody has seen.
    var isNeededByPlain = false
    /// Its locks, from before its conditions' dependent operations until its final end.
    var lockRequest: LockRequest?
    /// Of a group: what is known of the locks that those inside of it name.
    var lockScan = LockScan.unknown
    /// Retry scopes that wait for this operation, and therefore lend it what they keep locked.
    var lenders: [LockRequest] = []
    /// The number of its execution under its locks.
    var fencingToken: UInt64?
    /// The numbers of its execution under locks that are held elsewhere on its behalf.
    var adoptedTokens: [String: UInt64] = [:]
    /// The unique id that it claimed or found taken.
    var uniqueness: Uniqueness?
    /// Whether its callbacks are being sent off, while its body may end: it departs after that.
    var isCallingBack = false
    /// Whether it is about to depart.
    var isDeparting = false
    /// How many duplicates wait for its end.
    var joiners = 0

    /// Who decides after a failed attempt.
    var retryDecider: RetryDecider?
    /// How many attempts have failed and were followed by another one.
    var retries = 0
    /// The attempt that is under way, if it is not this operation itself.
    var attempt: AOperation?
    /// What was decided after the attempt that has ended.
    var deliberation = Deliberation.open
    /// Whether the body itself has proposed the ending of the attempt: only such a one is told to `willFinish`.
    var isProposedByBody = false
    /// Whether those who listen have been told of the start of an attempt.
    var isStartTold = false
    /// Whether they are being told of it.
    var isStartBeingTold = false
    /// The end of the delivery net that may have this operation tried again, with all that it may.
    var retryScope: RetryScope?
    /// Somebody stopped the operation, or the attempt at hand, in a way that is no cancellation: a timeout. True until
    /// the body has ended.
    var isStopped = false
    /// A stopped body was given up, and may still be running.
    var isBodyGivenUp = false

    var observers: [any AOperationObserver] = []
    /// Observers of every single attempt.
    var attemptObservers: [any AttemptObserver] = []
    weak var delegate: (any AOperationDelegate)?
    var startHandlers: [@Sendable () -> Void] = []
    var produceHandlers: [@Sendable (Foundation.Operation) -> Void] = []
    /// Told when the outcome is decided and observers have heard, on the deciding thread.
    var settleHandlers: [(AOperation, _ callbacks: DispatchQueue) -> Void] = []
    /// Where `didFinish` is called; remembered when the lane is left.
    var callbackQueue: DispatchQueue?
    /// It is being added to a cluster, with groups to whose members it delivers or from whose members it receives.
    var isListedBeside = false
    /// Told when outcome and body are over, on the ending thread.
    var endHandlers: [(AOperation) -> Void] = []
    /// nil: as what it is inside of.
    var grace: Duration?
    var timeLimits = TimeLimits()
    /// The time that it waits for: of its start, of another look at its conditions, of another attempt.
    var timer: AOperationTimer?
    /// What few operations have: partial results, progress, a trace.
    var attachments: OperationAttachments?

    /// Foundation must hear of the end once, and not before it has called `start()` on an operation in its queue: its
    /// lists would break.
    enum Announcement {
        /// In no queue of ours: it may be waiting in a Foundation queue.
        case unknown
        /// Foundation has, or may have, it in a queue and will call `start()`.
        case onStart
        /// A group that runs in no queue of ours has taken it: Foundation may be given it yet. It has it when it asks; it
        /// has not if a plain operation that we run is to follow.
        case open
        /// To be announced at the end.
        case due
        case done
    }

    /// What a call of `start()` or an admission has to do.
    enum Entrance {
        /// Admitted: subscribe to these dependencies, then drop the admission's own hold.
        ///
        /// - Parameter areDeclared: whether they count it among their declared dependents.
        case admitted([Foundation.Operation], areDeclared: Bool)
        /// It has ended before: tell Foundation, and then those who waited for that.
        case announce([any Waiter])
        /// It is about to end, before it was in any queue.
        case ends
        /// It is in a queue already.
        case already
    }

    /// What is left to do when everything about the operation is over.
    struct Departure {
        var membership: Membership?
        var wasRunning: Bool
        var waiters: [any Waiter]
        var lockRequest: LockRequest?
        var uniqueness: Uniqueness?
        var handlers: [(AOperation) -> Void]
        /// Foundation is told that the operation has finished.
        var announces: Bool
        /// Whether Foundation may be given it yet.
        let isOpen: Bool
        /// Foundation is told that nothing is in the way of `start()` any more.
        let announcesReadiness: Bool
        /// To be released after Foundation was told.
        let followers: [any Waiter]
        /// To be stopped before they are released.
        var watches: [DependencyWatch]
        let timer: AOperationTimer?
        /// Let go of after the lock: releasing them may release long chains.
        var dependencies: [Foundation.Operation]
        /// Those that counted it among their declared dependents.
        let declarations: [Foundation.Operation]
        var producers: [AOperation]
        var receivers: [AOperation]
        var injections: [ResultInjection]
        /// What belongs to the program, and may call back when it is released.
        var left: Leftovers?
    }

    /// Listeners and the like of an operation that has ended. Released outside of the lock.
    struct Leftovers {
        var inbox: DeliveryInbox?
        var observers: [any AOperationObserver]
        var attemptObservers: [any AttemptObserver]
        var conditions: [any AOperationCondition]
        var preparation: Preparation?
        var lenders: [LockRequest]
        var retryDecider: RetryDecider?
        var retryScope: RetryScope?
        var startHandlers: [@Sendable () -> Void]
        var produceHandlers: [@Sendable (Foundation.Operation) -> Void]
    }
}

// MARK: - Transitions

extension OperationCore {
    var isCancelRequested: Bool { verdict?.isCancelled == true }

    /// Whether the body at hand may run: nothing has decided about it. A group that is being cancelled begins, so that
    /// its children end before it does.
    var isBodyDue: Bool { if case .executing = state { true } else { false } }

    /// Whether nobody is to be told of its start, and it receives nothing: it executes without further ado.
    var isBare: Bool {
        attachments == nil && inbox == nil && injections.isEmpty && whole == nil && attemptObservers.isEmpty && observers.isEmpty
            && startHandlers.isEmpty && delegate == nil
    }

    /// Whether nobody has it tried again, whatever its attempt comes to.
    var hasOneAttempt: Bool { retryDecider == nil && retryScope == nil && !mayStream }

    /// Whether it waits, beside everything else, for the start of its body somewhere else.
    private var isHeldBack: Bool { attachments?.remote.map { !$0.hasStarted } ?? false }

    /// Into a lane. The membership is made under the operation's lock, so that it cannot end before it is a member.
    mutating func admit(_ announcement: Announcement, join: () -> Membership) -> Entrance {
        switch state {
        case .initialized:
            let isAsked = self.announcement == .onStart && announcement == .open
            if !isAsked { self.announcement = announcement }
            let wanted = dependencies.all
            state = .waiting(unmet: wanted.count + (isHeldBack ? 2 : 1))
            blocker = nil
            membership = join()
            defer { isDeclaring = false }
            return .admitted(wanted, areDeclared: isDeclaring)
        case .ended:
            guard self.announcement == .unknown else { return .already }
            self.announcement = .done
            return .announce(waiters.takeAll())
        case .telling, .finished:
            guard self.announcement == .unknown else { return .already }
            self.announcement = .due
            return .ends
        case .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .provisional, .holding:
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
        return waiters.takeAll()
    }

    /// A plain operation that we run, or a completion block, waits until Foundation has heard of the end. Returns whether
    /// that is to be now.
    mutating func mustAnnounce() -> Bool {
        guard announcement == .open || isUnstartedChild && state.isEnded else { return false }
        announcement = state.isEnded ? .done : .due
        return state.isEnded
    }

    /// Whether nobody but its group, which has not started it, brings it into a queue.
    var isUnstartedChild: Bool { announcement == .unknown && group != nil }

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
        case .initialized, .ready, .preparing, .executing, .deliberating, .retrying, .provisional, .holding:
            preconditionFailure("a dependency ended in state \(state): only a waiting operation waits for one")
        }
    }

    /// What another dependency leads to.
    enum Dependence {
        /// It is too late, or it is known.
        case noted
        /// It is remembered until the operation is in a queue.
        case declared
        /// It is to be subscribed to; meanwhile, one more keeps the operation waiting. The locks go back.
        case wait(LockRequest?)
    }

    /// One dependency more, if it is not too late.
    mutating func addDependency(_ operation: Foundation.Operation) -> Dependence {
        switch state {
        case .initialized:
            return dependencies.append(operation) && isDeclaring ? .declared : .noted
        case .waiting(let unmet):
            guard dependencies.append(operation) else { return .noted }
            state = .waiting(unmet: unmet + 2)
            return .wait(nil)
        case .ready, .preparing:
            guard parts.isEmpty, dependencies.append(operation) else { return .noted }
            state = .waiting(unmet: 2)
            return .wait(giveUpPreparation())
        case .executing, .deliberating, .retrying, .provisional, .holding, .telling, .finished, .ended:
            return .noted
        }
    }

    /// What still counts it among its declared dependents; once.
    mutating func takeDeclarations() -> [Foundation.Operation] {
        defer { isDeclaring = false }
        return isDeclaring ? dependencies.all : []
    }

    /// Somebody asks for cancellation.
    mutating func requestCancel(_ cancelled: Ending) -> CancelRequest {
        guard state.ending == nil, verdict == nil else { return .nothing }
        switch arbiter {
        case .here: break
        case .elsewhere: return askToCancel(cancelled)
        case .nobody: return .nothing
        }
        verdict = cancelled
        endHolds += 1
        return .decided
    }

    /// The listeners are about to be told of the start. False if they have been, or the end is decided, or there are none.
    mutating func beginTellingStart() -> Bool {
        defer { isStartTold = true }
        guard !isStartTold, state.ending == nil, delegate != nil || !observers.isEmpty || !startHandlers.isEmpty else { return false }
        endHolds += 1
        isStartBeingTold = true
        return true
    }

    /// The listeners have been told of the start. Returns what was produced meanwhile.
    mutating func startWasTold() -> [Foundation.Operation] {
        isStartBeingTold = false
        guard let attachments, !attachments.untold.isEmpty else { return [] }
        defer { attachments.untold = [] }
        return attachments.untold
    }

    /// The listeners are about to be told of a cancellation.
    mutating func holdEnd() { endHolds += 1 }

    /// The listeners have been told of the start, or of the cancellation. Returns whether the end is to be told now.
    mutating func wasTold() -> Bool {
        endHolds -= 1
        guard endHolds == 0, isEndHeld else { return false }
        isEndHeld = false
        return true
    }

    /// Whether the end may be told. If not, it is told as soon as what is under way has been.
    mutating func mayTellEnd() -> Bool {
        guard endHolds > 0 else { return true }
        isEndHeld = true
        return false
    }

    /// What a free slot is used for.
    enum Start {
        case execute
        /// Somebody else executes it.
        case mirror
        case prepare(round: UInt64)
        /// Nothing: it was cancelled, has ended, or waits again, since it was given to the slot.
        case nothing
    }

    /// A slot is free.
    ///
    /// - Parameter isContainer: whether operations inside of it may name locks.
    mutating func begin(isContainer: Bool) -> Start {
        guard case .ready = state, verdict == nil else { return .nothing }
        if pause != membership?.lane.pause { isPrepared = false }
        if !isPrepared, isContainer || !conditions.isEmpty {
            state = .preparing(isInline: true)
            round += 1
            pause = membership?.lane.pause
            return .prepare(round: round)
        }
        state = .executing
        holdsSlot = true
        if lockRequest != nil { fencingToken = FencingTokens.next() }
        if attachments?.remote != nil, !isContainer { return .mirror }
        return .execute
    }

    /// The thread that had the slot leaves the preparation to others. False when it is complete.
    mutating func leavePreparation() -> Bool {
        guard case .preparing = state else { return !isPrepared }
        state = .preparing(isInline: false)
        return true
    }

    /// What a proposed ending leads to.
    enum Proposal {
        /// It is the outcome.
        case decided
        /// `willFinish` holds it back.
        case held(Ending)
        /// It may be tried again.
        case deliberating
        /// The outcome was decided before; the body has ended with this.
        case bodyOver
        /// Another attempt, or a decision, waited for the end of this body.
        case attemptOver
        /// Nothing: there was a proposal before.
        case ignored
        /// The body was executed on somebody else's behalf, who decides.
        case hosted(Ending, @Sendable (HostedEnding) -> Void)
    }

    /// The body, or somebody in its name, proposes an ending. `commit` stores the value of a success.
    ///
    /// - Parameters:
    ///   - isHeld: whether `willFinish` holds it back.
    ///   - isOpen: whether it may be tried again.
    mutating func propose(_ ending: Ending, isHeld: Bool, isOpen: Bool, commit: () -> Void) -> Proposal {
        guard attempt == nil else {
            isBodyGivenUp = false  // it has ended after all
            return .ignored
        }
        if let hosted = takeHostedEnding(ending, commit: commit) { return hosted }
        let isTelling = attachments?.remote?.conclusion.isTelling
        switch state {
        case .executing:
            commit()
            isProposedByBody = !isStopped
            return conclude(ending, body: .over, isHeld: isHeld && isTelling ?? true, isOpen: isOpen)
        case .preparing:
            commit()
            isProposedByBody = false
            return conclude(ending, body: parts.isEmpty ? .over : .running, isHeld: false, isOpen: isOpen)
        case .initialized, .waiting, .ready:
            commit()
            state = .telling(verdict ?? ending, .over)
            return .decided
        case .deliberating, .telling, .finished:
            // Of what runs elsewhere that is reported.
            return isTelling == true ? .ignored : bodyEnded()
        case .ended:
            isBodyGivenUp = false
            return .ignored
        case .retrying, .provisional, .holding:
            return .ignored
        }
    }

    /// An attempt has ended.
    mutating func conclude(_ proposed: Ending, body: OperationState.Body, isHeld: Bool, isOpen: Bool) -> Proposal {
        if let verdict {
            state = .telling(verdict, body)
            return .decided
        }
        if isOpen {
            state = .deliberating(proposed, body)
            deliberation = .open
            return .deliberating
        }
        if isHeld, isProposedByBody, case .over = body {
            state = .holding(proposed, wasProvisional: state.isProvisional)
            return .held(proposed)
        }
        state = .telling(proposed, body)
        return .decided
    }

    /// The body of the current attempt has ended after its ending was known.
    mutating func bodyEnded() -> Proposal {
        switch state {
        case .deliberating(let ending, .running):
            state = .deliberating(ending, .over)
            return .attemptOver
        case .telling(let decided, .running):
            state = .telling(decided, .over)
            return .ignored  // whoever tells the listeners ends the operation afterwards
        case .finished(let decided, .running):
            state = .finished(decided, .over)
            return isCallingBack ? .ignored : .bodyOver
        case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .provisional, .holding,
            .telling, .finished, .ended:
            return .ignored
        }
    }

    /// `willFinish` lets the proposed ending go. False when something else has decided meanwhile.
    mutating func release() -> Bool {
        guard case .holding(let ending, _) = state else { return false }
        state = .telling(verdict ?? ending, .over)
        return true
    }

    /// Decides the outcome from outside of the body: cancellation, timeout. False when it is decided already.
    mutating func interrupt(_ proposed: Ending) -> Bool {
        let ending = verdict ?? proposed
        switch state {
        case .initialized, .waiting, .ready, .holding, .provisional:
            state = .telling(ending, attachments?.remote?.isAway == true ? .running : .over)
        case .preparing:
            state = .telling(ending, parts.isEmpty ? .over : .running)
        case .executing:
            state = .telling(ending, .running)
        case .deliberating(_, let body):
            state = .telling(ending, body)
        case .retrying:
            state = .telling(ending, attempt == nil ? .over : .running)
        case .telling, .finished, .ended:
            return false
        }
        return true
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

    /// The callbacks are on their way. Returns whether the body has ended meanwhile.
    mutating func calledBack() -> Bool {
        isCallingBack = false
        if case .finished(_, .over) = state { return true }
        return false
    }

    /// Gives up waiting for the body of this attempt. Returns nil when it has ended.
    mutating func abandonBody(ofAttempt number: Int) -> Proposal? {
        guard retries == number, parts.isEmpty else { return nil }
        switch state {
        case .finished(_, .running), .deliberating(_, .running):
            isBodyGivenUp = true
            return bodyEnded()
        case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .provisional, .holding,
            .telling, .finished, .ended:
            return nil
        }
    }
}
