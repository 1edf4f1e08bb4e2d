import Logging
import Scheduling
import Synchronization
import Wire

/// The right to write to the journal, and what whoever has it goes on from. One thread has it at a time.
final class JournalPen: Sendable {
    /// Facts of a batch are merged into one row up to this size, so that recovery reads rows of bounded size.
    static let rowBytes = 4 << 20
    /// Microseconds of the last commit from which on nobody commits beside the journal's thread: a disk that takes so long is one on which
    /// others should not wait.
    static let quickMicroseconds: Int64 = 2_000

    /// What belongs to the one who has the pen.
    struct Place: Sendable {
        var end: JournalEnd
        var backlog: SnapshotBacklog?
        var room: LogRoom
        /// What the last commit took.
        fileprivate var lastMicroseconds: Int64 = 0
    }

    private enum State: Sendable {
        case writing(Place)
        /// A commit has failed: what the disk holds is unknown, and nothing more is written.
        case broken(JournalError)
    }

    /// What a commit beside the journal's thread came to.
    struct Done: Sendable {
        let end: JournalSequence
        /// Whether the journal's thread has something to do now.
        let asksForThread: Bool
    }

    private let database: JournalDatabase
    private let quickMicroseconds: Int64
    private let state: Mutex<State>

    init(
        _ database: JournalDatabase, after end: JournalEnd, _ backlog: SnapshotBacklog?, logger: Logger,
        quickMicroseconds: Int64 = JournalPen.quickMicroseconds
    ) {
        self.database = database
        self.quickMicroseconds = quickMicroseconds
        state = Mutex(.writing(Place(end: end, backlog: backlog, room: LogRoom(of: database, logger: logger))))
    }

    /// Waits for the pen.
    ///
    /// - Throws: what `body` throws, after which nobody writes any more; what was thrown before.
    func take(_ body: (inout Place) throws(JournalError) -> Void) throws(JournalError) {
        try state.withLock { state throws(JournalError) in try Self.write(&state, body) }
    }

    /// Commits the facts, if nobody has the pen, the journal ends at `end`, and the last commit was quick.
    ///
    /// - Returns: nil: nothing was done.
    /// - Throws: as ``take(_:)``.
    func commitIfFree(_ facts: [Fact], after end: JournalSequence) throws(JournalError) -> Done? {
        let done = try state.withLockIfAvailable { state throws(JournalError) -> Done? in
            if case .writing(let place) = state, place.end.sequence != end || place.lastMicroseconds >= quickMicroseconds { return nil }
            return try Self.write(&state) { place throws(JournalError) -> Done? in
                // Who has the loop waits for nobody: the journal's own thread does.
                guard try place.commitUnlessLocked(facts, database) else { return nil }
                return Done(end: place.end.sequence, asksForThread: place.isSnapshotDue(at: BootClock.milliseconds()) || place.room.isDue)
            }
        }
        return done ?? nil
    }

    /// Whether a snapshot is due, and whether it waits for room; nil: somebody has the pen, who looks when that is done.
    func snapshotNeed(at now: Int64) -> (isDue: Bool, lacksRoom: Bool)? {
        state.withLockIfAvailable { state in
            guard case .writing(let place) = state, let backlog = place.backlog else { return (false, false) }
            return (backlog.isDue(at: now), backlog.lacksRoom(at: now))
        }
    }

    private static func write<Result>(
        _ state: inout State, _ body: (inout Place) throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        switch state {
        case .broken(let error): throw error
        case .writing(var place):
            do throws(JournalError) {
                let result = try body(&place)
                state = .writing(place)
                return result
            } catch {
                state = .broken(error)
                throw error
            }
        }
    }
}

extension JournalPen.Place {
    /// - Returns: up to where the journal is on the disk.
    mutating func commit(_ lists: [[Fact]], _ database: JournalDatabase) throws(JournalError) -> JournalSequence {
        let batches = Self.batches(of: lists, after: end.sequence)
        let began = LoopMeter.now()
        note(lists, batches, try database.commit(batches, after: end), since: began)
        return end.sequence
    }

    /// - Returns: false: another program has the file locked, and nothing was done.
    mutating func commitUnlessLocked(_ facts: [Fact], _ database: JournalDatabase) throws(JournalError) -> Bool {
        let batches = Self.batches(of: [facts], after: end.sequence)
        let began = LoopMeter.now()
        guard let new = try database.commitUnlessLocked(batches, after: end) else { return false }
        note([facts], batches, new, since: began)
        return true
    }

    private mutating func note(_ lists: [[Fact]], _ batches: [JournalBatch], _ new: JournalEnd, since began: Int64) {
        end = new
        lastMicroseconds = LoopMeter.now() - began
        room.noteCommit()
        backlog?.add(batches.reduce(0) { $0 + Int64($1.body.count) })
        if lists.contains(where: { $0.contains(where: \.forgets) }) { backlog?.noteForgotten() }
    }

    /// Cuts SQLite's log, which gets its room anew then.
    mutating func cutLog(_ database: JournalDatabase) throws(JournalError) -> JournalDatabase.LogCut {
        let cut = try database.cutLog()
        if cut == .cut { room.beginAnew() }
        return cut
    }

    func isSnapshotDue(at now: Int64) -> Bool { backlog?.isDue(at: now) == true }

    /// Begins a snapshot if it is time for one.
    ///
    /// - Returns: of the facts up to where.
    mutating func snapshotTarget(at now: Int64) -> JournalSequence? {
        guard isSnapshotDue(at: now) else { return nil }
        backlog?.begin(at: now)
        return end.sequence
    }

    private static func batches(of lists: [[Fact]], after sequence: JournalSequence) -> [JournalBatch] {
        var batches: [JournalBatch] = []
        var batch = JournalBatch(after: sequence)
        for facts in lists {
            for fact in facts {
                if batch.body.count >= JournalPen.rowBytes {
                    let full = batch
                    batches.append(full)
                    batch = JournalBatch(after: full.last)
                }
                batch.append(fact)
            }
        }
        if !batch.isEmpty { batches.append(batch) }
        return batches
    }
}

extension Fact {
    /// A submission, of which something may be on the disk until the next snapshot.
    var forgets: Bool { if case .forgotten = self { true } else { false } }
}
