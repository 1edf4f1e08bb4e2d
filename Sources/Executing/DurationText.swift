/// Durations as people write them.
package enum DurationText {
    /// "1 s", "0.25 s".
    package static func seconds(milliseconds: Int64) -> String {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return "\(whole) s" }
        var digits = String(String(1000 + rest).dropFirst())
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits) s"
    }

    /// Reads "90s", "1h30m", "500ms"; nil for anything else.
    package static func milliseconds(of text: String) -> Int64? {
        let units: [(name: String, milliseconds: Int64)] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("d", 86_400_000)]
        var rest = text[...]
        var sum: Int64 = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            guard let number = Int64(digits), let unit = units.first(where: { rest.hasPrefix($0.name) }) else { return nil }
            let (part, overflows) = number.multipliedReportingOverflow(by: unit.milliseconds)
            let (total, exceeds) = sum.addingReportingOverflow(part)
            guard !overflows, !exceeds else { return nil }
            sum = total
            rest = rest.dropFirst(unit.name.count)
        }
        return sum
    }
}
