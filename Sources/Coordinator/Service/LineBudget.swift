/// How many lines the log takes of one kind, whoever they are about: some at once, then one per interval. It counts what it does not take.
struct LineBudget {
    private static let linesMax: Int64 = 20
    /// 17,280 lines a day, of some 200 bytes.
    private static let lineMilliseconds: Int64 = 5000

    /// Milliseconds that are worth lines.
    private var credit = linesMax * lineMilliseconds
    private var countedAt: Int64?
    private var skipped = 0

    /// - Parameter count: how many are told of with the line, or are not, itself included.
    /// - Returns: nil: keep quiet; else how many were not taken before it, which count as told.
    mutating func take(_ count: Int, at now: Int64) -> Int? {
        guard pay(at: now) else {
            skipped += count
            return nil
        }
        defer { skipped = 0 }
        return skipped
    }

    /// How many were not taken, if there is a line for that now. They count as told then.
    mutating func rest(at now: Int64) -> Int? {
        guard skipped > 0, pay(at: now) else { return nil }
        defer { skipped = 0 }
        return skipped
    }

    private mutating func pay(at now: Int64) -> Bool {
        credit = min(credit + max(0, now - (countedAt ?? now)), Self.linesMax * Self.lineMilliseconds)
        countedAt = now
        guard credit >= Self.lineMilliseconds else { return false }
        credit -= Self.lineMilliseconds
        return true
    }
}
