import Scheduling

/// Writes metrics in Prometheus' text format, version 0.0.4.
/// https://prometheus.io/docs/instrumenting/exposition_formats/
struct PrometheusText {
    enum Kind: String { case counter, gauge, histogram }

    private(set) var text = ""

    /// Begins a metric; its samples follow.
    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
        begin(name, .counter, help)
        sample(name, [], Double(value))
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        begin(name, .gauge, help)
        sample(name, [], value)
    }

    /// - Parameter unit: what one of its values is, in the unit of the name.
    mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram, unit: Double = 1) {
        begin(name, .histogram, help)
        samples(name, [], bounds: histogram.bounds.map { Double($0) * unit }, histogram.counts, sum: Double(histogram.sum) * unit)
    }

    /// - Parameter counts: of what is between the bounds, the last one of what is above all of them.
    mutating func samples(_ name: String, _ labels: [(String, String)], bounds: [Double], _ counts: [UInt64], sum: Double) {
        var total: UInt64 = 0
        for (bound, count) in zip(bounds, counts) {
            total += count
            sample("\(name)_bucket", labels + [("le", Self.number(bound))], Double(total))
        }
        total += counts.count > bounds.count ? counts[bounds.count] : 0
        sample("\(name)_bucket", labels + [("le", "+Inf")], Double(total))
        sample("\(name)_sum", labels, sum)
        sample("\(name)_count", labels, Double(total))
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
