/// What has ended since the scheduler was started, counted as it happens. Volatile: nothing of it is journaled, and it begins anew with
/// each start.
public struct Tally: Sendable {
    /// How an operation ended; `retrying`: an attempt has failed, and another one follows.
    public enum End: Int, CaseIterable, Sendable { case succeeded, failed, cancelled, retrying }

    /// Types that are counted by themselves; those that come later are counted together, as `other`.
    public static let typesMax = 200

    /// Names of types, in the order in which they came; the first is `other`.
    public private(set) var types = ["other"]
    /// By type, and by `End` within it.
    public private(set) var ends = [UInt64](repeating: 0, count: End.allCases.count)
    public private(set) var submissions = [UInt64](repeating: 0, count: 3)
    public internal(set) var submitted: UInt64 = 0
    /// From when an operation could begin until it did, in milliseconds, of the last attempt.
    public private(set) var queued = Histogram.times
    /// From its beginning to its end.
    public private(set) var running = Histogram.times
    /// From when it could begin to its end, all attempts included.
    public private(set) var whole = Histogram.times
    /// From asking for locks until all of them were there.
    public internal(set) var lockWaits = Histogram.times
    /// By class of operations: its place in `types`; -1: it has none yet.
    private var slots: [Int32] = []
    private var slotsByName: [String: Int32] = [:]

    init() {}

    public func count(ofType type: Int, _ end: End) -> UInt64 { ends[type * End.allCases.count + end.rawValue] }

    /// How many submissions have ended so; none is `retrying`.
    public func submissions(_ end: End) -> UInt64 { end == .retrying ? 0 : submissions[end.rawValue] }

    /// - Parameter type: asked only when the class is met for the first time.
    mutating func note(_ end: End, ofClass number: Int32, type: () -> String) {
        ends[Int(slot(ofClass: number, type)) * End.allCases.count + end.rawValue] += 1
    }

    mutating func noteSubmission(_ end: End) { submissions[end.rawValue] += 1 }

    mutating func noteTimes(queuedAt: Int64, startedAt: Int64, finishedAt: Int64) {
        guard startedAt > 0 else { return }
        running.add(finishedAt - startedAt)
        guard queuedAt > 0 else { return }
        queued.add(startedAt - queuedAt)
        whole.add(finishedAt - queuedAt)
    }

    private mutating func slot(ofClass number: Int32, _ type: () -> String) -> Int32 {
        let index = Int(number)
        while slots.count <= index { slots.append(-1) }
        if slots[index] >= 0 { return slots[index] }
        let name = type()
        if slotsByName[name] == nil, types.count <= Self.typesMax {
            slotsByName[name] = Int32(types.count)
            types.append(name)
            ends += [UInt64](repeating: 0, count: End.allCases.count)
        }
        slots[index] = slotsByName[name] ?? 0
        return slots[index]
    }
}

/// How many things there are of each kind right now.
public struct Standing: Hashable, Sendable {
    public var pendingSubmissions = 0
    public var runningSubmissions = 0
    public var pausedSubmissions = 0
    /// That have ended and are still known.
    public var endedSubmissions = 0
    /// Of submissions that have not ended.
    public var pendingOperations = 0
    public var runningOperations = 0
    /// Executors by what is known of them.
    public var attachedWorkers = 0
    public var drainingWorkers = 0
    public var silentWorkers = 0
    /// Of the attached ones.
    public var slots = 0
    public var slotsTaken = 0
    /// Locks that somebody holds, and requests that wait for one.
    public var heldLocks = 0
    public var waitingForLocks = 0

    public init() {}
}
