import Foundation

/// Who is in a lane, what is ready, and who may run: a value that is stepped by ``Lane``.
///
/// The lane of a queue owns slots. The lane of a group borrows them from the queue's: it begins with the one that the
/// group itself was given, so that a group of a serial queue runs, and runs as a whole, on that one slot.
struct LaneState {
    /// Where the right to run comes from.
    private enum Slots {
        /// As many as the limit says.
        case own
        /// Borrowed from the root lane: `free` are held and not in use; `isAsking` for another one.
        case borrowed(free: Int, isAsking: Bool)
    }

    /// What the lane has to do after its lock is let go.
    enum Step {
        /// Let what needs no thread have its slot.
        case run(LaneItem)
        /// Have a thread of this quality take what is first.
        case summon(QualityOfService)
        /// Ask for a slot: the root lane, or the outer one, for a place in it too.
        case ask(place: Bool)
        /// Give the group's place among those that run in the outer lane to others.
        case yieldPlace
        /// Give borrowed slots back to the root lane.
        case giveBack(Int)
        case runBarrier(@Sendable () -> Void)
        case wake([DispatchSemaphore])
    }

    private var slots: Slots
    private var members = LaneMembers()
    private var ready = ReadyItems()
    /// Members that run, whether on a slot or, as a group that lent its own, without one.
    private var running = 0
    /// Children of the group that others run: it only waits for them.
    private var awaited = 0
    /// How many steps are under way in which the group may turn to its next child: it keeps its slots meanwhile.
    private var keeps = 0
    /// Whether the group counts among those that run in another group's lane.
    private let hasPlace: Bool
    /// Whether it has yielded that place, as nothing of it could run; it gets it back with a slot.
    private var isYielded = false
    /// It got the place back when it had come to its end.
    private var owesPlace = false
    /// Threads that were summoned and have not come yet.
    private var summoned = 0
    /// More of them would only wait for each other; those who come summon further ones.
    private static let summonedMaximum = ProcessInfo.processInfo.activeProcessorCount
    private var epochs = LaneEpochs()
    private var isBarrierRunning = false
    private var isClosed = false
    private var idleWaiters: [DispatchSemaphore] = []

    /// How many may run at once.
    var limit = Int.max
    /// The program's wish that nothing new starts.
    var isSuspended = false
    /// How many steps of the library are under way during which nothing may start.
    var holds = 0
    /// Whether nothing new starts, for either reason.
    var isHeld: Bool { isSuspended || holds > 0 }
    /// Whether the program has decided that nothing starts.
    var isPaused: Bool { isSuspended || limit == 0 }
    var executor: DispatchQueue?
    var quality: QualityOfService = .default

    /// A lane with slots of its own.
    init() {
        slots = .own
        hasPlace = false
    }

    /// A lane that begins with `borrowed` slots of the root lane.
    ///
    /// - Parameter hasPlace: whether its group counts among those that run in another group's lane.
    init(borrowed: Int, hasPlace: Bool, limit: Int) {
        slots = .borrowed(free: borrowed, isAsking: false)
        self.hasPlace = hasPlace
        self.limit = limit
    }

    var memberCount: Int { members.placeCount }

    /// In the order in which they came.
    var currentMembers: [LaneMember] {
        members.inOrder
    }
}

extension LaneState {
    /// Whether there is a slot for each that is ready, and nobody else gets it.
    var runsAllReady: Bool {
        guard !isPaused, limit - running >= ready.count else { return false }
        return switch slots {
        case .own: true
        case .borrowed(let free, _): free >= ready.count
        }
    }
}

// MARK: - Members

extension LaneState {
    /// - Parameter epoch: nil for the last one; the first that is left if it is over.
    mutating func insert(_ member: LaneMember, epoch: UInt64?) -> (place: Int, epoch: UInt64) {
        let place = members.insert(member)
        let open = isBarrierRunning ? epochs.first + 1 : epochs.first
        let epoch = epoch.map { max($0, open) } ?? epochs.last
        epochs[epoch].members += 1
        return (place, epoch)
    }

    /// Takes a member out, with what it held.
    mutating func remove(at place: Int, epoch: UInt64, wasRunning: Bool, returningSlot: Bool) {
        members.remove(at: place)
        epochs[epoch].members -= 1
        stopRunning(wasRunning: wasRunning, returningSlot: returningSlot)
    }

    /// A member does not run any more; a group gives back what its lane holds, even if it did not run.
    mutating func stopRunning(wasRunning: Bool, returningSlot: Bool) {
        switch slots {
        case .own:
            if returningSlot { running -= 1 }
        case .borrowed(let free, let isAsking):
            if wasRunning { running -= 1 }
            if returningSlot { slots = .borrowed(free: free + 1, isAsking: isAsking) }
        }
    }

    /// A closed lane keeps nothing: it runs nothing, and what is in line in it may hold it.
    mutating func enqueue(_ item: ReadyItem, priority: Foundation.Operation.QueuePriority, epoch: UInt64?) {
        guard !isClosed else { return }
        if let epoch, epoch > epochs.first {
            epochs[epoch].early.append((item, priority))
        } else {
            ready.append(item, priority: priority)
        }
    }

    /// Ahead of all that is ready; its epoch has begun, for it has had a slot before.
    mutating func enqueueFirst(_ item: ReadyItem) {
        guard !isClosed else { return }
        ready.appendPrepared(item)
    }

    /// A slot that came unused.
    mutating func returnSlot() { stopRunning(wasRunning: true, returningSlot: true) }

    /// A slot that somebody takes without waiting for his turn.
    mutating func takeSlot() { running += 1 }

