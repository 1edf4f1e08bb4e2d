import Benchmark
import Shapes

// The JSON of `bench`. One object per workload and size; of the library's its own figures are those of its first variant.

extension BenchReport {
    var json: JSONValue {
        .shape(
            [
                ("floor", .object(floorMembers)), ("build", .string(Self.isDebugBuild ? "debug" : "release")),
                ("workloads", .array(entries.map { .object($0.members) })),
            ] + (comparison.map { [("comparison", $0.json)] } ?? []))
    }

    /// With jsonl every workload is a value of its own, and so is what has changed.
    var lines: [JSONValue] {
        entries.map { .shape($0.members) } + (comparison.map { [.shape([("comparison", $0.json)])] } ?? [])
    }

    var floorMembers: [(String, JSONValue)] {
        (floor.map { [("dispatchMicroseconds", .rounded($0))] } ?? []) + (clusters?.floor.members ?? [])
    }

    /// One for each workload and size.
    var entries: [(id: String, count: Int, members: [(String, JSONValue)])] {
        let local = floor.map { floor in workloads.map { ($0.workload.id, $0.count, $0.members(floor: floor)) } } ?? []
        let remote = clusters.map { clusters in
            clusters.measurements.map { ($0.workload.id, $0.count, $0.members(floor: clusters.floor, curve: clusters.curve)) }
        }
        return local + (remote ?? [])
    }
}

extension WorkloadReport {
    fileprivate func members(floor: Double) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("id", .string(workload.id)), ("name", .string(workload.name)), ("n", .integer(Int64(count))),
            ("repeat", .integer(Int64(repeats))),
        ]
        if let first = variants.first {
            members += first.ours.members
            members += [
                ("ratioToFloor", .rounded(first.ours.microsecondsPerOperation / floor)),
                ("ratioToFoundation", .rounded(first.ratio)),
                ("foundation", .object(first.foundation.members)),
            ]
        }
        if let teardown {
            members.append(
                ("teardown", .object([("afterRun", .rounded(teardown.afterRun)), ("neverRun", .rounded(teardown.neverRun))])))
        }
        members.append(("variants", .array(variants.map(\.json))))
        return members
    }
}

extension VariantReport {
    fileprivate var json: JSONValue {
        .object(
            [
                ("kind", .string(variant.kind.rawValue)),
                ("maxConcurrentOperationCount", variant.limit.map { .integer(Int64($0)) } ?? .null),
            ] + ours.members + [
                ("ratioToFoundation", .rounded(ratio)), ("foundation", .object(foundation.members)),
            ])
    }
}

extension Figures {
    fileprivate var members: [(String, JSONValue)] {
        [
            ("operations", .integer(Int64(operations))),
            ("operationsPerSecond", .integer(Int64(operationsPerSecond))),
            ("microsecondsPerOperation", .rounded(microsecondsPerOperation)),
            ("cpuMicrosecondsPerOperation", .rounded(cpuMicrosecondsPerOperation)),
            ("peakMiB", peakBytes.map { .rounded(Double($0) / 1_048_576) } ?? .null),
        ]
    }
}

extension JSONValue {
    /// To the millionth: more digits say nothing.
    static func rounded(_ value: Double) -> JSONValue { .number((value * 1e6).rounded() / 1e6) }
}
