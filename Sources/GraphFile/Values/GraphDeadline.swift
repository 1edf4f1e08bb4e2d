/// By when work must have ended.
public enum GraphDeadline: Hashable, Sendable {
    /// So many milliseconds after it could begin.
    case within(milliseconds: Int64)
    /// At this time, in milliseconds since 1970.
    case by(milliseconds: Int64)

    /// Reads `90s`, `1h30m` or `2026-11-21T22:00:00Z`; nil: it is neither, or 0.
    public init?(_ text: String) {
        guard case .success(let deadline) = Self.read(text) else { return nil }
        self = deadline
    }

    static let example = "a duration such as `90s` or a time such as `2026-11-21T22:00:00Z`"

    static func read(_ text: String) -> Result<GraphDeadline, Complaint> {
        // A year and a month.
        let isTime = text.utf8.count > 4 && text.utf8.dropFirst(4).first == UInt8(ascii: "-")
        if isTime { return TimeStamp.read(text).map { .by(milliseconds: $0) } }
        return DurationText.read(text).flatMap { milliseconds in
            milliseconds == 0 ? .failure(Complaint("must be longer than 0")) : .success(.within(milliseconds: milliseconds))
        }
    }
}
