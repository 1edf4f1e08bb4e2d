import Foundation
import GRDB
import Scheduling

/// The partial results of operations, in a SQLite file of its own. What was stored is on the disk: workers forget it then.
/// Of each operation the elements of its newest attempt are kept. Belongs to one thread.
struct ElementDatabase {
    let path: String
    var totalBytesMax: Int64
    /// What was acknowledged, and was not there any more when the file was opened; nobody had been told of it.
    let losses: [ElementLoss]
    private var file: ElementFile
    /// nil: the spool is in memory.
    private var witness: ElementWitness?
    /// Bytes stored by submission.
    private var sizes: [SubmissionNumber: Int64] = [:]
    private(set) var totalBytes: Int64 = 0
    /// By attempt: the first index not yet stored; what is missing here is looked up in the file.
    private var nextIndex: [Name: UInt64] = [:]
    /// Attempts of which a run was not taken, and why: what follows is out of its order until that one is sent again.
    private var refused: [Name: String] = [:]
    /// What stays free on the disk.
    var reserve = SpoolReserve.none
    /// How long a write waits for another program that has the file locked; nil: as it was opened.
    var writePatienceMilliseconds: Int64?
    /// Bytes of the last runs that were not taken since the disk has nothing but its reserve.
    private var shortBytes: Int64 = 0

    private struct Name: Hashable {
        let unit: UnitID
        let number: Int

        init(_ run: ElementRun) { (unit, number) = (run.unit, run.number) }
    }

    private static let attemptsRemembered = 10_000

    /// - Parameters:
    ///   - looked: what ``ElementScan/look(at:)`` has found; nil: it is looked now.
    ///   - isForgotten: whether a submission is known no more: of such ones nothing is missed.
    /// - Throws: `JournalError` (a newer schema, a file that is damaged or cannot be used), `DataDirectoryError`.
    init(
        _ directory: DataDirectory, totalBytesMax: Int64, looked: ElementScan? = nil,
        isForgotten: (SubmissionNumber) -> Bool = { _ in false }
    ) throws {
        let path = directory.elementsPath
        let looked = try looked ?? ElementScan.look(at: directory)
        try directory.prepareFile(path)
        let file = try ElementFile(path: path)
        let scan = try looked ?? ElementFile.reporting(path, "read the spool of partial results") { try file.scan() }
        let acknowledged = try ElementWitness.read(in: directory.path).filter { !isForgotten($0.key) }
        let losses = scan.losses(against: acknowledged)
        try ElementFile.reporting(path, "note what is lost") { try Self.note(losses, in: file) }
        witness = try ElementWitness(directory, acknowledged)
        self.path = path
        self.totalBytesMax = totalBytesMax
        self.losses = losses
        self.file = file
        take(scan)
    }

    /// A spool in memory, without a limit; it ends with this value.
    ///
    /// - Throws: GRDB's errors.
    init() throws {
        path = ":memory:"
        totalBytesMax = .max
        losses = []
        file = try ElementFile()
    }

    private mutating func take(_ scan: ElementScan) {
        sizes = scan.sizes
        totalBytes = sizes.values.reduce(0, +)
        nextIndex = [:]
    }

