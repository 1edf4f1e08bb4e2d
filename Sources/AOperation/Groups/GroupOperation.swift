import Foundation

/// Operations that are one operation to the outside.
///
/// The group ends when all its children have ended, those included that are added while it runs. It succeeds if all
/// of them do. It is cancelled only if it was cancelled itself; then, and when it never starts, every child that has
/// not ended is cancelled, and the group ends after the last of them. Else it fails: with its children's failures in
/// child order, then with its cancelled children's errors. An empty group succeeds.
///
/// ```swift
/// let group = GroupOperation(Parse(part: 1), Parse(part: 2))
/// group.maxConcurrentOperationCount = 4
/// group.didFinish { result in … }.add(to: queue)
/// ```
///
/// Children may be plain Foundation operations. They run in the slots of the group's queue; the group and one of its
/// children share one slot. Nothing of a child is started, and nothing taken for it, before the group starts.
///
/// Invariant behind `@unchecked Sendable`: roster and lane are only reached under their locks.
open class GroupOperation: VoidOperation, @unchecked Sendable {
    let roster = Guarded(GroupRoster())
    private let lane = Guarded<Lane?>(nil)
    private let again = Guarded(Again())

    /// Another attempt of the group.
    private struct Again {
        /// Makes its children; nil if they cannot be made.
        var recipe: (@Sendable () -> [Foundation.Operation]?)?
        /// The one that was begun last.
        var latest: GroupOperation?
    }

    /// A group of these children, in this order.
    ///
    /// - Complexity: O(children).
    public init(_ operations: [Foundation.Operation]) {
        super.init()
        let isOrdered = isOrdered
        roster.withLock { $0.isOrdered = isOrdered }
        addOperations(operations)
    }

    /// A group of these children, in this order.
    public convenience init(_ operations: Foundation.Operation...) {
        self.init(operations)
    }

    /// A group that can be tried again, whatever its children are: each attempt has those that `children` makes for it.
    ///
    /// ```swift
    /// GroupOperation { [Fetch(day), Parse(day)] }.retry(RetryPolicy(attempts: 3))
    /// ```
    /// A group that was made of operations can be, too, if all of them are ``RetryableOperation``s, or groups of such,
    /// and none delivers to something outside or receives from there. A subclass is tried again if it is a ``RetryableOperation``. The
    /// children of an attempt are operations of that attempt: their listeners are told of its ends.
    public convenience init(making children: @escaping @Sendable () -> [Foundation.Operation]) {
        self.init(children())
        again.set(\.recipe, to: children)
    }

    /// The spelling with a label, also for subclasses: `super.init(operations: [login, persist])`.
    public init(operations: [Foundation.Operation]) {
        super.init()
        let isOrdered = isOrdered
        roster.withLock { $0.isOrdered = isOrdered }
        addOperations(operations)
    }

    deinit {
        // Groups in groups are released one by one, however deep they are.
        var children = roster.withLock { $0.dismantle() }
        for child in children where !(child is AOperation) { PlainPlaces.remove(child, of: self) }
        Trampoline.release(&children)
    }

    /// Whether the children are started one after another.
    var isOrdered: Bool { false }

    final override var isContainer: Bool { true }

    final override var members: [Foundation.Operation] { operations }

    final override var unstartedMembers: [AOperation] {
        core.withLock({ $0.state.isUnstarted }) ? operations.compactMap { $0 as? AOperation } : []
    }

    // MARK: Settings

    /// What happens when a child fails or is cancelled; ``FailurePolicy/continue`` by default.
    public final var onFailure: FailurePolicy {
        get { roster.withLock { $0.onFailure } }
        set {
            guard !isMirror || onFailure == newValue else { return tooLate("onFailure") }
            roster.withLock { $0.onFailure = newValue }
        }
    }

    /// Sets ``onFailure``.
    @discardableResult
    public final func onFailure(_ policy: FailurePolicy) -> Self {
        onFailure = policy
        return self
    }

