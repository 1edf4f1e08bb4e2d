import Logging
import Scheduling
import Synchronization
import Wire

/// Folds the facts of the journal from the last snapshot on, writes what comes out, reads it back, and then removes the facts
/// that are in it.
///
/// While it works it holds a second copy of the durable state. All its reading and writing is done by the journal's thread, in
/// short pieces between commits: there is one connection to the file.
struct SnapshotMaker {
    /// Does something on the journal's thread and waits for it.
    ///
    /// - Throws: `JournalErrand.Abandoned` when it was not done, and what was thrown there.
    typealias Perform = @Sendable (@escaping JournalErrand.Body) throws -> Void

    let scheduling: Scheduler.Configuration
    let path: String
    let logger: Logger
    let perform: Perform
    /// Whether the disk has room for so many bytes more.
    var fits: @Sendable (Int64) -> Bool = { _ in true }
    /// Whether its log has room for a removal of what a snapshot makes superfluous: what has none is removed with the next one.
    var mayPrune: @Sendable () -> Bool = { true }

    /// The disk has no room for a snapshot of so many bytes. Nothing of it is left.
    struct NoRoom: Error {
        let bytes: Int64
    }

    /// Batches are read in pieces of about this size.
    private static let pieceBytes = 4 << 20

    /// - Returns: a snapshot of the facts up to `target`, or a few more. What it makes superfluous is gone.
    /// - Throws: `JournalError`, `JournalErrand.Abandoned`, ``NoRoom``.
    func make(upTo target: JournalSequence) throws -> Snapshot {
        let began = BootClock.milliseconds()
        while mayPrune(), try ask({ database throws(JournalError) in try database.prune(behind: nil) }) {}
        let base = try ask { database throws(JournalError) in try database.newestSnapshot() }
        if let base, base.end.sequence >= target {
            try prune(behind: base)
            return base
        }
        let (scheduler, end) = try fold(from: base, upTo: target)
        let snapshot: Snapshot
        do { snapshot = try write(scheduler, end) } catch let error as NoRoom { throw try giveUp(error.bytes) }
        try check(snapshot)
        guard fits(snapshot.bytes / 2) else { throw try giveUp(snapshot.bytes) }
        try ask { database throws(JournalError) in try database.complete(snapshot) }
        try prune(behind: snapshot)
        logger.info(
            """
            snapshot made: \(end.sequence.rawValue) facts, \(snapshot.sections - 1) submissions, \(snapshot.bytes) bytes, in \
            \(BootClock.milliseconds() - began) ms
            """)
        return snapshot
    }

    /// Removes what was written of one of so many bytes, which stays in the file as room for others.
    private func giveUp(_ bytes: Int64) throws -> NoRoom {
        while mayPrune(), try ask({ database throws(JournalError) in try database.prune(behind: nil) }) {}
        return NoRoom(bytes: bytes)
    }

    private func prune(behind snapshot: Snapshot) throws {
        let sequence = snapshot.end.sequence
        while mayPrune(), try ask({ database throws(JournalError) in try database.prune(behind: sequence) }) {}
    }

    private func fold(from base: Snapshot?, upTo target: JournalSequence) throws -> (Scheduler, JournalEnd) {
        var scheduler = Scheduler(scheduling)
        var end = JournalEnd.empty
        if let base {
            for section in 0..<base.sections {
                let bytes = try ask { database throws(JournalError) in try database.section(section, of: base.end.sequence) }
                do { try scheduler.restore(section: bytes[...]) } catch {
                    throw JournalError.damagedSnapshot(path: path, sequence: base.end.sequence.rawValue, reason: "\(error)")
                }
            }
            end = base.end
        }
        while end.sequence < target {
            let after = end.sequence
            let batches = try ask { database throws(JournalError) in try database.batches(after: after, bytesMax: Self.pieceBytes) }
            guard !batches.isEmpty else {
                throw JournalError.damagedBatch(path: path, first: after.next.rawValue, reason: "it was written and is not there")
            }
            for batch in batches { end = try batch.fold(after: end, path: path) { try scheduler.restore($0) } }
        }
        return (scheduler, end)
    }

    private func write(_ scheduler: Scheduler, _ end: JournalEnd) throws -> Snapshot {
        var size: Int64 = 0
        scheduler.writeSnapshot { size += Int64($0.count) }
        var (hasher, written) = (SnapshotHasher(end), Int64(0))
        try scheduler.writeSnapshot { section in
            let number = hasher.sections
            for (part, start) in stride(from: 0, to: section.count, by: Snapshot.partBytes).enumerated() {
                let body = section[start..<min(start + Snapshot.partBytes, section.count)]
                // Others may have taken it meanwhile; and what is in the log by now is to be in the file as well.
                guard fits(size - written / 2) else { throw NoRoom(bytes: size) }
                written += Int64(body.count)
                try ask { database throws(JournalError) in
                    try database.write(part: part, body, section: number, of: end.sequence)
                }
            }
            hasher.update(section)
        }
        return hasher.finalize()
    }

    /// What is in the file is what was written, and is read as what it was made of.
    private func check(_ snapshot: Snapshot) throws {
        var hasher = SnapshotHasher(snapshot.end)
        for number in 0..<snapshot.sections {
            let section = try ask { database throws(JournalError) in try database.section(number, of: snapshot.end.sequence) }
            hasher.update(section)
            do { try Scheduler.check(section: section, isFirst: number == 0) } catch {
                throw JournalError.damagedSnapshot(
                    path: path, sequence: snapshot.end.sequence.rawValue, reason: "section \(number): \(error)")
            }
        }
        guard hasher.finalize() == snapshot else {
            throw JournalError.damagedSnapshot(
                path: path, sequence: snapshot.end.sequence.rawValue, reason: "what is read is not what was written")
        }
    }

    private func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (JournalDatabase) throws(JournalError) -> Answer
    ) throws -> Answer {
        let box = Box<Answer>()
        try perform { database throws(JournalError) in
            let answer = try question(database)
            box.answer.withLock { $0 = answer }
        }
        guard let answer = box.answer.withLock({ $0 }) else { throw JournalErrand.Abandoned() }
        return answer
    }

    private final class Box<Answer: Sendable>: Sendable {
        let answer = Mutex<Answer?>(nil)
    }
}
