/// How often something took how long, or was how large: counts between fixed bounds. Adding is one search among at most a few dozen
/// numbers and two additions.
public struct Histogram: Hashable, Sendable {
    /// Rising; what is at most `bounds[i]` and above the one before is in `counts[i]`, what is above all of them in the last count.
    public let bounds: [Int64]
    public private(set) var counts: [UInt64]
    public private(set) var sum: Int64 = 0

    public init(bounds: [Int64]) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    /// Times from a millisecond to a day, in milliseconds.
    public static let times = Histogram(bounds: [
        1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000, 7_200_000, 86_400_000,
    ])

    /// Numbers of things that are done together.
    public static let sizes = Histogram(bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000])

    public var count: UInt64 { counts.reduce(0, +) }

    /// What is negative, as clocks of several hosts make it, counts as 0.
    public mutating func add(_ value: Int64) {
        let value = max(0, value)
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < value { low = middle + 1 } else { high = middle }
        }
        counts[low] += 1
        sum += value
    }
}