    /// How many children may run at once, if the queue has as many slots; unlimited by default (-1).
    public final var maxConcurrentOperationCount: Int {
        get {
            let limit = roster.withLock { $0.limit }
            return limit == .max ? OperationQueue.defaultMaxConcurrentOperationCount : limit
        }
        set {
            let limit = newValue < 0 ? Int.max : newValue
            let isMirrored = roster.withLock { roster in
                roster.limit = limit
                return roster.isMirrored
            }
            guard !isMirrored else { return tooLate("maxConcurrentOperationCount") }
            lane.withLock { $0 }?.limit = limit
        }
    }

    // MARK: Children

    /// The children, in child order; of a group that was tried again those of the last attempt.
    ///
    /// - Complexity: O(children).
    public final var operations: [Foundation.Operation] { current.roster.withLock { $0.operations } }

    /// How each child ended, in child order: one entry per child when the group has ended. Of a group that was tried
    /// again: those of the last attempt.
    ///
    /// - Complexity: O(children).
    public final var outcomes: GroupOutcomes { GroupOutcomes(current.roster.withLock { $0.outcomes }) }

    /// The group whose children count: itself, or its latest attempt.
    private final var current: GroupOperation { again.withLock { $0.latest } ?? self }

    /// Adds a child, before the group starts or while it runs. What is added to a group that was cancelled, or
    /// stopped by a failure, ends as cancelled; so does, with an error line, what is added to a group that has ended.
    public final func addOperation(_ operation: Foundation.Operation) {
        let current = current
        guard current === self else { return current.addOperation(operation) }
        // Its net is looked for with all others' when the group starts, unless that is under way.
        guard lane.withLock({ $0 != nil }) || !add(operation, beforeNets: true) else { return }
        let members = belongings(of: operation)
        enterTogether {
            for member in members { add(member) }
        }
    }

    /// Adds children, in this order. The group does not end before all of them are in.
    public final func addOperations(_ operations: [Foundation.Operation]) {
        let current = current
        let addAll = { for operation in operations { self.addOperation(operation) } }
        guard operations.count > 1 else { return addAll() }
        // A group among them takes what is in no group when it starts: not what is added with it.
        guard let lane = current.lane.withLock({ $0 }) else {
            // This group may start meanwhile: they are its own, and no other's.
            for operation in operations { current.claim(operation) }
            return current.stayingOpen(addAll)
        }
        current.stayingOpen { lane.withoutStarts(addAll) }
    }

    /// Adds an error of the group's own: the group fails with it, after its children's failures.
    public final func aggregateError(_ error: AOperationError) {
        let error = error.published(by: publisherName)
        if !DecisionCapture.keep(for: self, { $0.errors.append(error) }) { roster.withLock { $0.add(error) } }
    }

    /// The errors by now: of children whose outcome is decided, and of the group's own, in the order in which the group has them
    /// if it fails. Of a group that was tried again: those of the last attempt.
    ///
    /// - Complexity: O(children).
    public final var aggregateErrors: [AOperationError] { current.roster.withLock { $0.errors } }

    /// Called when a child's outcome is decided: the place to add further children. The group cannot end before this
    /// has returned. Does nothing unless it is overridden. Not called for what was added after the group was cancelled, or stopped by a
    /// failure: that ends as cancelled.
    open func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {}

    /// Called when outcome and body of a child are over. The group cannot end before this has returned.
    func childEnded(_ operation: Foundation.Operation) {}

    /// No other group takes it from now on.
    private final func claim(_ operation: Foundation.Operation, isMirror: Bool = false) {
        precondition(operation !== self, "the group \(publisherName) cannot be its own child")
        // What is only kept for somebody else is in no group yet, and its net is not that of one.
        guard let operation = operation as? AOperation, isMirror || !runsElsewhere else { return }
        precondition(
            !operation.isContainer || !isInside(of: operation),
            "the group \(publisherName) is inside of \(operation.publisherName): that cannot be its child")
        operation.core.withLock { core in if core.group == nil { core.group = self } }
    }

