import ArgumentParser

/// A duration as graph files and flags write it: `500ms`, `90s`, `1h30m`, `2d`, or a bare number of seconds.
struct DurationArgument: ExpressibleByArgument, Sendable, Hashable {
    var milliseconds: Int64

    var duration: Duration { .milliseconds(milliseconds) }

    var defaultValueDescription: String { "\(Double(milliseconds) / 1000)s".replacing(".0s", with: "s") }

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    init?(argument: String) {
        if let seconds = Double(argument), seconds >= 0, seconds < 1e12 {
            milliseconds = Int64(seconds * 1000)
            return
        }
        var total = 0.0
        var rest = argument[...]
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isNumber || $0 == "." }
            let unit = rest.dropFirst(digits.count).prefix { $0.isLetter }
            guard let number = Double(digits), let factor = Self.milliseconds[String(unit)] else { return nil }
            total += number * factor
            rest = rest.dropFirst(digits.count + unit.count)
        }
        guard total < 1e15 else { return nil }
        milliseconds = Int64(total)
    }

    private static let milliseconds: [String: Double] = [
        "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
}