    /// A step begins in which the group may turn to its next child, or one is over.
    mutating func keep(_ step: Int) { keeps += step }

    /// The group begins to wait for something that others run, or something of that has ended.
    mutating func await(_ step: Int) { awaited += step }

    /// Slots of this lane that a group has given back although the group goes on.
    mutating func acceptReturned(_ count: Int) { running -= count }

    /// The root lane grants a slot.
    mutating func grant() {
        switch slots {
        case .own:
            preconditionFailure("a slot was granted to a lane that owns its slots")
        case .borrowed(let free, _):
            slots = .borrowed(free: free + 1, isAsking: false)
            owesPlace = isClosed && isYielded
            if !isClosed { isYielded = false }
        }
    }

    /// The group has come to its end: takes back what the lane still holds, and keeps it from asking again.
    ///
    /// - Returns: `left`, what ended before its turn.
    mutating func close() -> (slots: Int, isYielded: Bool, left: ReadyItems) {
        isClosed = true
        let left = ready
        ready = ReadyItems()
        switch slots {
        case .own:
            return (0, isYielded, left)
        case .borrowed(let free, let isAsking):
            slots = .borrowed(free: 0, isAsking: isAsking)
            return (free, isYielded, left)
        }
    }

    /// A group in this lane yields its place.
    mutating func acceptPlace() { running -= 1 }

    mutating func addBarrier(_ barrier: @escaping @Sendable () -> Void) {
        epochs.append(barrier: barrier)
    }

    func hasBarrier(before epoch: UInt64) -> Bool { epoch > epochs.first }
    func hasBarrier(behind epoch: UInt64) -> Bool { epoch < epochs.last }
    var lastEpoch: UInt64 { epochs.last }

    mutating func barrierEnded() {
        isBarrierRunning = false
        epochs.removeFirst()
        let early = epochs[epochs.first].early
        epochs[epochs.first].early = []
        for (item, priority) in early { ready.append(item, priority: priority) }
    }

    mutating func addIdleWaiter(_ waiter: DispatchSemaphore) -> Bool {
        guard !isIdle else { return false }
        idleWaiters.append(waiter)
        return true
    }

    private var isIdle: Bool { members.isEmpty && epochs.first == epochs.last && !isBarrierRunning }
}

// MARK: - Steps

extension LaneState {
    /// The next thing to do; nil when there is nothing. Called until then, after every change.
    mutating func next(isRootHeld: Bool) -> Step? {
        let current = epochs.first
        if !isBarrierRunning, !isHeld, current < epochs.last, epochs[current].members == 0, let barrier = epochs[current + 1].barrier {
            isBarrierRunning = true
            epochs[current + 1].barrier = nil
            return .runBarrier(barrier)
        }
        switch slots {
        case .own:
            if mayStart, let step = nextStart(free: limit - running) { return step }
        case .borrowed(let free, let isAsking):
            if let step = nextOfBorrowed(free: free, isAsking: isAsking, isRootHeld: isRootHeld) { return step }
        }
        if isIdle, !idleWaiters.isEmpty {
            defer { idleWaiters = [] }
            return .wake(idleWaiters)
        }
        return nil
    }

    private var mayStart: Bool { !isHeld && running < limit }

    private mutating func nextOfBorrowed(free: Int, isAsking: Bool, isRootHeld: Bool) -> Step? {
        if isClosed {
            if owesPlace {
                owesPlace = false
                return .yieldPlace
            }
            guard free > 0 else { return nil }
            slots = .borrowed(free: 0, isAsking: isAsking)
            return .giveBack(free)
        }
        let wanted = mayStart ? min(ready.count, limit - running) : 0
        let usable = isRootHeld ? 0 : min(free, wanted)
        if usable > 0, let step = nextStart(free: usable) { return step }
        if usable < wanted, !isAsking {
            slots = .borrowed(free: free, isAsking: true)
            return .ask(place: isYielded)
        }
        // What is not needed goes back, so that a group whose children wait for something outside of it does not keep
        // that from running; the last slot of a group whose children have all ended stays with the group.
        guard keeps == 0, !members.isEmpty || awaited > 0 else { return nil }
        if free > usable {
            slots = .borrowed(free: usable, isAsking: isAsking)
            return .giveBack(free - usable)
        }
        guard hasPlace, !isYielded, !isAsking, wanted == 0, running == 0 else { return nil }
        isYielded = true
        return .yieldPlace
    }

    /// Gives what is first a slot, or summons a thread that will; nil when enough threads are on their way.
    private mutating func nextStart(free: Int) -> Step? {
        guard let first = ready.first, case .operation = first.item else { return startFirst().map { .run($0.item) } }
        guard summoned < min(free, ready.count, Self.summonedMaximum) else { return nil }
        summoned += 1
        return .summon(first.quality)
    }

    /// Takes out what is first, with a slot.
    private mutating func startFirst() -> ReadyItem? {
        guard let item = ready.popFirst() else { return nil }
        if case .borrowed(let free, let isAsking) = slots { slots = .borrowed(free: free - 1, isAsking: isAsking) }
        running += 1
        return item
    }

    /// A thread of this quality asks for an operation to run; nil when there is nothing for it.
    ///
    /// - Parameter isNew: whether it was summoned, and has just come.
    mutating func take(_ quality: QualityOfService, isNew: Bool, isRootHeld: Bool) -> AOperation? {
        if isNew { summoned -= 1 }
        guard mayStart, let first = ready.first, first.quality == quality, case .operation(let operation) = first.item else {
            return nil
        }
        switch slots {
        case .own: break
        case .borrowed(let free, _): guard free > 0, !isRootHeld, !isClosed else { return nil }
        }
        _ = startFirst()
        return operation
    }
}
