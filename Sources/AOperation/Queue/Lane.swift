import Foundation
import Synchronization

/// Brings the operations of a queue, or of a group, to execution: keeps who is in, starts what is ready, as many at
/// once as there are slots.
///
/// Dependencies are kept by the operations themselves; a lane hears of an operation again when it is ready. So adding,
/// starting and ending an operation are constant-time, whatever else waits.
///
/// Locks: a lane's lock may be taken under an operation's lock, never the other way round, and no two lanes' locks are
/// held at once.
final class Lane: Sendable {
    private let state: Guarded<LaneState>
    private let callbacks = Guarded<DispatchQueue?>(nil)
    /// The lane of the queue that a group runs in; nil for that lane itself.
    private let parent: Lane?
    /// The lane that its group is a member of.
    private let outer: Lane?
    /// Whether one of the slots is its group's own.
    private let isLentSlot: Bool
    /// Mirrors the state's `isHeld` for the lanes that borrow from this one; written under the lock.
    private let isHeld = Atomic<Bool>(false)
    /// How often the lane was suspended and went on: odd while it is suspended. Written under the lock.
    private let pauses = Atomic<UInt64>(0)

    /// What searches for circles of its operations' dependencies may still cost; of a queue's lane.
    let searchSteps = Atomic<Int>(DependencyCircles.stepsMax)

    /// Runs what runs in no `AOperationQueue`; unlimited.
    static let outside = Lane()

    /// The lane of a queue.
    init() {
        parent = nil
        outer = nil
        isLentSlot = false
        state = Guarded(LaneState())
    }

    /// The lane of a group that runs in `lane` and lends its own slot, if it has one.
    init(of lane: Lane, hasSlot: Bool, limit: Int) {
        parent = lane.root
        outer = lane
        isLentSlot = hasSlot
        state = Guarded(LaneState(borrowed: hasSlot ? 1 : 0, hasPlace: hasSlot && lane.parent != nil, limit: limit))
    }

    /// The lane that owns the slots.
    var root: Lane { parent ?? self }

    // MARK: Members

    /// Takes a member in. May be called under the operation's lock.
    ///
    /// - Parameter epoch: behind which barrier it is; nil for the last one.
    func insert(_ member: LaneMember, of host: (any LaneHost)?, epoch: UInt64? = nil) -> Membership {
        let (place, epoch) = state.withLock { $0.insert(member, epoch: epoch) }
        return Membership(lane: self, host: host, place: place, epoch: epoch)
    }

    /// Something is ready to run.
    func enqueue(_ item: LaneItem, priority: Foundation.Operation.QueuePriority, epoch: UInt64?) {
        let item = ReadyItem(item)
        pump { $0.enqueue(item, priority: priority, epoch: epoch) }
    }

    /// A member has ended. A lane that borrows its slots keeps them until the group has been told: it may need the slot
    /// for its next child.
    func remove(_ membership: Membership, wasRunning: Bool, returningSlot: Bool) {
        let remove = { (state: inout LaneState) in
            state.remove(
                at: membership.place, epoch: membership.epoch, wasRunning: wasRunning, returningSlot: returningSlot)
        }
        guard parent != nil else { return pump(after: remove) }
        state.withLock { state in
            remove(&state)
            state.keep(1)
        }
    }

    /// The host of an ended member has been told.
    func hostWasTold() {
        if parent != nil { pump { $0.keep(-1) } }
    }

    /// Gives nothing back while `body` runs: what it adds is not ready at once.
    func keepingSlots(_ body: () -> Void) {
        state.withLock { $0.keep(1) }
        body()
        pump { $0.keep(-1) }
    }

    /// Something has been prepared, after it had reached a slot: it is first in line.
    func enqueueFirst(_ item: LaneItem) {
        let item = ReadyItem(item)
        pump { $0.enqueueFirst(item) }
    }

    /// Runs `job` on one of the lane's threads, without a slot.
    func perform(quality: QualityOfService, _ job: @escaping @Sendable () -> Void) {
        executor(for: quality).0.async(execute: job)
    }

    /// The group's end: takes back what the lane has borrowed and does not use.
    ///
    /// - Returns: whether the group's own slot is among that, and whether it has yielded its place.
    func close() -> (hasSlot: Bool, isYielded: Bool) {
        let (count, isYielded, left) = state.withLock { $0.close() }
        withExtendedLifetime(left) {}  // released outside of the lock
        let hasOwn = isLentSlot && count > 0
        let borrowed = hasOwn ? count - 1 : count
        if borrowed > 0 { root.acceptReturned(borrowed) }
        return (hasOwn, isYielded)
    }

