import Foundation
import GRDB
import Scheduling

/// A row of the journal, as it was read.
struct StoredBatch: Sendable {
    let first: UInt64
    let last: UInt64
    let body: [UInt8]
    let chain: [UInt8]

    /// What a row is read from.
    static let columns =
        "first, " + [SoundColumn.integer("last"), SoundColumn.blob("body"), SoundColumn.blob("chain")].joined(separator: ", ")

    /// - Parameter path: of the journal, for the error.
    /// - Throws: `JournalError.damagedBatch`: a damaged page can give rows with anything in them.
    init(_ row: Row, path: String) throws {
        let columns: [DatabaseValue] = [row["first"], row["last"], row["body"], row["chain"]]
        guard let first = Int64.fromDatabaseValue(columns[0]), let last = Int64.fromDatabaseValue(columns[1]),
            let body = Data.fromDatabaseValue(columns[2]), let chain = Data.fromDatabaseValue(columns[3])
        else {
            let first = Int64.fromDatabaseValue(columns[0]) ?? 0
            throw JournalError.damagedBatch(path: path, first: UInt64(bitPattern: first), reason: "its row cannot be read")
        }
        self.first = UInt64(bitPattern: first)
        self.last = UInt64(bitPattern: last)
        self.body = [UInt8](body)
        self.chain = [UInt8](chain)
    }

    /// Reads the facts, which follow on `end`, checking chain and continuity on the way.
    ///
    /// - Parameter path: of the journal, for the errors.
    /// - Returns: where the journal ends with it.
    /// - Throws: `JournalError.damagedBatch` when it is not what was written, `.misfit` when `each` throws.
    func fold(after end: JournalEnd, path: String, _ each: (Fact) throws -> Void) throws -> JournalEnd {
        func damaged(_ reason: String) -> JournalError { .damagedBatch(path: path, first: first, reason: reason) }
        guard first == end.sequence.next.rawValue else {
            throw damaged("fact \(end.sequence.next.rawValue) should follow: a batch is missing")
        }
        guard JournalBatch.chain(after: end.chain, first: first, last: last, body: body) == chain else {
            throw damaged("its chain hash does not fit")
        }
        var sequence = end.sequence
        do {
            try JournalBatch.forEachFact(in: body) { fact in
                sequence = sequence.next
                do { try each(fact) } catch {
                    if let rules = (error as? FactMismatch)?.newerRules { throw JournalError.newerRules(path: path, rules: rules) }
                    throw JournalError.misfit(path: path, sequence: sequence.rawValue, reason: "\(error)")
                }
            }
        } catch let error as JournalError { throw error } catch {
            throw damaged("\(error)")
        }
        guard sequence.rawValue == last else { throw damaged("it ends at fact \(sequence.rawValue), not at \(last)") }
        return JournalEnd(sequence: sequence, chain: chain)
    }
}
