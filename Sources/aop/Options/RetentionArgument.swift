import ArgumentParser

/// How long something is kept: a duration of at least a minute, or `forever`.
struct RetentionArgument: ExpressibleByArgument, Sendable, Hashable {
    /// nil: for ever.
    let milliseconds: Int64?

    static let standard = RetentionArgument(milliseconds: 7 * 24 * 3_600_000)
    /// Whoever waits for an end is to have the time to hear of it.
    private static let minimumMilliseconds: Int64 = 60_000

    var defaultValueDescription: String { "7d" }

    private init(milliseconds: Int64?) { self.milliseconds = milliseconds }

    init?(argument: String) {
        if argument == "forever" {
            milliseconds = nil
        } else {
            guard let duration = DurationArgument(argument: argument), duration.milliseconds >= Self.minimumMilliseconds else { return nil }
            milliseconds = duration.milliseconds
        }
    }
}
