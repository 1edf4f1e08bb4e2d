/// Lets one line through per interval and counts the others, so that a flood of bad input is no flood of log lines.
struct RateLimit {
    /// Quiet intervals after which a longer one is the first one again.
    private static let quietIntervals: Int64 = 2

    private let intervalMilliseconds: Int64
    private let intervalMillisecondsMax: Int64
    /// The one that `nextAt` ends.
    private var interval: Int64
    private var nextAt: Int64 = .min
    private var skipped = 0

    /// - Parameter intervalMillisecondsMax: each interval is twice as long as the one before, up to this, while it goes on; nil: all
    ///   are the same.
    init(intervalMilliseconds: Int64 = 1000, intervalMillisecondsMax: Int64? = nil) {
        self.intervalMilliseconds = intervalMilliseconds
        self.intervalMillisecondsMax = intervalMillisecondsMax ?? intervalMilliseconds
        interval = intervalMilliseconds
    }

    /// - Returns: nil: keep quiet; else what to add to the line about those that were kept quiet.
    mutating func allow(at now: Int64) -> String? {
        admit(at: now).map { $0 == 0 ? "" : " (\($0) more like this were not logged)" }
    }

    /// - Returns: nil: keep quiet; else how many were kept quiet since the last one.
    mutating func admit(at now: Int64) -> Int? {
        guard now >= nextAt else {
            skipped += 1
            return nil
        }
        defer { skipped = 0 }
        interval = nextAt == .min || isOver(at: now) ? intervalMilliseconds : min(interval * 2, intervalMillisecondsMax)
        nextAt = now + interval
        return skipped
    }

    /// Whether some were kept quiet and not told of yet.
    var hasRest: Bool { skipped > 0 }

    /// Whether nothing has come for so long that it is as new.
    func isOver(at now: Int64) -> Bool { skipped == 0 && now >= nextAt + Self.quietIntervals * intervalMillisecondsMax }

    /// How many were kept quiet and have nobody after them to be told with: a whole interval has passed in which one would have been let
    /// through. They count as told then.
    mutating func rest(at now: Int64) -> Int? {
        guard skipped > 0, now >= nextAt + interval else { return nil }
        defer { skipped = 0 }
        return skipped
    }
}
