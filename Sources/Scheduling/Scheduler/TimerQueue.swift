import HeapModule

/// What is to be looked at when a boot time has come. Entries are not taken out when they lose their reason: whoever
/// gets one checks whether it still stands.
struct TimerQueue {
    enum Reason {
        /// The unit may be tried again; the wall time names the wait it belongs to.
        case retry(UnitID, Int64)
        case lease(WorkerNumber)
        case orphanLimit(WorkerNumber)
        /// By then what runs under a key on a silent worker has been stopped.
        case lockLease(WorkerNumber)
        /// Executors have had the time to attach again after a start.
        case reattachOver
        /// The attempt should have ended by now, its worker's own watch included.
        case attemptTimeout(UnitID, Attempt)
        /// The group's timeout; the wall time is when that attempt of it began.
        case groupTimeout(UnitID, Int64)
        /// The unit's delay; the wall time names the wait it belongs to.
        case delay(UnitID, Int64)
        /// The unit must have ended by this wall time.
        case deadline(UnitID, Int64)
        /// The unit may not wait for its start any longer; the wall time is when it began to.
        case queueTimeout(UnitID, Int64)
        /// The unit may be judged again; the wall time names the wait it belongs to.
        case postponement(UnitID, Int64)
        /// The submission that has ended is to be forgotten.
        case retention(SubmissionNumber)
        /// What has ended takes too much room.
        case room
        /// The front of a rate limit's line may start.
        case turn(Int32)
    }

    private struct Entry: Comparable {
        let due: Int64
        let serial: UInt64
        let reason: Reason
        static func == (a: Self, b: Self) -> Bool { a.serial == b.serial }
        static func < (a: Self, b: Self) -> Bool { (a.due, a.serial) < (b.due, b.serial) }
    }

    private var heap = Heap<Entry>()
    private var serial: UInt64 = 0

    var nextDue: Int64? { heap.min?.due }
    /// What is waited for, in no order: for checks.
    var reasons: [Reason] { heap.unordered.map(\.reason) }

    mutating func insert(_ reason: Reason, due: Int64) {
        serial += 1
        heap.insert(Entry(due: due, serial: serial, reason: reason))
    }

    mutating func popDue(at boot: Int64) -> Reason? {
        guard let first = heap.min, first.due <= boot else { return nil }
        return heap.removeMin().reason
    }
}

extension TimerQueue.Reason {
    /// The unit that it is about; nil: about something else.
    var unit: UnitID? {
        switch self {
        case .retry(let unit, _), .attemptTimeout(let unit, _), .groupTimeout(let unit, _), .delay(let unit, _), .deadline(let unit, _),
            .queueTimeout(let unit, _), .postponement(let unit, _):
            unit
        case .lease, .orphanLimit, .lockLease, .reattachOver, .retention, .room, .turn: nil
        }
    }
}
