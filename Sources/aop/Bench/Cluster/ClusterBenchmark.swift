import Cluster
import Foundation
import Wire

/// What was measured of one workload at one size: medians of several runs, each on a cluster of its own.
struct ClusterMeasurement: Sendable {
    struct Latency: Sendable {
        var p50Milliseconds: Double
        var p99Milliseconds: Double
    }

    let workload: ClusterWorkload
    let count: Int
    let repeats: Int
    /// Operations that were run, those that only begin or end the graph included.
    var operations: Int
    var seconds: Double
    var cpuMicroseconds: [ProcessMeter.Role: Double]
    var peakBytes: [ProcessMeter.Role: Int]
    var writtenBytes: Int
    /// Of small submissions one after another, where the workload has such.
    var latency: Latency?
    /// How many times longer half of those submissions took beside the flood than alone.
    var slowdown: Double?
    /// The longest wait for a slot and a key, as a multiple of the mean one.
    var worstToMeanWait: Double?
    /// Of a graph whose coordinator is killed.
    var scale: ScaleRun.Figures?

    var microsecondsPerOperation: Double { seconds * 1_000_000 / Double(operations) }
    var operationsPerSecond: Double { Double(operations) / seconds }
    /// Of values that were delivered, in millions of bytes, where they are large.
    var megabytesPerSecond: Double? {
        workload == .payload ? Double(count * ClusterWorkload.payloadBytes) / 1_000_000 / seconds : nil
    }
}

/// Runs workloads on clusters of this machine.
struct ClusterBenchmark: Sendable {
    let repeats: Int
    let options: BenchCluster.Options

    private static let warmUp = 200

    func run(_ workload: ClusterWorkload, count: Int) async throws -> ClusterMeasurement {
        var runs: [ClusterMeasurement] = []
        for _ in 0..<repeats {
            var cluster = try await BenchCluster.start(processes: workload.processes, slots: workload.slots, options)
            let run: ClusterMeasurement
            do {
                run = try await Self.measure(workload, count, on: &cluster)
            } catch {
                try await cluster.stop()
                throw error
            }
            try await cluster.stop()
            runs.append(run)
        }
        return ClusterMeasurement(medianOf: runs)
    }

    private static func measure(
        _ workload: ClusterWorkload, _ count: Int, on cluster: inout BenchCluster
    ) async throws -> ClusterMeasurement {
        let connection = cluster.connection
        if workload == .payload { try ClusterWorkload.writeValues(count: count, in: cluster.path) }
        let graph = try workload.graph(count: count, directory: cluster.path)
        let probe = workload.probe
        let probeGraph = try probe?.graph() ?? graph
        _ = try await untilDone(ClusterWorkload.flood.graph(count: warmUp), warmUp, connection)
        let alone = if let probe { try await latencies(probeGraph, probe.operations, probe.count, connection) } else { [Duration]() }
        let before = cluster.meter.read()
        let clock = ContinuousClock()
        let begin = clock.now
        var samples: [Duration] = []
        var id: String?
        var scale: ScaleRun.Figures?
        switch workload {
        case .latency:
            samples = try await latencies(graph, 1, count, connection)
        case .fairness, .wideFairness:
            async let flood = untilDone(graph, count, connection)
            // Where all of it is known to the coordinator it is in the way.
            while try await connection.list(limit: 1).first?.name != graph.name { try await Task.sleep(for: .milliseconds(1)) }
            if let probe { samples = try await latencies(probeGraph, probe.operations, probe.count, connection) }
            id = try await flood
        case .scale:
            (scale, id) = try await ScaleRun(graph: graph, operations: workload.operations(count: count)).measure(on: &cluster)
        case .flood, .chain, .recomputableChain, .fan, .payload, .commands, .contention:
            id = try await untilDone(graph, workload.operations(count: count), connection)
        }
        let seconds = (clock.now - begin) / .seconds(1)
        let after = cluster.meter.read()
        let p50 = samples.percentile(50)
        var wait: Double?
        if workload == .contention, let id { wait = try await worstToMeanWait(of: id, connection) }
        return ClusterMeasurement(
            workload: workload, count: count, repeats: 1,
            operations: workload.operations(count: count) + (probe.map { $0.count * $0.operations } ?? 0), seconds: seconds,
            cpuMicroseconds: after.cpuMicroseconds.merging(before.cpuMicroseconds) { $0 - $1 }, peakBytes: after.peakBytes,
            writtenBytes: after.writtenBytes - before.writtenBytes,
            latency: p50.flatMap { p50 in samples.percentile(99).map { .init(p50Milliseconds: p50, p99Milliseconds: $0) } },
            slowdown: alone.percentile(50).flatMap { alone in p50.map { $0 / alone } },
            worstToMeanWait: wait, scale: scale)
    }

    /// Submits a graph, and waits for its end and all values.
    ///
    /// - Returns: its id.
    /// - Throws: `ToolError` if not as many succeeded as were to: its times would say nothing.
    @discardableResult
    private static func untilDone(_ graph: WireGraph, _ count: Int, _ connection: ClusterConnection) async throws -> String {
        let submission = try await connection.run(graph).submission
        try await check(submission, count, connection)
        return submission.id
    }

    /// - Throws: `ToolError` if not as many succeeded as were to.
    static func check(_ submission: WireSubmissionView, _ count: Int, _ connection: ClusterConnection) async throws {
        guard submission.counts.succeeded != UInt64(count) else { return }
        let first = try await connection.result(of: submission.id).failures.first
        let failure = first.map { "; \($0.path) failed: \($0.errors.first?.message ?? "")" } ?? ""
        throw ToolError(
            .toolError, "bench",
            "of \(count) operations of the workload `\(submission.name)` \(submission.counts.succeeded) succeeded: nothing was measured\(failure)"
        )
    }

    private static func latencies(
        _ graph: WireGraph, _ operations: Int, _ count: Int, _ connection: ClusterConnection
    ) async throws -> [Duration] {
        let clock = ContinuousClock()
        var samples: [Duration] = []
        for _ in 0..<count { samples.append(try await clock.measure { try await untilDone(graph, operations, connection) }) }
        return samples
    }

    private static func worstToMeanWait(of id: String, _ connection: ClusterConnection) async throws -> Double? {
        var waits: [Double] = []
        for try await page in connection.operations(of: id) {
            for view in page where view.kind == .operation { waits.append(Double(max(0, view.startedAt - view.queuedAt))) }
        }
        guard let worst = waits.max(), worst > 0 else { return nil }
        return worst / (waits.reduce(0, +) / Double(waits.count))
    }
}

extension [Duration] {
    /// In milliseconds; nil: there are none.
    fileprivate func percentile(_ percent: Int) -> Double? {
        isEmpty ? nil : sorted()[Swift.min(count - 1, count * percent / 100)] / .milliseconds(1)
    }
}

extension ClusterMeasurement {
    /// The one in the middle, by its time.
    init(medianOf runs: [ClusterMeasurement]) {
        let middle = runs.sorted { $0.seconds < $1.seconds }[runs.count / 2]
        self = .init(
            workload: middle.workload, count: middle.count, repeats: runs.count, operations: middle.operations, seconds: middle.seconds,
            cpuMicroseconds: middle.cpuMicroseconds, peakBytes: middle.peakBytes, writtenBytes: middle.writtenBytes,
            latency: middle.latency,
            slowdown: middle.slowdown, worstToMeanWait: middle.worstToMeanWait, scale: middle.scale)
    }
}
