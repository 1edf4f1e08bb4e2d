import Foundation

/// What is ready to run: by priority, and first come first served within one; before all of it what has been prepared.
struct ReadyItems {
    private var prepared = Backlog<LaneItem>()
    private var veryHigh = Backlog<LaneItem>()
    private var high = Backlog<LaneItem>()
    private var normal = Backlog<LaneItem>()
    private var low = Backlog<LaneItem>()
    private var veryLow = Backlog<LaneItem>()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ item: LaneItem, priority: Foundation.Operation.QueuePriority) {
        count += 1
        switch priority {
        case .veryHigh: veryHigh.append(item)
        case .high: high.append(item)
        case .normal: normal.append(item)
        case .low: low.append(item)
        case .veryLow: veryLow.append(item)
        }
    }

    mutating func appendPrepared(_ item: LaneItem) {
        count += 1
        prepared.append(item)
    }

    mutating func popFirst() -> LaneItem? {
        guard count > 0 else { return nil }
        count -= 1
        return prepared.popFirst() ?? normalOrHigher() ?? low.popFirst() ?? veryLow.popFirst()
    }

    private mutating func normalOrHigher() -> LaneItem? {
        veryHigh.popFirst() ?? high.popFirst() ?? normal.popFirst()
    }
}
