/// Those who wait for the end of one operation, in the order in which they came.
///
/// Adding one, and removing it, takes amortised constant time. Who is removed leaves a hole, so that the places of the others
/// stay what they are, until half of the places are holes.
struct WaiterList {
    /// With holes.
    private(set) var places: [any Waiter] = []
    private var holes = 0
    /// Where each one is; only once somebody was removed from among many.
    private var index: [ObjectIdentifier: Int]?

    private static let searchedLinearly = 16

    /// Stands where one was removed.
    private final class Hole: Waiter, Sendable {
        static let hole = Hole()
        func dependencyEnded() {}
        var stillWaits: Bool { false }
    }

    var isEmpty: Bool { places.count == holes }

    /// Without holes.
    var all: [any Waiter] { holes == 0 ? places : places.filter { !Self.isHole($0) } }

    static func isHole(_ waiter: any Waiter) -> Bool { waiter === Hole.hole }

    mutating func append(_ waiter: any Waiter) {
        index?[ObjectIdentifier(waiter)] = places.count
        places.append(waiter)
    }

    mutating func takeAll() -> [any Waiter] {
        defer { self = WaiterList() }
        return all
    }

    /// Removes `waiter`; false if it is not there.
    ///
    /// - Parameter mark: a place; where the others come closer together it goes with them.
    mutating func remove(_ waiter: any Waiter, keeping mark: inout Int) -> Bool {
        guard let place = place(of: waiter) else { return false }
        places[place] = Hole.hole
        index?[ObjectIdentifier(waiter)] = nil
        holes += 1
        if holes * 2 > places.count { close(keeping: &mark) }
        return true
    }

    private mutating func place(of waiter: any Waiter) -> Int? {
        guard places.count > Self.searchedLinearly else { return places.firstIndex { $0 === waiter } }
        if index == nil {
            index = [:]
            for (place, waiter) in places.enumerated() { index?[ObjectIdentifier(waiter)] = place }
        }
        return index?[ObjectIdentifier(waiter)]
    }

    private mutating func close(keeping mark: inout Int) {
        mark = places.prefix(mark).count { !Self.isHole($0) }
        places = all
        holes = 0
        index = nil
    }
}