    /// - Parameters:
    ///   - isMirror: it was added to the group elsewhere, where that runs.
    ///   - beforeNets: unless the nets of children are looked for already.
    /// - Returns: false: they are, and it is not added.
    @discardableResult
    final func add(_ operation: Foundation.Operation, isMirror: Bool = false, beforeNets: Bool = false) -> Bool {
        claim(operation, isMirror: isMirror)
        let addition = roster.withLock { $0.add(operation, isMirror: isMirror, beforeNets: beforeNets) }
        if !(operation is AOperation), isChild(operation) { PlainPlaces.add(operation, to: self) }
        forgetLockScan()
        switch addition {
        case .known:
            break
        case .late:
            return false
        case .listed:
            if lane.withLock({ $0 != nil }) { _ = (operation as? AOperation)?.claimUniqueId() }
            startNext()
        case .start:
            admit(operation)
        case .cancel:
            operation.cancel()
            admit(operation)
        case .refused:
            operation.cancelUnqueued()
            Debugger.error("an operation was added to the group \(publisherName), which has ended; it is cancelled")
        case .foreign:
            if DecisionCapture.keep(for: self, { $0.operations.append(operation) }) {
                // It may end before it is there.
                lendCallbackQueue(to: operation)
            } else {
                refuse(operation)
            }
        }
        return true
    }

    // MARK: Running

    /// Starts the children. A subclass that overrides it calls `super.execute()`; the group cannot end before this has
    /// returned.
    open override func execute() {
        // Before: who finds nets taken finds the lane.
        openLane()
        takeNets()
        rememberChildren()
        for case let operation as AOperation in operations { _ = operation.claimUniqueId() }
        guard roster.withLock({ $0.start() }) else { return }
        openLane().keepingSlots {
            enterTogether { startNext() }
            letGo()
        }
    }

    final override func executeBody() {
        guard !isPlainGroup else { return execute() }
        begin {
            stayingOpen { execute() }
        }
    }

    /// Whether it, or something around it, is in a queue. A group that is abandoned in none runs its children's ends outside.
    private final var isInQueue: Bool {
        var next: AOperation? = self
        while let operation = next {
            let enclosing = operation.enclosing
            if let lane = operation.core.withLock({ $0.membership?.lane }), enclosing == nil || lane.root !== Lane.outside { return true }
            next = enclosing
        }
        return false
    }

    /// What belongs to the children's delivery nets and is in no queue becomes a child, too; before the start only.
    private final func takeNets() {
        guard let operations = roster.withLock({ $0.takeNets() }) else { return }
        let list = listWithNets(operations)
        RetryScope.foresee(list)
        roster.withLock { $0.relist(list) }
    }

    /// Tells the group that its work ended; the group itself ends when all children have ended. A failure becomes an
    /// error of the group's own.
    public final override func finish(with result: Result<Void, AOperationError>) {
        if case .failure(let error) = result { aggregateError(error) }
    }

    /// Runs `body`, during which the group does not end; children that it adds are started.
    final func stayingOpen(_ body: () -> Void) {
        roster.withLock { $0.stayOpen() }
        body()
        letGo()
        lane.withLock { $0 }?.pump()  // if no child can run yet, the group's slot is for others
    }

    private final func startNext() {
        while let next = roster.withLock({ $0.nextToStart() }) { admit(next) }
    }

    /// What `body` puts into the lane starts when all of it is there, if children are of retry scopes.
    private final func enterTogether(_ body: () -> Void) {
        openLane().enterTogether(roster.withLock(\.isScoped), body)
    }

    /// Puts a child into the group's lane. One that is in another queue, or has ended, is only waited for.
    private final func admit(_ operation: Foundation.Operation) {
        let lane = openLane()
        guard let child = operation as? AOperation else {
            PlainMember(operation).enter(lane, of: self)
            checkPart(operation)
            return
        }
        let isOpen = child.core.withLock { $0.announcement != .unknown }
        guard !child.enter(lane, of: self, announcement: isOpen ? .open : .due) else { return }
        if child.isEnded, isInQueue { child.forgetNet() }
        checkPart(child)
        lane.beginAwaiting()
        child.onEnd { [self] child in
            lane.endAwaiting()
            memberSettled(child, errors: child.publishedErrors)
            memberEnded(child)
        }
    }

