import Foundation
import Scheduling

/// Time zones as data for the scheduler, which knows none. Each is looked up once a year.
struct ZoneTables {
    private struct Key: Hashable {
        let name: String
        let year: Int64
    }
    private var known: [Key: ZoneTable] = [:]

    /// Tables of the zones that there are among `names`, for the ten years from the one of `wall` on.
    mutating func tables(for names: [String], at wall: Int64) -> [ZoneTable] {
        names.compactMap { name in
            let year = wall / Self.yearMilliseconds
            let key = Key(name: name, year: year)
            if let table = known[key] { return table }
            guard let zone = TimeZone(identifier: name) else { return nil }
            let table = Self.table(of: zone, named: name, from: year * Self.yearMilliseconds)
            known[key] = table
            return table
        }
    }

    private static let yearMilliseconds: Int64 = 365 * 86_400_000
    private static let years: Int64 = 10
    /// No zone changes its offset twice within so short a time.
    private static let stepMilliseconds: Int64 = 14 * 86_400_000

    private static func table(of zone: TimeZone, named name: String, from start: Int64) -> ZoneTable {
        func offset(_ at: Int64) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(at) / 1_000)) }
        var table = ZoneTable(name: name, offsetSeconds: offset(start), transitions: [])
        var at = start
        var current = table.offsetSeconds
        while at < start + years * yearMilliseconds {
            let next = at + stepMilliseconds
            let later = offset(next)
            if later != current {
                var (before, after) = (at / 1_000, next / 1_000)
                while after - before > 1 {
                    let middle = (before + after) / 2
                    if offset(middle * 1_000) == current { before = middle } else { after = middle }
                }
                table.transitions.append(.init(at: after * 1_000, offsetSeconds: later))
                current = later
            }
            at = next
        }
        return table
    }
}
