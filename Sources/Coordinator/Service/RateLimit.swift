/// Lets one line through per interval and counts the others, so that a flood of bad input is no flood of log lines.
struct RateLimit {
    private let intervalMilliseconds: Int64
    private var nextAt: Int64 = .min
    private var skipped = 0

    init(intervalMilliseconds: Int64 = 1000) { self.intervalMilliseconds = intervalMilliseconds }

    /// - Returns: nil: keep quiet; else what to add to the line about those that were kept quiet.
    mutating func allow(at now: Int64) -> String? {
        guard now >= nextAt else {
            skipped += 1
            return nil
        }
        defer { skipped = 0 }
        nextAt = now + intervalMilliseconds
        return skipped == 0 ? "" : " (\(skipped) more like this were not logged)"
    }

    /// Whether some were kept quiet and not told of yet.
    var hasRest: Bool { skipped > 0 }

    /// How many were kept quiet and have nobody after them to be told with: a whole interval has passed in which one would have been let
    /// through. They count as told then.
    mutating func rest(at now: Int64) -> Int? {
        guard skipped > 0, now >= nextAt + intervalMilliseconds else { return nil }
        defer { skipped = 0 }
        return skipped
    }
}
