import ArgumentParser

/// How long what became of submissions stands in the history: `30d`, `forever`, or `off`.
struct HistoryArgument: ExpressibleByArgument, Sendable, Hashable {
    /// nil: for ever; 0: there is none.
    let milliseconds: Int64?

    static let standard = HistoryArgument(milliseconds: 30 * 24 * 3_600_000)

    var defaultValueDescription: String { "30d" }

    private init(milliseconds: Int64?) { self.milliseconds = milliseconds }

    init?(argument: String) {
        if argument == "off" {
            milliseconds = 0
        } else {
            guard let retention = RetentionArgument(argument: argument) else { return nil }
            milliseconds = retention.milliseconds
        }
    }
}