    /// In the order in which they came.
    var members: [LaneMember] { state.withLock { $0.currentMembers } }

    /// How many there are, or were lately.
    var memberCount: Int { state.withLock { $0.memberCount } }

    /// Behind which barrier comes what is added now.
    var lastEpoch: UInt64 { state.withLock { $0.lastEpoch } }

    /// Whether members of `epoch` wait for those of earlier ones.
    func hasBarrier(before epoch: UInt64) -> Bool { state.withLock { $0.hasBarrier(before: epoch) } }

    /// Whether later members wait for those of `epoch`.
    func hasBarrier(behind epoch: UInt64) -> Bool { state.withLock { $0.hasBarrier(behind: epoch) } }

    /// Those for whose ends the members of `epoch` wait.
    ///
    /// - Complexity: O(members).
    func members(before epoch: UInt64) -> [Foundation.Operation] {
        members.filter { member in
            switch member {
            case .operation(let operation): operation.core.withLock { $0.membership.map { $0.epoch < epoch } ?? false }
            case .plain(let plain): plain.epoch.map { $0 < epoch } ?? false
            }
        }.map(\.operation)
    }

    /// Those that are plain operations, by these.
    var plainMembers: [ObjectIdentifier: PlainMember] {
        let plain = members.compactMap { member in
            if case .plain(let plain) = member { (ObjectIdentifier(plain.operation), plain) } else { nil }
        }
        return Dictionary(plain) { $1 }
    }

    /// Whether all that is ready is about to run: nothing else has to end first.
    var runsAllReady: Bool {
        guard !isPaused else { return false }
        return limit == .max && root.limit == .max || state.withLock { $0.runsAllReady }
    }

    // MARK: Settings

    var limit: Int {
        get { state.withLock { $0.limit } }
        set { changeHold { $0.limit = newValue } }
    }

