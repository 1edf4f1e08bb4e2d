import Shapes

/// A run of `bench` beside an earlier one: every figure that both have, of workloads of the same size.
struct BenchComparison {
    struct Row {
        /// Of a workload; nil: of what the machine itself takes.
        let workload: (id: String, count: Int)?
        /// As the JSON of a run names it.
        let measure: String
        let before: Double
        let now: Double

        /// By how much it is more than before, as a fraction of that; nil: it was nothing.
        var change: Double? { before == 0 ? nil : now / before - 1 }
    }

    private(set) var rows: [Row] = []
    private(set) var notes: [String] = []

    /// What says how something was measured, and not what came of it.
    private static let givens: Set<String> = ["n", "repeat", "operations", "foundation.operations"]

    init(of report: BenchReport, with earlier: EarlierBench) {
        compare(report.floorMembers, earlier.floor, of: nil)
        var known: Set<String> = []
        for entry in report.entries {
            known.insert(Self.name(entry.id, entry.count))
            guard let before = earlier.entries.first(where: { $0.id == entry.id && $0.count == entry.count }) else {
                notes.append("\(Self.name(entry.id, entry.count)) is not in the earlier run")
                continue
            }
            compare(entry.members, before.figures, of: (entry.id, entry.count))
            if let curve = report.clusters?.curve, let had = before.curve, had != curve {
                let name = Self.name(entry.id, entry.count)
                func having(_ isThere: Bool) -> String { isThere ? "with" : "without" }
                notes.append("\(name) ran \(having(had)) CURVE in the earlier run, and \(having(curve)) it in this one")
            }
        }
        for entry in earlier.entries where !known.contains(Self.name(entry.id, entry.count)) {
            notes.append("\(Self.name(entry.id, entry.count)) is in the earlier run only")
        }
        if let wasDebugBuild = earlier.isDebugBuild, wasDebugBuild != BenchReport.isDebugBuild {
            notes.append("the one is of a debug build, the other of a release build: what differs says nothing")
        }
    }

    private mutating func compare(_ members: [(String, JSONValue)], _ before: [String: Double], of workload: (id: String, count: Int)?) {
        for (measure, now) in Self.numbers(of: members) where !Self.givens.contains(measure) {
            guard let before = before[measure] else { continue }
            rows.append(Row(workload: workload, measure: measure, before: before, now: now))
        }
    }

    private static func name(_ id: String, _ count: Int) -> String { "\(id) of \(BenchReport.grouped(count))" }

    private static func numbers(of members: [(String, JSONValue)], in path: String = "") -> [(String, Double)] {
        members.flatMap { name, value -> [(String, Double)] in
            switch value {
            case .integer(let number): [(path + name, Double(number))]
            case .number(let number): [(path + name, number)]
            case .object(let inner): numbers(of: inner, in: path + name + ".")
            case .null, .bool, .string, .array, .value: []
            }
        }
    }
}

extension BenchComparison {
    var text: String {
        var table = Table(["WORKLOAD", "N", "MEASURE", "BEFORE", "NOW", "CHANGE"])
        for row in rows {
            table.add([
                row.workload?.id ?? "floor", row.workload.map { BenchReport.grouped($0.count) } ?? "-", row.measure,
                BenchReport.number(row.before), BenchReport.number(row.now), row.change.map(Self.percent) ?? "-",
            ])
        }
        return table.text + "\n" + notes.map { "\($0)\n" }.joined()
    }

    /// A fraction in percent, to a tenth.
    static func percent(_ fraction: Double) -> String {
        let tenths = Int((fraction * 1_000).rounded())
        return "\(tenths > 0 ? "+" : tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10) %"
    }

    /// A line per figure: id, size, its name, before, now.
    var bareText: String {
        rows.map { row in
            "\(row.workload?.id ?? "floor") \(row.workload?.count ?? 0) \(row.measure) \(BenchReport.number(row.before)) "
                + "\(BenchReport.number(row.now))\n"
        }.joined()
    }

    var json: JSONValue {
        .array(
            rows.map { row in
                .object([
                    ("id", row.workload.map { .string($0.id) } ?? .null), ("n", row.workload.map { .integer(Int64($0.count)) } ?? .null),
                    ("measure", .string(row.measure)), ("before", .rounded(row.before)), ("now", .rounded(row.now)),
                    ("change", row.change.map(JSONValue.rounded) ?? .null),
                ])
            })
    }
}