    /// The lane of the children, made when it is first needed.
    ///
    /// It borrows the group's own slot, if the group has begun. A group whose lane is opened before never begins: it
    /// was abandoned.
    @discardableResult
    private final func openLane() -> Lane {
        let (outer, hasSlot) = core.withLock { ($0.membership?.lane ?? .outside, $0.holdsSlot) }
        let limit = roster.withLock { $0.isMirrored ? .max : $0.limit }
        return lane.withLock { lane in
            if let lane { return lane }
            let opened = Lane(of: outer, hasSlot: hasSlot, limit: limit)
            lane = opened
            return opened
        }
    }

    final override func reclaimSlot(_ held: Bool) -> (hasSlot: Bool, isRunning: Bool) {
        // An ended group may still be in line in the lane around its own, which that one holds.
        let taken = lane.withLock { lane in
            defer { lane = nil }
            return lane
        }
        guard let lane = taken else { return (held, held) }
        let (hasSlot, isYielded) = lane.close()
        return (hasSlot, held && !isYielded)
    }

    // MARK: Another attempt

    final override var isRetryable: Bool { super.isRetryable || recipe != nil }

    final override func makeAttempt() -> AOperation? {
        if let attempt = super.makeAttempt() { return attempt }
        return recipe?().map { plainGroup(of: $0) }
    }

    /// A group of the same kind.
    final func plainGroup(of children: [Foundation.Operation]) -> GroupOperation {
        isOrdered ? OrderedGroupOperation(children) : GroupOperation(children)
    }

    final override func passSettings(to attempt: AOperation) {
        guard let attempt = attempt as? GroupOperation else { return }
        attempt.onFailure = onFailure
        attempt.maxConcurrentOperationCount = maxConcurrentOperationCount
    }

    final override func willBegin(_ attempt: AOperation) {
        passSettings(to: attempt)
        if let attempt = attempt as? GroupOperation { again.set(\.latest, to: attempt) }
    }

    /// Whether it is no subclass: a plain group would not do what that does.
    final var isPlainGroup: Bool {
        type(of: self) == GroupOperation.self || type(of: self) == OrderedGroupOperation.self
    }

    private final var recipe: (@Sendable () -> [Foundation.Operation]?)? {
        isPlainGroup ? again.withLock { $0.recipe } : nil
    }

    /// The children are about to start, or to be cancelled: if another attempt may be asked for, what they are made of is
    /// kept until the end.
    private final func rememberChildren() {
        guard isPlainGroup, core.withLock({ $0.retryDecider != nil || $0.retryScope != nil }), recipe == nil else { return }
        guard let recipes = ChildRecipes(of: roster.withLock { $0.operations }) else { return }
        again.set(\.recipe, to: { recipes.make() })
        onEnd { group in (group as? GroupOperation)?.again.set(\.recipe, to: nil) }
    }

    // MARK: Ending

    final override func carryOutCancellation() {
        abandon(with: .cancelled(.isCancelled(self)))
    }

    final override func stop(with ending: Ending) {
        let isFinal = core.withLock { $0.verdict != nil }
        abandon(with: ending, evenIfClosed: isFinal)  // else it is about to end by itself
    }

    final override func failBeforeExecution(_ errors: [AOperationError]) {
        if isInQueue { takeNets() }
        rememberChildren()
        abandon(with: .failure(errors))
    }

    final override func end(like other: AOperation, with ending: Ending) {
        abandon(with: ending)
    }

    /// Ends the group over its children's heads: cancels them, waits for them, and then ends with `ending`.
    ///
    /// - Parameter evenIfClosed: whether `ending` counts if all children have ended.
    final func abandon(with ending: Ending, evenIfClosed: Bool = true) {
        // What would have become a child with the start is in no queue, and would never be: it ends like the children.
        if roster.withLock({ $0.isGathering }), isInQueue { takeNets() }
        guard let open = roster.withLock({ $0.abandon(with: ending) }) else {
            if evenIfClosed { interruptOrCancelAttempt(with: ending) }
            return
        }
        cancel(open)
        Trampoline.run { [self] in letGo() }
    }

