/// Locks that become known while something runs: whether whoever asks for them would wait for himself.
///
/// What was submitted cannot close such a circle: a group takes all keys at once that are named inside of it, and nothing
/// inside of it waits for something outside that needs one (`Graph.keyFaults`). What is added later can: inside of a group
/// that holds other keys it waits while that holds them, and a group that somebody waits for while he holds keys did not
/// seem to need any. So each time that something added asks for locks, whatever it would wait for is looked at, also as it
/// may come to be; the request that would close a circle is the one that fails.
public struct LockCircle: Hashable, Sendable {
    /// In words.
    let text: String
    let key: String
    /// Who is in the way, by name.
    let holder: String

    fileprivate static let separator = "\0"

    /// nil: there is none.
    ///
    /// - Complexity: O(whatever it would wait for, and the lines for locks among that).
    static func search(for unit: UnitID, in durable: DurableState) -> LockCircle? {
        let index = durable.index(of: unit.submission)
        guard durable.submissions[index].isAdded(unit.index) else { return nil }
        var around: Set<UnitID> = [unit]
        var current = unit.index
        while durable.submissions[index].units[current].parent >= 0 {
            current = Int(durable.submissions[index].units[current].parent)
            around.insert(UnitID(unit.submission, current))
        }
        var search = LockSearch(around: around, asking: unit, durable: durable)
        for term in durable.submissions[index].lockTerms(of: unit.index) {
            for first in search.inTheWay(of: term) {
                guard let problem = search.waits(of: first) else { continue }
                let (key, holder) = (durable.locks.keys[Int(term.lock.key)], durable.name(of: first))
                let text =
                    "asks for the key `\(key)`, for which it would wait for \(holder), which \(problem);"
                    + " name the key on the group around both, or on neither"
                return LockCircle(text: text, key: key, holder: holder)
            }
        }
        return nil
    }
}

/// One look at all that a unit would wait for. What has been looked at is not looked at again, whoever leads there.
private struct LockSearch {
    /// So much is looked at; beyond it the answer is that it cannot be known.
    private static let verticesMax = 200_000

    /// Who waits for a lock, in order.
    private struct Line {
        let units: [UnitID]
        let places: [UnitID: Int]
    }

    let around: Set<UnitID>
    let asking: UnitID
    let durable: DurableState
    private var seen: Set<JoinSearch.Vertex> = []
    private var lines: [LockID: Line] = [:]

    init(around: Set<UnitID>, asking: UnitID, durable: DurableState) {
        self.around = around
        self.asking = asking
        self.durable = durable
    }

    /// Who has to end before the lock is free for somebody who will stand in its line: holders, and those who wait.
    mutating func inTheWay(of term: LockTerm) -> [UnitID] {
        guard let lock = durable.locks.locks[term.lock] else { return [] }
        let line = line(of: term.lock, lock)
        return Self.isFree(lock, term, isFirst: line.units.isEmpty) ? [] : lock.holders + line.units
    }

    /// In words, if the unit waits for whoever asks.
    mutating func waits(of first: UnitID) -> String? {
        var open = [JoinSearch.Vertex(unit: first, isStart: false)]
        while let vertex = open.popLast() {
            // Whatever waits for the end of a group around the one that asks, waits for that.
            if around.contains(vertex.unit), !vertex.isStart { return "waits for it" }
            guard seen.insert(vertex).inserted else { continue }
            guard seen.count <= Self.verticesMax else { return "waits for more than can be looked through" }
            open += JoinSearch.prerequisites(of: vertex, asking, durable, seesPlaces: true)
            open += lockWaits(of: vertex.unit).map { JoinSearch.Vertex(unit: $0, isStart: false) }
        }
        return nil
    }

    /// Whom the unit waits for: of a line only the one before it, who waits for the others.
    private mutating func lockWaits(of unit: UnitID) -> [UnitID] {
        guard let request = durable.locks.requests[unit], !request.isHeld else { return [] }
        var found: [UnitID] = []
        for term in request.terms {
            guard let lock = durable.locks.locks[term.lock] else { continue }
            let line = line(of: term.lock, lock)
            let place = line.places[unit] ?? line.units.count
            if Self.isFree(lock, term, isFirst: place == 0) { continue }
            found += lock.holders
            if place > 0 { found.append(line.units[place - 1]) }
        }
        return found
    }

    private static func isFree(_ lock: LockTable.Lock, _ term: LockTerm, isFirst: Bool) -> Bool {
        isFirst && lock.hasRoom && lock.holders.count < Int(term.limit)
    }

    private mutating func line(of id: LockID, _ lock: LockTable.Lock) -> Line {
        if let line = lines[id] { return line }
        let units = durable.locks.ahead(of: nil, in: lock)
        let line = Line(units: units, places: Dictionary(zip(units, units.indices), uniquingKeysWith: { first, _ in first }))
        lines[id] = line
        return line
    }
}

extension Submission {
    func lockCycleFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        guard let found = lockCycles[Int32(unit)] else { preconditionFailure("unit \(unit) of \(id) has closed no circle of waits") }
        return Failure(
            code: .lockCycle, isCondition: true, publisher: path, message: found.text, typeName: "AOperationError.LockCycle", origin: path,
            detail: found.key.isEmpty ? nil : .circle(keys: [found.key], holders: [found.holder]))
    }
}

extension ByteWriter {
    /// What it consists of is behind its text, so that the text alone can still be read.
    mutating func write(_ circle: LockCircle) {
        write([circle.text, circle.key, circle.holder].joined(separator: LockCircle.separator))
    }
}

extension ByteReader {
    mutating func lockCircle() throws(DecodingFailure) -> LockCircle {
        let text = try text()
        let parts = text.split(separator: LockCircle.separator, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return LockCircle(text: text, key: "", holder: "") }
        return LockCircle(text: parts[0], key: parts[1], holder: parts[2])
    }
}
