import Foundation
import GRDB
import Scheduling
import Wire

/// A row of the spool of partial results: an element, and the hash over it and its place. A damaged page can give rows with anything in them.
enum StoredElement {
    /// SHA-256 over unit, number of the attempt, index, encoding and bytes.
    static func digest(of element: ElementRun.Element, _ unit: UnitID, number: Int) -> [UInt8] {
        var head: [UInt8] = []
        for value in [unit.rawValue, UInt64(bitPattern: Int64(number)), element.index] {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { head.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        head.append(element.encoding)
        var hasher = BlobHasher()
        hasher.update(head)
        hasher.update(element.bytes)
        return hasher.finalize().bytes
    }

    /// - Parameters:
    ///   - row: `position`, `encoding`, `bytes`, `digest`, in this order.
    ///   - mayLackDigest: it may be of an earlier release, which stored none.
    /// - Returns: nil: it is not what was written.
    static func read(_ row: Row, _ unit: UnitID, number: Int, mayLackDigest: Bool) -> ElementRun.Element? {
        let columns: [DatabaseValue] = [row[0], row[1], row[2], row[3]]
        guard let position = Int64.fromDatabaseValue(columns[0]), let encoding = UInt8.fromDatabaseValue(columns[1]),
            let bytes = Data.fromDatabaseValue(columns[2])
        else { return nil }
        let element = ElementRun.Element(index: UInt64(bitPattern: position), encoding: encoding, bytes: [UInt8](bytes))
        if columns[3].isNull { return mayLackDigest ? element : nil }
        guard let digest = Data.fromDatabaseValue(columns[3]), [UInt8](digest) == Self.digest(of: element, unit, number: number) else {
            return nil
        }
        return element
    }
}

/// A partial result that is not what was stored: no reader is given it, nor what comes after it.
struct DamagedElement: Error, CustomStringConvertible, Equatable {
    /// Of the attempt, from 1.
    let number: Int
    /// The first index that cannot be read.
    let index: UInt64

    var description: String {
        "the stored partial result \(index) of attempt \(number) is damaged: those before it are whole, and what comes from there on cannot be "
            + "read; `aop journal verify` says what else is damaged, and submitting the operation again makes them anew"
    }
}