    var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set { changeHold { $0.isSuspended = newValue } }
    }

    /// Starts nothing while `body` runs: cancelling one operation must not start the next that is to be cancelled.
    func withoutStarts(_ body: () -> Void) {
        changeHold { $0.holds += 1 }
        body()
        changeHold { $0.holds -= 1 }
    }

    /// Puts what belongs together into the lane, by `body`. If it is bound, it starts when all of it is there.
    func enterTogether(_ isBound: Bool, _ body: () -> Void) {
        if isBound { withoutStarts(body) } else { body() }
    }

    private func changeHold(_ change: (inout LaneState) -> Void) {
        let isPaused = state.withLock { state in
            change(&state)
            isHeld.store(state.isHeld, ordering: .releasing)
            guard state.isPaused == pauses.load(ordering: .relaxed).isMultiple(of: 2) else { return false }
            pauses.add(1, ordering: .sequentiallyConsistent)
            return state.isPaused
        }
        if isPaused { LockTable.shared.takeBack(from: self) }
        pump()
    }

    /// Another number each time the queue is suspended, or goes on.
    var pause: UInt64 { root.pauses.load(ordering: .sequentiallyConsistent) }

    /// Whether the queue starts nothing: it is suspended, or has no slots.
    var isPaused: Bool { !pause.isMultiple(of: 2) }

    var callbackQueue: DispatchQueue? {
        get { root.callbacks.withLock { $0 } }
        set { root.callbacks.withLock { $0 = newValue } }
    }

    func setExecutor(_ executor: DispatchQueue?) { state.withLock { $0.executor = executor } }

    var quality: QualityOfService { state.withLock { $0.quality } }

    func setQuality(_ quality: QualityOfService) { state.withLock { $0.quality = quality } }

    // MARK: Slots

    /// Takes a slot out of turn; only for lanes without a limit.
    func takeSlot() { state.withLock { $0.takeSlot() } }

    /// A slot came back unused.
    func returnSlot() {
        state.withLock { $0.returnSlot() }
        pump()
    }

    /// A member stops running although it has not ended.
    ///
    /// - Parameters:
    ///   - isRunning: whether it has its place; a group may have yielded it.
    ///   - isReturned: whether it has its slot; a group's may be with others.
    func giveUpSlot(from isRunning: Bool, returning isReturned: Bool) {
        state.withLock { $0.stopRunning(wasRunning: isRunning, returningSlot: isReturned) }
        pump()
    }

    /// The group of this lane waits for something that others run.
    func beginAwaiting() { pump { $0.await(1) } }

    /// That has ended.
    func endAwaiting() { state.withLock { $0.await(-1) } }

    private func acceptReturned(_ count: Int) {
        state.withLock { $0.acceptReturned(count) }
        pump()
    }

    /// The root lane, or the outer one, grants a slot that was asked for.
    private func grant(isWithinRoot: Bool) {
        state.withLock { $0.grant() }
        pump(isWithinRoot: isWithinRoot)
    }

    func addBarrier(_ barrier: @escaping @Sendable () -> Void) {
        state.withLock { $0.addBarrier(barrier) }
        pump()
    }

    /// Blocks the calling thread until the lane has neither members nor barriers.
    func waitUntilIdle() {
        let semaphore = DispatchSemaphore(value: 0)
        let isBusy = state.withLock { $0.addIdleWaiter(semaphore) }
        guard isBusy else { return }
        Trampoline.runWaiting()
        semaphore.wait()
    }

    /// Does what is to be done, after `change`.
    ///
    /// - Parameter isWithinRoot: whether this is a step of the root lane's own pump, which goes on afterwards with what
    ///   is asked for and given back here. So a group that is granted 100,000 slots one by one needs no deep stack.
    func pump(isWithinRoot: Bool = false, after change: (inout LaneState) -> Void = { _ in }) {
        var step = state.withLock { state in
            change(&state)
            return state.next(isRootHeld: isRootHeld)
        }
        while let current = step {
            perform(current, isWithinRoot: isWithinRoot)
            step = state.withLock { $0.next(isRootHeld: isRootHeld) }
        }
    }

    private var isRootHeld: Bool { parent?.isHeld.load(ordering: .acquiring) ?? false }

    private func perform(_ step: LaneState.Step, isWithinRoot: Bool) {
        switch step {
        case .run(.lane(let lane)): lane.grant(isWithinRoot: isWithinRoot || parent == nil)
        case .run(.plain(let member)): if !member.run() { returnSlot() }
        case .run(.operation(let operation)): preconditionFailure("\(operation) was to be run without a thread")
        case .summon(let quality): summon(quality)
        case .ask(place: true):
            // One around the other, however deep.
            Trampoline.run { [self] in outer?.enqueue(.lane(self), priority: .normal, epoch: nil) }
        case .yieldPlace:
            Trampoline.run { [self] in outer?.pump { $0.acceptPlace() } }
        case .ask(place: false):
            let own = ReadyItem(.lane(self))
            changeRoot(isWithinRoot) { $0.enqueue(own, priority: .normal, epoch: nil) }
        case .giveBack(let count): changeRoot(isWithinRoot) { $0.acceptReturned(count) }
        case .runBarrier(let barrier): runBarrier(barrier)
        case .wake(let waiters): for waiter in waiters { waiter.signal() }
        }
    }

    private func changeRoot(_ isWithinRoot: Bool, _ change: (inout LaneState) -> Void) {
        root.state.withLock(change)
        if !isWithinRoot { root.pump() }
    }

    /// The operation that a thread of this quality runs next; further threads are summoned if more may start.
    func take(_ quality: QualityOfService, isNew: Bool) -> AOperation? {
        let (operation, step) = state.withLock { state -> (AOperation?, LaneState.Step?) in
            guard let operation = state.take(quality, isNew: isNew, isRootHeld: isRootHeld) else { return (nil, nil) }
            return (operation, state.next(isRootHeld: isRootHeld))
        }
        if let step {
            perform(step, isWithinRoot: false)
            pump()
        }
        return operation
    }

    private func runBarrier(_ barrier: @escaping @Sendable () -> Void) {
        executor(for: .default).0.async { [self] in
            barrier()
            state.withLock { $0.barrierEnded() }
            pump()
        }
    }

    /// Where something of this quality runs, and whether the program has chosen that.
    func executor(for quality: QualityOfService) -> (DispatchQueue, isChosen: Bool) {
        let (executor, own) = root.state.withLock { ($0.executor, $0.quality) }
        if let executor { return (executor, true) }
        return (Self.globalQueue(quality == .default ? own : quality), false)
    }

    private static func globalQueue(_ quality: QualityOfService) -> DispatchQueue {
        switch quality {
        case .userInteractive: return .global(qos: .userInteractive)
        case .userInitiated: return .global(qos: .userInitiated)
        case .utility: return .global(qos: .utility)
        case .background: return .global(qos: .background)
        case .default: return .global(qos: .default)
        @unknown default: return .global(qos: .default)
        }
    }
}