    /// Readers are told of them, and no later start finds them again.
    private static func note(_ losses: [ElementLoss], in file: ElementFile) throws {
        guard !losses.isEmpty else { return }
        try file.queue.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                for loss in losses { try note(loss, database) }
                return .commit
            }
        }
    }

    private static func note(_ loss: ElementLoss, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO lost (submission, unit, number, next) VALUES (?, ?, ?, ?)",
            arguments: [loss.unit.submission.rawValue, loss.unit.index, loss.number, Int64(bitPattern: loss.next)])
    }

    /// Before anything is written: what the last write may have left is found out.
    private mutating func resolveDoubt() throws {
        if let scan = try file.reopenIfDoubtful() { take(scan) }
    }

    // MARK: Storing

    /// What storing some runs changes; it counts when it is on the disk.
    private struct Storing {
        var added: [SubmissionNumber: Int64] = [:]
        var next: [Name: UInt64] = [:]
        /// Attempts of which the last run was taken, and those of which it was not.
        var taken: Set<Name> = []
        var refused: [Name: String] = [:]
        var receipts: [ElementReceipt] = []
        /// What the disk has room for; the rest is not taken.
        var room = Int64.max
        /// What the file takes in all.
        var free = Int64.max
        /// Something was not taken for want of room.
        var isShort = false

        /// Whether there is room for one more, which is taken up then. The largest one is larger than what is stored at once otherwise.
        mutating func takes(_ bytes: Int64) -> Bool {
            guard room < .max else { return true }
            guard bytes <= room || (added.isEmpty && bytes <= free) else { return false }
            room -= bytes
            return true
        }

        mutating func end(_ receipt: ElementReceipt, of name: Name) {
            next[name] = receipt.next
            refused[name] = receipt.full
            if receipt.full == nil { taken.insert(name) } else { taken.remove(name) }
            receipts.append(receipt)
        }
    }

    /// Stores the runs in order, without what was stored before and as far as there is room. What was stored is on the disk
    /// when this returns.
    ///
    /// What a sender does not send again, because it was told that it is stored, and is not there, is lost: that is noted, for readers, and
    /// it goes on behind.
    ///
    /// - Throws: GRDB's errors, `JournalError`; nothing may be taken for stored then, and all of it is to be sent again.
    mutating func append(_ runs: [ElementRun]) throws -> [ElementReceipt] {
        do {
            try resolveDoubt()
            var storing = Storing()
            let needed = runs.reduce(0) { $0 + Int64($1.spooledBytes) }
            let growth = reserve.growthBytes
            try write { database in
                if growth < needed {
                    let free = try Self.freePageBytes(database)
                    // Not all of it at once: SQLite's log takes as much.
                    storing.room = growth + min(free, Int64(CoordinatorLimits.shortPieceBytes))
                    storing.free = growth + free
                }
                for run in runs { try store(run, &storing, database) }
            }
            // What the file takes with the next messages is no reason to remove anything.
            shortBytes = storing.isShort ? max(0, needed - storing.free) : 0
            nextIndex.merge(storing.next) { $1 }
            for (submission, bytes) in storing.added { count(bytes, of: submission) }
            if nextIndex.count > Self.attemptsRemembered { nextIndex.removeAll() }
            let ends = storing.next.filter { $0.value > 0 }
            try witness?.note(ends.map { (unit: $0.key.unit, end: ElementWitness.End(number: $0.key.number, next: $0.value)) })
            for name in storing.taken { refused[name] = nil }
            refused.merge(storing.refused) { $1 }
            return storing.receipts
        } catch {
            file.noteFailure(error)
            for run in runs { refused[Name(run)] = Self.unstorableText }
            throw error
        }
    }

    private func store(_ run: ElementRun, _ storing: inout Storing, _ database: Database) throws {
        let name = Name(run)
        let submission = run.unit.submission
        if storing.next[name] == nil {
            let begun = try begin(name, first: run.first, database)
            if begun.freed > 0 { storing.added[submission, default: 0] -= begun.freed }
            storing.next[name] = begun.next
        }
        var receipt = ElementReceipt(
            peer: run.peer, unit: run.unit, attempt: run.attempt, next: storing.next[name] ?? 0, isClosed: run.isClosed)
        if run.first > receipt.next {
            let before = storing.taken.contains(name) ? nil : refused[name]
            if let reason = storing.refused[name] ?? before {
                // What came before it was not taken, and is going to be sent again.
                receipt.full = reason
                receipt.isClosed = false
                return storing.end(receipt, of: name)
            }
            let loss = ElementLoss(unit: run.unit, number: run.number, from: receipt.next, next: run.first)
            try Self.note(loss, database)
            (receipt.loss, receipt.next) = (loss, loss.next)
        }
        let insert = try database.cachedStatement(
            sql: "INSERT INTO element (submission, unit, number, position, encoding, bytes, digest) VALUES (?, ?, ?, ?, ?, ?, ?)")
        for element in run.elements where element.index >= receipt.next {
            let total = totalBytes + storing.added.values.reduce(0, +)
            guard total + Int64(element.spooledBytes) <= totalBytesMax else {
                receipt.full = Self.fullText(totalBytesMax)
                receipt.isClosed = false
                break
            }
            guard storing.takes(Int64(element.spooledBytes)) else {
                receipt.full = Self.shortText
                receipt.isClosed = false
                storing.isShort = true
                break
            }
            try insert.execute(arguments: [
                submission.rawValue, run.unit.index, run.number, Int64(bitPattern: element.index), element.encoding, Data(element.bytes),
                Data(StoredElement.digest(of: element, run.unit, number: run.number)),
            ])
            receipt.next = element.index + 1
            storing.added[submission, default: 0] += Int64(element.spooledBytes)
        }
        storing.end(receipt, of: name)
    }

    static func fullText(_ limit: Int64) -> String {
        "held back: the coordinator's spool of partial results is full (\(limit) bytes); it goes on when submissions that have"
            + " them end, or when the coordinator is started with a larger --partial-result-bytes"
    }

    static let shortText =
        "held back: less than half of --disk-reserve is free where the coordinator keeps its data; it goes on when there is room, or when"
        + " submissions that have partial results end"

    /// What the file takes without growing.
    private static func freePageBytes(_ database: Database) throws -> Int64 {
        let pages = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        return pages * (try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
    }

    static let unstorableText = "held back: the coordinator cannot store partial results; its log says why"

    private mutating func count(_ bytes: Int64, of submission: SubmissionNumber) {
        sizes[submission, default: 0] += bytes
        totalBytes += bytes
        if sizes[submission] == 0 { sizes[submission] = nil }
    }

    /// The first index of an attempt that is not stored. One that is new makes those before it void.
    ///
    /// - Parameter first: what its sender begins with: that is not lost.
    private func begin(_ name: Name, first: UInt64, _ database: Database) throws -> (next: UInt64, freed: Int64) {
        if let known = nextIndex[name] { return (known, 0) }
        let (submission, unit, number) = (name.unit.submission.rawValue, name.unit.index, name.number)
        try database.execute(
            sql: "DELETE FROM lost WHERE submission = ? AND unit = ? AND (number < ? OR next > ?)",
            arguments: [submission, unit, number, Int64(bitPattern: first)])
        let whole = try end(of: name, database)
        let removed = try Int64.fetchOne(
            database, sql: "SELECT next FROM removed WHERE submission = ? AND unit = ? AND number = ?",
            arguments: [submission, unit, number])
        let known = [whole.next, removed.map { UInt64(bitPattern: $0) }].compactMap { $0 }
        if let next = known.max() { return (next, whole.freed) }
        let void = try Int64.fetchOne(
            database,
            sql: """
                SELECT coalesce(sum(length(bytes) + \(ElementRun.Element.overhead)), 0) FROM element
                WHERE submission = ? AND unit = ? AND number < ?
                """, arguments: [submission, unit, number])
        guard let void, void > 0 else { return (0, whole.freed) }
        try database.execute(
            sql: "DELETE FROM element WHERE submission = ? AND unit = ? AND number < ?", arguments: [submission, unit, number])
        // That they are void is known also while this attempt has none.
        try database.execute(
            sql: "INSERT OR REPLACE INTO removed (submission, unit, number, next) VALUES (?, ?, ?, 0)",
            arguments: [submission, unit, number])
        return (0, whole.freed + void)
    }

    /// The index behind the last element of an attempt; nil: it has none. Of a row that is damaged nobody knows where it belongs: it goes, if it
    /// is the last one.
    private func end(of name: Name, _ database: Database) throws -> (next: UInt64?, freed: Int64) {
        let (submission, unit, number) = (name.unit.submission.rawValue, name.unit.index, name.number)
        var freed: Int64 = 0
        while let row = try Row.fetchOne(
            database,
            sql: """
                SELECT position, encoding, bytes, digest FROM element
                WHERE submission = ? AND unit = ? AND number = ? ORDER BY position DESC LIMIT 1
                """, arguments: [submission, unit, number])
        {
            let mayLackDigest = try hasUnhashed(submission, database)
            if let element = StoredElement.read(row, name.unit, number: number, mayLackDigest: mayLackDigest) {
                return (element.index + 1, freed)
            }
            let position: DatabaseValue = row[0]
            let bytes: DatabaseValue = row[2]
            try database.execute(
                sql: "DELETE FROM element WHERE submission = ? AND unit = ? AND number = ? AND position = ?",
                arguments: [submission, unit, number, position])
            guard database.changesCount == 1 else { throw DamagedElement(number: number, index: 0) }
            freed += Int64(Data.fromDatabaseValue(bytes)?.count ?? 0) + Int64(ElementRun.Element.overhead)
        }
        return (nil, freed)
    }

    /// Elements of an earlier release have no hash.
    private func hasUnhashed(_ submission: UInt32, _ database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM unhashed WHERE submission = ?)", arguments: [submission]) ?? false
    }

    // MARK: Making room

    /// Submissions that have elements here, oldest first.
    var submissions: [SubmissionNumber] { sizes.keys.sorted() }

    /// Removes the elements of submissions that have ended, the first ones first, until a quarter of the room is free, and as much as was not
    /// taken last for want of room on the disk. That there were some is remembered: a late reader is told how many it misses.
    ///
    /// - Throws: GRDB's errors.
    mutating func remove(_ ended: [SubmissionNumber]) throws {
        for submission in ended where totalBytes > totalBytesMax / 4 * 3 || shortBytes > 0 {
            try change { database in
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO removed (submission, unit, number, next)
                        SELECT submission, unit, number, max(position) + 1 FROM element WHERE submission = ?
                        GROUP BY submission, unit, number
                        """, arguments: [submission.rawValue])
                try database.execute(sql: "DELETE FROM element WHERE submission = ?", arguments: [submission.rawValue])
            }
            let freed = sizes[submission] ?? 0
            shortBytes = max(0, shortBytes - freed)
            count(-freed, of: submission)
        }
    }

    /// Removes everything of submissions that are known no more.
    ///
    /// - Throws: GRDB's errors, `JournalError`.
    mutating func forget(_ submissions: [SubmissionNumber]) throws {
        guard !submissions.isEmpty else { return }
        try change { database in
            for submission in submissions {
                for table in ["element", "removed", "lost", "unhashed"] {
                    try database.execute(sql: "DELETE FROM \(table) WHERE submission = ?", arguments: [submission.rawValue])
                }
            }
        }
        for submission in submissions { count(-(sizes[submission] ?? 0), of: submission) }
        let gone = Set(submissions)
        nextIndex = nextIndex.filter { !gone.contains($0.key.unit.submission) }
        refused = refused.filter { !gone.contains($0.key.unit.submission) }
        try witness?.forget(submissions)
    }

    private mutating func change(_ body: (Database) throws -> Void) throws {
        do {
            try resolveDoubt()
            try write(body)
        } catch {
            file.noteFailure(error)
            throw error
        }
    }

    /// Readers, for whom operations may wait, have the patience with which the file was opened.
    private func write(_ body: (Database) throws -> Void) throws {
        try file.queue.writeWithoutTransaction { database in
            if let writePatienceMilliseconds { database.setPatience(milliseconds: writePatienceMilliseconds) }
            defer {
                // The next write sets it anew.
                if writePatienceMilliseconds != nil {
                    database.setPatience(milliseconds: Int64(JournalDatabase.patienceSeconds * 1_000))
                }
            }
            try database.inTransaction(.immediate) {
                try body(database)
                return .commit
            }
        }
    }

    // MARK: Reading

    /// Reads a page: elements in their order, at least one where there is one.
    ///
    /// - Throws: GRDB's errors; `DamagedElement`: the first one wanted is not what was stored.
    func read(_ query: ElementQuery) throws -> ElementPage {
        try file.queue.read { database in
            let (submission, unit) = (query.unit.submission.rawValue, UInt32(clamping: query.unit.index))
            let number = UInt32(clamping: query.number)
            let mayLackDigest = try hasUnhashed(submission, database)
            var page = ElementPage(next: query.from)
            var bytes = 0
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT position, encoding, bytes, digest FROM element
                    WHERE submission = ? AND unit = ? AND number = ? AND position >= ? ORDER BY position
                    """, arguments: [submission, unit, number, Int64(clamping: query.from)])
            while let row = try rows.next() {
                let stored = StoredElement.read(row, query.unit, number: query.number, mayLackDigest: mayLackDigest)
                // A damaged page can give rows twice, too.
                guard let element = stored, element.index >= page.next else { return try Self.broken(page, query) }
                if !page.elements.isEmpty && bytes + element.spooledBytes > query.limitBytes {
                    page.more = true
                    return page
                }
                bytes += element.spooledBytes
                page.elements.append(element)
                page.next = element.index + 1
            }
            let last = try Int64.fetchOne(
                database, sql: "SELECT max(position) FROM element WHERE submission = ? AND unit = ? AND number = ?",
                arguments: [submission, unit, number])
            // A damaged page can lead past rows.
            if let last, last >= Int64(clamping: page.next) { return try Self.broken(page, query) }
            let gone = try Int64.fetchOne(
                database,
                sql: """
                    SELECT max(next) FROM (
                        SELECT next FROM removed WHERE submission = ? AND unit = ? AND number = ?
                        UNION ALL SELECT next FROM lost WHERE submission = ? AND unit = ? AND number = ? AND ?)
                    """, arguments: [submission, unit, number, submission, unit, number, query.isEnded])
            if let gone { page.next = max(page.next, UInt64(bitPattern: gone)) }
            return page
        }
    }

    /// Who has the elements before a damaged one is told when it asks for that.
    private static func broken(_ page: ElementPage, _ query: ElementQuery) throws -> ElementPage {
        guard !page.elements.isEmpty else { throw DamagedElement(number: query.number, index: page.next) }
        var page = page
        page.more = true
        return page
    }

    /// Closes the connection; the WAL is copied into the file.
    ///
    /// - Throws: GRDB's errors.
    func close() throws { try file.queue.close() }
}
