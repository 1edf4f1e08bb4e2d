import Foundation

/// What is ready to run: by priority, and first come first served within one; before all of it what has been prepared.
struct ReadyItems {
    private var prepared = Backlog<ReadyItem>()
    private var veryHigh = Backlog<ReadyItem>()
    private var high = Backlog<ReadyItem>()
    private var normal = Backlog<ReadyItem>()
    private var low = Backlog<ReadyItem>()
    private var veryLow = Backlog<ReadyItem>()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ item: ReadyItem, priority: Foundation.Operation.QueuePriority) {
        count += 1
        switch priority {
        case .veryHigh: veryHigh.append(item)
        case .high: high.append(item)
        case .normal: normal.append(item)
        case .low: low.append(item)
        case .veryLow: veryLow.append(item)
        }
    }

    mutating func appendPrepared(_ item: ReadyItem) {
        count += 1
        prepared.append(item)
    }

    /// The one that comes out next.
    var first: ReadyItem? {
        guard count > 0 else { return nil }
        return prepared.first ?? veryHigh.first ?? high.first ?? normal.first ?? low.first ?? veryLow.first
    }

    mutating func popFirst() -> ReadyItem? {
        guard count > 0 else { return nil }
        count -= 1
        return prepared.popFirst() ?? normalOrHigher() ?? low.popFirst() ?? veryLow.popFirst()
    }

    private mutating func normalOrHigher() -> ReadyItem? {
        veryHigh.popFirst() ?? high.popFirst() ?? normal.popFirst()
    }
}
