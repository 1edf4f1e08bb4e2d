import Shapes

/// What `bench` says of clusters.
struct ClusterReport {
    let floor: MachineFloor
    /// Whether all that was said was encrypted.
    let curve: Bool
    private(set) var measurements: [ClusterMeasurement] = []

    init(floor: MachineFloor, curve: Bool) {
        self.floor = floor
        self.curve = curve
    }

    mutating func add(_ measurement: ClusterMeasurement) { measurements.append(measurement) }

    var text: String {
        var table = Table(["WORKLOAD", "N", "OPS/S", "µs/OP", "p50 ms", "p99 ms", "CPU µs/OP S·C·W", "PEAK MiB S·C·W", "WRITTEN B/OP"])
        for measurement in measurements { table.add(row(measurement)) }
        return table.text + "\n" + notes.map { "\($0)\n" }.joined()
    }

    private func row(_ measurement: ClusterMeasurement) -> [String] {
        func latency(_ value: KeyPath<ClusterMeasurement.Latency, Double>) -> String {
            measurement.latency.map { BenchReport.number($0[keyPath: value]) } ?? "-"
        }
        return [
            "\(measurement.workload.id) \(measurement.workload.name)", BenchReport.grouped(measurement.count),
            BenchReport.grouped(Int(measurement.operationsPerSecond)), BenchReport.number(measurement.microsecondsPerOperation),
            latency(\.p50Milliseconds), latency(\.p99Milliseconds),
            roles { "\(Int((measurement.cpuPerOperation($0)).rounded()))" },
            roles { "\(((measurement.peakBytes[$0] ?? 0) + 1 << 19) >> 20)" },
            BenchReport.grouped(measurement.writtenBytes / measurement.operations),
        ]
    }

    private func roles(_ text: (ProcessMeter.Role) -> String) -> String {
        ProcessMeter.Role.allCases.map(text).joined(separator: "·")
    }

    private var notes: [String] {
        var notes = [
            "floor: \(BenchReport.number(floor.roundTripMicroseconds)) µs for a round trip over ZeroMQ and TCP, "
                + "\(BenchReport.number(floor.syncedWriteMicroseconds)) µs for 4 KiB on the disk, "
                + "\(BenchReport.number(floor.sequentialMegabytesPerSecond)) MB/s for large files on it, "
                + "\(BenchReport.number(floor.spawnMicroseconds)) µs for a process",
            "S·C·W: the submitter, the coordinator, the worker with its executor",
        ]
        if curve { notes.append("with CURVE: all that these say to each other is encrypted, and they prove who they are with keys") }
        for measurement in measurements {
            let name = "\(measurement.workload.id) of \(BenchReport.grouped(measurement.count))"
            if let slowdown = measurement.slowdown {
                let operations = measurement.workload.probe?.operations ?? 1
                let probe = operations == 1 ? "a submission of one operation" : "a chain of \(operations)"
                notes.append("\(name): beside the flood \(probe) takes \(BenchReport.number(slowdown)) times as long as alone")
            }
            if let ratio = measurement.worstToMeanWait {
                notes.append("\(name): the longest wait is \(BenchReport.number(ratio)) times the mean one")
            }
            if let rate = measurement.megabytesPerSecond {
                notes.append("\(name): \(BenchReport.number(rate)) MB/s of values are delivered")
            }
            if let scale = measurement.scale {
                notes.append(
                    "\(name): on the disk after \(BenchReport.number(scale.admissionSeconds)) s, "
                        + "\(BenchReport.grouped(Int(scale.bytesPerUnit))) bytes of memory per unit, "
                        + "goes on \(BenchReport.number(scale.restartSeconds)) s after its coordinator was killed")
            }
        }
        if BenchReport.isDebugBuild { notes.append("this is a debug build: its times say nothing about the cluster") }
        return notes
    }

    /// A line per workload and size: id, size, microseconds per operation.
    var bareText: String {
        measurements.map { "\($0.workload.id) \($0.count) \(BenchReport.number($0.microsecondsPerOperation))\n" }.joined()
    }
}

extension ClusterMeasurement {
    fileprivate func cpuPerOperation(_ role: ProcessMeter.Role) -> Double { (cpuMicroseconds[role] ?? 0) / Double(operations) }

    /// The members of its object, as `bench -o json` writes it.
    func members(floor: MachineFloor, curve: Bool) -> [(String, JSONValue)] {
        func perRole(_ value: (ProcessMeter.Role) -> JSONValue) -> JSONValue {
            .object(ProcessMeter.Role.allCases.map { ($0.rawValue, value($0)) })
        }
        var members: [(String, JSONValue)] = [
            ("id", .string(workload.id)), ("name", .string(workload.name)), ("n", .integer(Int64(count))),
            ("repeat", .integer(Int64(repeats))), ("curve", .bool(curve)),
            ("operations", .integer(Int64(operations))), ("operationsPerSecond", .integer(Int64(operationsPerSecond))),
            ("microsecondsPerOperation", .rounded(microsecondsPerOperation)),
            ("cpuMicrosecondsPerOperation", perRole { .rounded(cpuPerOperation($0)) }),
            ("peakMiB", perRole { .rounded(Double(peakBytes[$0] ?? 0) / 1_048_576) }),
            ("writtenBytesPerOperation", .integer(Int64(writtenBytes / operations))),
            ("ratioToFloor", .rounded(microsecondsPerOperation / floorMicroseconds(floor))),
        ]
        if let latency {
            members += [
                ("p50Milliseconds", .rounded(latency.p50Milliseconds)), ("p99Milliseconds", .rounded(latency.p99Milliseconds)),
            ]
        }
        if let slowdown { members.append(("slowdownBesideFlood", .rounded(slowdown))) }
        if let worstToMeanWait { members.append(("worstToMeanWait", .rounded(worstToMeanWait))) }
        if let megabytesPerSecond { members.append(("megabytesPerSecond", .rounded(megabytesPerSecond))) }
        if let scale {
            members += [
                ("admissionSeconds", .rounded(scale.admissionSeconds)), ("bytesPerUnit", .rounded(scale.bytesPerUnit)),
                ("restartSeconds", .rounded(scale.restartSeconds)),
            ]
        }
        return members
    }

    /// Of one operation of this workload, with nothing shared by several: there and back, once on the disk; of commands a process; of
    /// large values what the disk takes for half of one, as each has two operations.
    private func floorMicroseconds(_ floor: MachineFloor) -> Double {
        switch workload {
        case .commands: floor.spawnMicroseconds
        case .payload: Double(ClusterWorkload.payloadBytes) / floor.sequentialMegabytesPerSecond / 2
        case .flood, .chain, .recomputableChain, .fan, .latency, .contention, .scale, .fairness, .wideFairness:
            floor.roundTripMicroseconds + floor.syncedWriteMicroseconds
        }
    }
}

extension MachineFloor {
    /// The members of its object.
    var members: [(String, JSONValue)] {
        [
            ("roundTripMicroseconds", .rounded(roundTripMicroseconds)), ("syncedWriteMicroseconds", .rounded(syncedWriteMicroseconds)),
            ("sequentialMegabytesPerSecond", .rounded(sequentialMegabytesPerSecond)), ("spawnMicroseconds", .rounded(spawnMicroseconds)),
        ]
    }
}
