/// A time of day, from `startMinute` up to and without `endMinute`; over midnight when the end is not after the start.
public struct TimeWindow: Hashable, Sendable {
    /// Minutes after midnight, 0 to 1,439.
    public var startMinute: Int
    /// Minutes after midnight, 1 to 1,440.
    public var endMinute: Int
    /// IANA name; empty: UTC.
    public var zone: String

    public init(startMinute: Int, endMinute: Int, zone: String = "") {
        self.startMinute = startMinute
        self.endMinute = endMinute
        self.zone = zone
    }

    /// The first instant from `wall` on at which the window is open (or, with `open: false`, closed): `wall` itself if it is.
    ///
    /// Where clocks are set forward over the window's start it opens with the jump; a time that comes twice belongs to it
    /// twice.
    func next(from wall: Int64, open: Bool, in zone: ZoneTable) -> Int64 {
        var at = wall
        while true {
            let span = zone.span(at: at)
            let timeOfDay = Self.timeOfDay(at + span.offset)
            if contains(timeOfDay) == open { return at }
            let edge = Int64(open ? startMinute : endMinute) * 60_000
            let next = at + Self.timeOfDay(edge - timeOfDay)
            if next < span.end { return next }
            at = span.end
        }
    }

    private func contains(_ timeOfDay: Int64) -> Bool {
        let start = Int64(startMinute) * 60_000
        let end = Int64(endMinute) * 60_000
        return start < end ? start <= timeOfDay && timeOfDay < end : start <= timeOfDay || timeOfDay < end
    }

    private static let day: Int64 = 86_400_000
    private static func timeOfDay(_ milliseconds: Int64) -> Int64 {
        let rest = milliseconds % day
        return rest < 0 ? rest + day : rest
    }

    /// "22:00-06:00 Europe/Berlin"
    var text: String {
        func clock(_ minute: Int) -> String {
            let (hours, minutes) = minute.quotientAndRemainder(dividingBy: 60)
            return "\(hours < 10 ? "0" : "")\(hours):\(minutes < 10 ? "0" : "")\(minutes)"
        }
        return "\(clock(startMinute))-\(clock(endMinute)) \(zone.isEmpty ? "UTC" : zone)"
    }
}

/// What the clocks of a time zone show, as given data: the scheduler knows no time zones. What follows the last
/// transition stays as it is.
public struct ZoneTable: Hashable, Sendable {
    public struct Transition: Hashable, Sendable {
        /// Milliseconds since 1970.
        public var at: Int64
        /// From then on: seconds east of UTC.
        public var offsetSeconds: Int
        public init(at: Int64, offsetSeconds: Int) {
            self.at = at
            self.offsetSeconds = offsetSeconds
        }
    }
    /// IANA name.
    public var name: String
    /// Before the first transition: seconds east of UTC.
    public var offsetSeconds: Int
    /// In the order of their times.
    public var transitions: [Transition]

    public init(name: String, offsetSeconds: Int, transitions: [Transition]) {
        self.name = name
        self.offsetSeconds = offsetSeconds
        self.transitions = transitions
    }

    static let utc = ZoneTable(name: "", offsetSeconds: 0, transitions: [])

    /// The offset at `wall` in milliseconds, and until when it is that.
    func span(at wall: Int64) -> (offset: Int64, end: Int64) {
        var offset = offsetSeconds
        for transition in transitions {
            if wall < transition.at { return (Int64(offset) * 1_000, transition.at) }
            offset = transition.offsetSeconds
        }
        return (Int64(offset) * 1_000, .max)
    }
}
