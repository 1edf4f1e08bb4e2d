/// Classes of units that take resources, while units of them wait.
///
/// A class whose units do not fit now is passed over by smaller ones, but not for ever: when that has happened often
/// enough it is overdue, and a host is kept for it (`Scheduler+Placement`). It is passed over as often as costs a unit its
/// advantage of one priority (`ReadyUnits.choicesPerPriority`); a unit of lower priority that goes before it counts for
/// as many as it is lower.
struct DemandBoard {
    struct Entry {
        let lane: Int
        /// Units that went before it on hosts that it could have used.
        var passedOver = 0
        /// The host that is kept for it.
        var host: Int?

        var isOverdue: Bool { passedOver >= ReadyUnits.choicesPerPriority }
    }

    /// In the order in which they came to wait.
    private(set) var entries: [Entry] = []
    /// By class: its place in `entries`; -1: none.
    private var places: [Int32] = []

    /// Whether a host that was kept for some class is everybody's again, since that was asked last.
    private var hasFreedHost = false

    var isEmpty: Bool { entries.isEmpty }

    func isOpen(_ lane: Int) -> Bool { lane < places.count && places[lane] >= 0 }

    func host(of lane: Int) -> Int? { isOpen(lane) ? entries[Int(places[lane])].host : nil }

    func isOverdue(_ lane: Int) -> Bool { isOpen(lane) && entries[Int(places[lane])].isOverdue }

    mutating func open(_ lane: Int) {
        guard !isOpen(lane) else { return }
        while places.count <= lane { places.append(-1) }
        places[lane] = Int32(entries.count)
        entries.append(Entry(lane: lane))
    }

    mutating func keep(_ host: Int?, for lane: Int) {
        if isOpen(lane) { entries[Int(places[lane])].host = host }
    }

    /// Something went before it.
    mutating func passOver(_ lane: Int, byLower steps: Int) {
        guard isOpen(lane) else { return }
        let (sum, overflows) = entries[Int(places[lane])].passedOver.addingReportingOverflow(
            1 + max(0, steps) * ReadyUnits.choicesPerPriority)
        entries[Int(places[lane])].passedOver = overflows ? .max : sum
    }

    /// A unit of it was given out.
    mutating func serve(_ lane: Int) {
        guard isOpen(lane) else { return }
        if entries[Int(places[lane])].host != nil { hasFreedHost = true }
        entries[Int(places[lane])].passedOver = 0
        entries[Int(places[lane])].host = nil
    }

    mutating func takeFreedHost() -> Bool {
        defer { hasFreedHost = false }
        return hasFreedHost
    }

    /// Forgets those of which nobody waits.
    mutating func close(_ lanes: [Int]) {
        guard !lanes.isEmpty else { return }
        for lane in lanes { places[lane] = -1 }
        entries.removeAll { places[$0.lane] < 0 }
        for (place, entry) in entries.enumerated() { places[entry.lane] = Int32(place) }
    }
}
