import Foundation
import GRDB
import Scheduling

/// What a look at a whole spool of partial results finds wrong, while no coordinator runs on it. Nothing is changed.
struct ElementVerification {
    /// In words; empty: nothing.
    let problems: [String]
    /// Why it could not be looked at, in words; nil: it could.
    let notLookedAt: String?

    /// - Parameter scheduler: what is known of the submissions.
    init(_ directory: DataDirectory, _ scheduler: Scheduler) {
        do throws(JournalError) {
            problems = try Self.find(directory, scheduler)
            notLookedAt = nil
        } catch {
            switch error {
            case .damagedSpool, .damagedFile, .damagedLog: (problems, notLookedAt) = (["\(error)"], nil)
            // A disk that is full or cannot be read, somebody who has locked the file, or a newer release that has written it.
            default: (problems, notLookedAt) = ([], "\(error)")
            }
        }
    }

    private static func find(_ directory: DataDirectory, _ scheduler: Scheduler) throws(JournalError) -> [String] {
        let path = directory.elementsPath
        let ids = scheduler.submissionIDs
        var (scan, problems) = (ElementScan(), [String]())
        if let queue = try ElementFile.openToRead(in: directory) {
            (scan, problems) = try ElementFile.reporting(path, "read the spool of partial results") { () -> (ElementScan, [String]) in
                try queue.read { database -> (ElementScan, [String]) in
                    let file = try String.fetchAll(database, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
                    let elements = try damaged(database, ids)
                    return (try ElementScan(database, path: path), file.map { "\(path): \($0)" } + elements)
                }
            }
        } else if DurableFiles.hasContent(path) {
            // Of an earlier release, which the next start brings to this one's layout.
            return []
        }
        let acknowledged = try ElementWitness.read(in: directory.path).filter { !scheduler.isForgotten($0.key) }
        return problems + scan.losses(against: acknowledged).map { text($0, ids) }
    }

    /// One line for each attempt that has elements which are not what was written.
    private static func damaged(_ database: Database, _ ids: [SubmissionNumber: String]) throws -> [String] {
        let unhashed = Set(try UInt32.fetchAll(database, sql: "SELECT submission FROM unhashed"))
        var problems: [String] = []
        var last: (unit: UnitID, number: Int)?
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT position, encoding, bytes, digest, submission, unit, number FROM element
                ORDER BY submission, unit, number, position
                """)
        while let row = try rows.next() {
            let columns: [DatabaseValue] = [row[4], row[5], row[6], row[0]]
            let submission = UInt32.fromDatabaseValue(columns[0]) ?? 0
            let unit = UnitID(SubmissionNumber(submission), Int(UInt32.fromDatabaseValue(columns[1]) ?? 0))
            let number = Int.fromDatabaseValue(columns[2]) ?? 0
            if StoredElement.read(row, unit, number: number, mayLackDigest: unhashed.contains(submission)) != nil { continue }
            if let last, last.unit == unit, last.number == number { continue }
            last = (unit, number)
            let index = UInt64(bitPattern: Int64.fromDatabaseValue(columns[3]) ?? 0)
            problems.append("\(place(unit, number, ids)): the partial result \(index) is not what was written")
        }
        return problems
    }

    private static func text(_ loss: ElementLoss, _ ids: [SubmissionNumber: String]) -> String {
        "\(place(loss.unit, loss.number, ids)): \(loss.count) partial result\(loss.count == 1 ? "" : "s") from \(loss.from) on "
            + "\(loss.count == 1 ? "was" : "were") acknowledged and \(loss.count == 1 ? "is" : "are") lost"
    }

    private static func place(_ unit: UnitID, _ number: Int, _ ids: [SubmissionNumber: String]) -> String {
        "submission \(ids[unit.submission] ?? "\(unit.submission.rawValue)"), unit \(unit.index), attempt \(number)"
    }
}
