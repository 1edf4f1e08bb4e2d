import Foundation
import GRDB
import Scheduling

/// What a spool of partial results has, without its elements.
struct ElementScan: Sendable {
    /// Bytes by submission.
    private(set) var sizes: [SubmissionNumber: Int64] = [:]
    /// How far the elements of each operation's newest attempt go, those included of which it is known that they are gone.
    private(set) var ends: [UnitID: ElementWitness.End] = [:]

    /// Looks into the spool of a locked directory, without changing anything, before SQLite may drop a part of its log.
    ///
    /// - Returns: nil: there is none yet, or it is of an earlier release.
    /// - Throws: `JournalError`: it cannot be used, or is damaged.
    static func look(at directory: DataDirectory) throws(JournalError) -> ElementScan? {
        guard let queue = try ElementFile.openToRead(in: directory) else { return nil }
        return try ElementFile.reporting(directory.elementsPath, "read the spool of partial results") {
            let scan = try queue.read { try ElementScan($0, path: directory.elementsPath) }
            try queue.close()
            return scan
        }
    }

    /// Of an empty spool.
    init() {}

    /// - Throws: `JournalError.damagedSpool`, GRDB's errors.
    init(_ database: Database, path: String) throws {
        let elements = try Row.fetchCursor(
            database,
            sql: """
                SELECT submission, unit, number, max(position) + 1, sum(length(bytes) + \(ElementRun.Element.overhead)) FROM element
                GROUP BY submission, unit, number
                """)
        var last: (UnitID, Int)?
        while let row = try elements.next() {
            let (unit, number) = try add(row, path)
            // What is behind a damaged key is not found.
            if let last, last >= (unit, number) {
                throw JournalError.damagedSpool(path: path, reason: "its rows are not in their order")
            }
            last = (unit, number)
            guard let size = Int64.fromDatabaseValue(row[4]) else { throw Self.unreadable(path) }
            sizes[unit.submission, default: 0] += size
        }
        for table in ["removed", "lost"] {
            let rows = try Row.fetchCursor(database, sql: "SELECT submission, unit, number, next FROM \(table)")
            while let row = try rows.next() { _ = try add(row, path) }
        }
    }

    private mutating func add(_ row: Row, _ path: String) throws -> (UnitID, Int) {
        let columns: [DatabaseValue] = [row[0], row[1], row[2], row[3]]
        guard let submission = UInt32.fromDatabaseValue(columns[0]), let index = UInt32.fromDatabaseValue(columns[1]),
            let number = Int.fromDatabaseValue(columns[2]), let next = Int64.fromDatabaseValue(columns[3])
        else { throw Self.unreadable(path) }
        let unit = UnitID(SubmissionNumber(submission), Int(index))
        let end = ElementWitness.End(number: number, next: UInt64(bitPattern: next))
        if let known = ends[unit], (known.number, known.next) > (end.number, end.next) { return (unit, number) }
        ends[unit] = end
        return (unit, number)
    }

    private static func unreadable(_ path: String) -> JournalError { .damagedSpool(path: path, reason: "a row cannot be read") }

    /// What was acknowledged and is not there, in the order of units.
    func losses(against acknowledged: ElementWitness.Ends) -> [ElementLoss] {
        acknowledged.values.joined().compactMap { unit, told -> ElementLoss? in
            let end = ends[unit]
            // One that is newer has made it void.
            if let end, end.number > told.number { return nil }
            let from = end?.number == told.number ? end?.next ?? 0 : 0
            return from < told.next ? ElementLoss(unit: unit, number: told.number, from: from, next: told.next) : nil
        }.sorted { $0.unit < $1.unit }
    }
}

/// Partial results of an attempt that were acknowledged, and are gone.
struct ElementLoss: Hashable, Sendable {
    let unit: UnitID
    /// Of the attempt, from 1.
    let number: Int
    let from: UInt64
    /// The first index behind them.
    let next: UInt64

    var count: UInt64 { next - from }

    /// What a log says of them.
    static func text(_ losses: [ElementLoss], path: String) -> String {
        let count = losses.reduce(UInt64(0)) { $0 &+ $1.count }
        return "\(path): \(count) partial result\(count == 1 ? "" : "s") of \(losses.count) operation\(losses.count == 1 ? "" : "s") "
            + "\(count == 1 ? "was" : "were") acknowledged and \(count == 1 ? "is" : "are") lost; operations that run go on behind them, and "
            + "readers are told how many they miss"
    }
}
