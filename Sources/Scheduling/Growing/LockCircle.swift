/// Locks that become known while something runs: whether whoever asks for them would wait for himself.
///
/// What was submitted cannot close such a circle: a group takes all keys at once that are named inside of it, and nothing
/// inside of it waits for something outside that needs one (`Graph.keyFaults`). What is added later can: inside of a group
/// that holds other keys it waits while that holds them, and a group that somebody waits for while he holds keys did not
/// seem to need any. So each time that something added asks for locks, whatever it would wait for is looked at, also as it
/// may come to be; the request that would close a circle is the one that fails.
enum LockCircle {
    /// So much is looked at; beyond it the answer is that it cannot be known.
    private static let verticesMax = 200_000

    /// In words; nil: there is none.
    static func search(for unit: UnitID, in durable: DurableState) -> String? {
        let index = durable.index(of: unit.submission)
        guard durable.submissions[index].isAdded(unit.index) else { return nil }
        var around: Set<UnitID> = [unit]
        var current = unit.index
        while durable.submissions[index].units[current].parent >= 0 {
            current = Int(durable.submissions[index].units[current].parent)
            around.insert(UnitID(unit.submission, current))
        }
        for term in durable.submissions[index].lockTerms(of: unit.index) {
            for first in inTheWay(of: term, before: nil, durable) {
                guard let problem = waits(of: first, for: around, asking: unit, durable) else { continue }
                return "asks for the key `\(durable.locks.keys[Int(term.lock.key)])`, for which it would wait for"
                    + " \(durable.name(of: first)), which \(problem); name the key on the group around both, or on neither"
            }
        }
        return nil
    }

    /// Who has to end before the lock is free for somebody who stands in its line, or will: holders, and those before him.
    private static func inTheWay(of term: LockTerm, before unit: UnitID?, _ durable: DurableState) -> [UnitID] {
        guard let lock = durable.locks.locks[term.lock] else { return [] }
        let ahead = durable.locks.ahead(of: unit, in: lock)
        guard !lock.hasRoom || lock.holders.count >= Int(term.limit) || !ahead.isEmpty else { return [] }
        return lock.holders + ahead
    }

    private static func waits(
        of first: UnitID, for around: Set<UnitID>, asking: UnitID, _ durable: DurableState
    ) -> String? {
        var seen: Set<JoinSearch.Vertex> = []
        var open = [JoinSearch.Vertex(unit: first, isStart: false)]
        while let vertex = open.popLast() {
            // Whatever waits for the end of a group around the one that asks, waits for that.
            if around.contains(vertex.unit), !vertex.isStart { return "waits for it" }
            guard seen.insert(vertex).inserted else { continue }
            guard seen.count <= verticesMax else { return "waits for more than can be looked through" }
            open += JoinSearch.prerequisites(of: vertex, asking, durable, seesPlaces: true)
            open += lockWaits(of: vertex, durable)
        }
        return nil
    }

    private static func lockWaits(of vertex: JoinSearch.Vertex, _ durable: DurableState) -> [JoinSearch.Vertex] {
        guard let request = durable.locks.requests[vertex.unit], !request.isHeld else { return [] }
        return request.terms.flatMap { term in
            inTheWay(of: term, before: vertex.unit, durable).map { JoinSearch.Vertex(unit: $0, isStart: false) }
        }
    }
}

extension Submission {
    func lockCycleFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .lockCycle, publisher: path, message: lockCycles[Int32(unit)] ?? "its locks would close a circle of waits",
            typeName: "LockCycle", origin: path)
    }
}