    /// A group whose own children have ended. If another attempt is under way the group ends with that; one that is
    /// just being made is cancelled when it is there.
    private final func interruptOrCancelAttempt(with ending: Ending) {
        let isDecided = core.withLock { $0.state.isRetrying ? false : $0.interrupt(ending) }
        if isDecided { settle() } else { core.withLock { $0.attempt }?.cancel() }
    }

    private final func cancel(_ children: [Foundation.Operation]) {
        guard !children.isEmpty else { return }
        Trampoline.run { [self] in
            let lane = openLane()
            lane.withoutStarts {
                var startedPlain: [Foundation.Operation] = []
                for child in children.readersFirst({ $0 }) {
                    let isUnstarted = roster.withLock { $0.withdraw(child) }
                    child.cancel()
                    if isUnstarted { admit(child) } else if !(child is AOperation) { startedPlain.append(child) }
                }
                guard !startedPlain.isEmpty else { return }
                // One that enters the lane in this moment sees for itself that it is cancelled.
                let members = lane.plainMembers
                for child in startedPlain { members[ObjectIdentifier(child)]?.hurry() }
            }
        }
    }

    final func letGo() {
        if roster.withLock({ $0.letGo() }) { complete() }
    }

    final override func didBecomeMirror() {
        roster.withLock { $0.mirror() }
        if case .hosted? = decider { decideOnRequest() }
    }

    final override func takeRemoteEnd(_ ending: RemoteEnding, hasStarted: Bool) {
        takeGroupEnd(ending, hasStarted: hasStarted)
    }

    private final func complete() {
        let ending = roster.withLock { $0.ending }
        Trampoline.run { [self] in
            if case .success = ending { conclude(withResult: .success(())) } else { conclude(with: ending) }
        }
    }
}

extension Foundation.Operation {
    /// Whether somebody cancelled it; an attempt that has timed out was not.
    fileprivate var wasCancelled: Bool {
        (self as? AOperation)?.core.withLock { $0.isCancelRequested || $0.isCancelAsked || $0.state.ending?.isCancelled == true }
            ?? isCancelled
    }
}

extension GroupOperation: LaneHost {
    func memberSettled(_ operation: Foundation.Operation, errors: [AOperationError]) {
        let outcome = (operation as? AOperation)?.anyOutcome ?? (operation.isCancelled ? .cancelled : .success(()))
        let errors = errors + cancellation(of: operation)
        let settlement = roster.withLock { $0.settle(operation, outcome, errors: errors) }
        let cancelled = settlement.stopped.filter(\.wasCancelled)
        if !cancelled.isEmpty { roster.withLock { $0.keepCancellations(of: cancelled) } }
        cancel(settlement.stopped)
        if settlement.isTold { tell(operation, outcome, errors, isMirrored: settlement.isMirrored) }
    }

    /// A plain child has no errors of its own.
    private func cancellation(of child: Foundation.Operation) -> [AOperationError] {
        guard !(child is AOperation), child.isCancelled else { return [] }
        let name = child.name ?? String(describing: type(of: child))
        return [AOperationError(AOperationError.IsCancelled(operation: name)).published(by: name)]
    }

    func memberEnded(_ operation: Foundation.Operation) {
        tellEnd(of: operation)
        let isLast = roster.withLock { $0.end(operation) }
        if isLast { complete() } else { startNext() }
    }

    func addProduced(_ operation: Foundation.Operation, id: String?) {
        addOperation(operation)
    }

    func claimProduced(_ id: String) -> Bool? {
        roster.withLock { $0.claimProduced(id) }
    }

    /// Where plain operations of its queue run, however deep it is in there.
    func runPlain(_ operation: Foundation.Operation) {
        let host = (enclosingOperations.last ?? self).core.withLock { $0.membership?.host }
        if let queue = host as? AOperationQueue { queue.runPlain(operation) } else { PlainOperations.queue.addOperation(operation) }
    }
}

/// Where the plain operations of groups run that are in no queue of ours; each is handed over when it is ready and has a slot.
enum PlainOperations {
    static let queue = OperationQueue()
}
