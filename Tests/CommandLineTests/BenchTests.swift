import ArgumentParser
import Benchmark
import Foundation
import Shapes
import Testing

@testable import aop

/// One at a time: measurements block their threads.
@Suite(.serialized) struct BenchTests {
    private static func report(_ workload: Workload, count: Int) throws -> BenchReport {
        var report = BenchReport(floor: 0.5)
        report.add(try LocalBenchmark(repeats: 1).run(workload, count: count))
        return report
    }

    private static func refusal(_ arguments: [String]) -> (status: Int32, message: String)? {
        do {
            _ = try AOP.parseAsRoot(["bench"] + arguments)
            return nil
        } catch {
            return (AOP.exitCode(for: error).rawValue, AOP.fullMessage(for: error))
        }
    }

    // MARK: arguments

    @Test(
        arguments: [
            [], ["W1"], ["W5", "w8", "--curve"], ["w9", "L1", "--data", "."], ["L1"], ["l2", "L2"], ["L1", "L2", "L3", "L4"],
            ["--n", "1"], ["--full"], ["-o", "json"],
        ] as [[String]])
    func knownIdsAndSizes_areTaken(_ arguments: [String]) {
        #expect(Self.refusal(arguments) == nil)
    }

    @Test(arguments: ["W10", "L5", "flood"]) func unknownId_isAUsageError_thatListsTheKnownOnes(_ id: String) throws {
        let refusal = try #require(Self.refusal(["L1", id]))
        #expect(refusal.status == ExitStatus.usage.rawValue)
        #expect(
            refusal.message.contains(
                "there is no workload `\(id)`; there are L1 (flood), L2 (chain), L3 (fan-in), L4 (group of groups), W1 (flood), "))
    }

    @Test(
        arguments: [
            (["--n", "0"], "--n 0: use a number from 1 to 10000000"),
            (["--n=-1"], "--n -1: use a number from 1 to 10000000"),
            (["--n", "10000001"], "--n 10000001: use a number from 1 to 10000000"),
            (["--repeat", "0"], "--repeat 0: use a number from 1 to 100"),
            (["--n", "5", "--full"], "use one of them"),
        ] as [([String], String)]) func sizesOutOfBounds_areUsageErrors(_ arguments: [String], _ message: String) throws
    {
        let refusal = try #require(Self.refusal(arguments))
        #expect(refusal.status == ExitStatus.usage.rawValue)
        #expect(refusal.message.contains(message))
    }

    // MARK: output

    @Test(arguments: Workload.allCases) func json_hasOneObjectPerIdAndSize(_ workload: Workload) async throws {
        let object = try await Self.object(Self.report(workload, count: 20).json)
        #expect(object["schema"] as? Int == 1)
        #expect((object["floor"] as? [String: Any])?["dispatchMicroseconds"] as? Double == 0.5)
        let entries = try #require(object["workloads"] as? [[String: Any]])
        #expect(entries.count == 1)
        let entry = try #require(entries.first)
        #expect(entry["id"] as? String == workload.id)
        #expect(entry["n"] as? Int == 20)
        for key in ["operations", "operationsPerSecond", "microsecondsPerOperation", "ratioToFloor", "ratioToFoundation"] {
            #expect(entry[key] is NSNumber, "\(key)")
        }
        #expect((entry["foundation"] as? [String: Any])?["operationsPerSecond"] is NSNumber)
        #expect((entry["variants"] as? [[String: Any]])?.count == workload.variants.count)
        #expect((entry["teardown"] != nil) == (workload == .chain))
    }

    @Test func jsonLines_carryTheSchemaEach() async throws {
        let lines = try Self.report(.flood, count: 5).lines
        #expect(lines.count == 1)
        let line = try await Self.object(lines[0])
        #expect(line["schema"] as? Int == 1)
        #expect(line["id"] as? String == "L1")
    }

    @Test func text_hasARowPerVariant_andNamesFoundationsSize() throws {
        let text = try Self.report(.chain, count: 1_001).text
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("L2 chain  1,001") }.count == 4)
        #expect(text.contains("(N 1,000)"))
        #expect(text.contains("L2 of 1,001 is released in"))
    }

    @Test func bareText_isIdSizeAndTime() throws {
        let words = try Self.report(.groups, count: 9).bareText.split(separator: " ")
        #expect(words.count == 3)
        #expect(words[0] == "L4" && words[1] == "9")
    }

    // MARK: an earlier run

    private static func bytes(_ value: JSONValue) async throws -> Data {
        try JSONSerialization.data(withJSONObject: try await object(value))
    }

    @Test func earlierRun_standsBesideThisOne_figureByFigure() async throws {
        var report = Self.cluster
        let earlier = try EarlierBench(try await Self.bytes(Self.faster.json))
        report.compare(with: earlier)
        let rows = try #require(report.comparison?.rows)
        let rate = try #require(rows.first { $0.measure == "operationsPerSecond" })
        #expect(rate.workload?.id == "W9" && rate.workload?.count == 1_000 && rate.before == 5_000 && rate.now == 2_500)
        #expect(rate.change == -0.5)
        #expect(rows.first { $0.measure == "cpuMicrosecondsPerOperation.worker" }?.before == 40)
        #expect(rows.first { $0.measure == "roundTripMicroseconds" }.map { $0.workload == nil && $0.change == 0 } == true)
        #expect(!rows.contains { ["n", "repeat", "operations"].contains($0.measure) })
        #expect(report.comparison?.notes == [])
        let line = report.text.split(separator: "\n").first { $0.contains(" operationsPerSecond ") }
        #expect(line?.split(separator: " ") == ["W9", "1,000", "operationsPerSecond", "5000.00", "2500.00", "-50.0", "%"])
        let object = try await Self.object(report.json)
        let written = try #require(object["comparison"] as? [[String: Any]])
        #expect(written.count == rows.count)
        #expect(written.contains { $0["measure"] as? String == "operationsPerSecond" && $0["change"] as? Double == -0.5 })
        #expect(report.bareText.contains("W9 1000 operationsPerSecond 5000.00 2500.00\n"))
    }

    @Test func linesOfAnEarlierRun_areReadToo_andWhatOnlyOneHasIsNamed() async throws {
        var lines = Data()
        for line in try Self.report(.flood, count: 5).lines { lines += try await Self.bytes(line) + Data("\n".utf8) }
        var report = Self.cluster
        report.compare(with: try EarlierBench(lines))
        #expect(report.comparison?.rows.isEmpty == true)
        #expect(report.comparison?.notes == ["W9 of 1,000 is not in the earlier run", "L1 of 5 is in the earlier run only"])
        var same = try Self.report(.flood, count: 5)
        same.compare(with: try EarlierBench(lines))
        #expect(same.comparison?.rows.contains { $0.measure == "foundation.microsecondsPerOperation" } == true)
    }

    @Test func runOfAnotherBuild_isSaidToBeNoMeasure() throws {
        var report = Self.cluster
        let build = BenchReport.isDebugBuild ? "release" : "debug"
        let text = #"{"build":"\#(build)","workloads":[{"id":"W9","n":1000,"p50Milliseconds":0}]}"#
        report.compare(with: try EarlierBench(Data(text.utf8)))
        #expect(report.comparison?.rows.first?.change == nil)
        #expect(report.comparison?.notes == ["the one is of a debug build, the other of a release build: what differs says nothing"])
    }

    @Test(
        arguments: [
            ("", "it has no workload of `aop bench` in it"), ("no JSON", "it is no JSON of `aop bench`"),
            ("[1]", "it is no JSON of `aop bench`"),
            ("{\"workloads\":[{\"id\":\"L1\"}]}", "it has no workload of `aop bench` in it"),
        ]) func fileThatIsNoEarlierRun_isAUsageError(_ content: String, _ message: String) throws
    {
        let file = NSTemporaryDirectory() + "bench-\(UUID()).json"
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let refusal = try #require(Self.refusal(["L1", "--compare", file]))
        #expect(refusal.status == ExitStatus.usage.rawValue)
        #expect(refusal.message.contains("--compare \(file): \(message); write one with `aop bench -o json > \(file)`"))
    }

    @Test func fileThatIsNotThere_isAUsageError_beforeAnythingIsMeasured() throws {
        let refusal = try #require(Self.refusal(["--compare", "/nowhere/before.json"]))
        #expect(refusal.status == ExitStatus.usage.rawValue)
        #expect(refusal.message.contains("--compare /nowhere/before.json: it cannot be read: there is no such file; "))
    }

    // MARK: clusters

    private static func empty(curve: Bool = false) -> ClusterReport {
        ClusterReport(
            floor: MachineFloor(
                roundTripMicroseconds: 60, syncedWriteMicroseconds: 140, sequentialMegabytesPerSecond: 512, spawnMicroseconds: 500),
            curve: curve)
    }

    /// As ``cluster``, in half the time.
    private static var faster: BenchReport {
        var report = BenchReport(floor: nil)
        var clusters = empty()
        clusters.add(
            ClusterMeasurement(
                workload: .fairness, count: 1_000, repeats: 1, operations: 1_100, seconds: 0.22,
                cpuMicroseconds: [.submitter: 11_000, .coordinator: 33_000, .worker: 44_000], peakBytes: [:], writtenBytes: 110_000,
                latency: .init(p50Milliseconds: 2.5, p99Milliseconds: 9), slowdown: 1.75))
        report.clusters = clusters
        return report
    }

    private static var cluster: BenchReport {
        var report = BenchReport(floor: nil)
        var clusters = empty()
        clusters.add(
            ClusterMeasurement(
                workload: .fairness, count: 1_000, repeats: 1, operations: 1_100, seconds: 0.44,
                cpuMicroseconds: [.submitter: 11_000, .coordinator: 33_000, .worker: 22_000],
                peakBytes: [.submitter: 30 << 20, .coordinator: 60 << 20, .worker: 90 << 20], writtenBytes: 110_000,
                latency: .init(p50Milliseconds: 2.5, p99Milliseconds: 9), slowdown: 1.75))
        report.clusters = clusters
        return report
    }

    @Test func clusters_haveRowsOfTheirOwn() {
        let text = Self.cluster.text
        #expect(text.contains("W9 fairness  1,000  2,500  400.00  2.50    9.00    10·30·20         30·60·90        100\n"), "\(text)")
        #expect(text.contains("W9 of 1,000: beside the flood a submission of one operation takes 1.75 times as long as alone"))
        #expect(!text.contains("FOUNDATION") && text.contains("60.00 µs for a round trip"))
        #expect(Self.cluster.bareText == "W9 1000 400.00\n")
    }

    @Test func clusters_areAmongTheWorkloadsOfTheJSON() async throws {
        let object = try await Self.object(Self.cluster.json)
        #expect((object["floor"] as? [String: Any])?["syncedWriteMicroseconds"] as? Double == 140)
        let entry = try #require((object["workloads"] as? [[String: Any]])?.first)
        #expect(entry["id"] as? String == "W9" && entry["operationsPerSecond"] as? Int == 2_500 && entry["ratioToFloor"] as? Double == 2)
        #expect((entry["cpuMicrosecondsPerOperation"] as? [String: Any])?["worker"] as? Double == 20)
        #expect(entry["slowdownBesideFlood"] as? Double == 1.75 && entry["p99Milliseconds"] as? Double == 9)
        #expect(entry["worstToMeanWait"] == nil)
    }

    /// Large values, and a graph whose coordinator was killed, with keys.
    private static var largeWithKeys: BenchReport {
        var report = BenchReport(floor: nil)
        var clusters = empty(curve: true)
        clusters.add(
            ClusterMeasurement(
                workload: .payload, count: 1_000, repeats: 1, operations: 2_000, seconds: 0.8, cpuMicroseconds: [:], peakBytes: [:],
                writtenBytes: 0))
        clusters.add(
            ClusterMeasurement(
                workload: .scale, count: 10_000, repeats: 1, operations: 9_899, seconds: 2, cpuMicroseconds: [:], peakBytes: [:],
                writtenBytes: 0, scale: .init(admissionSeconds: 0.25, bytesPerUnit: 612.4, restartSeconds: 1.5)))
        report.clusters = clusters
        return report
    }

    @Test func largeValues_haveARate_whoseFloorIsTheDisk() async throws {
        #expect(Self.largeWithKeys.text.contains("W5 of 1,000: 128.00 MB/s of values are delivered\n"))
        #expect(Self.largeWithKeys.text.contains(", 512.00 MB/s for large files on it, "))
        let object = try await Self.object(Self.largeWithKeys.json)
        #expect((object["floor"] as? [String: Any])?["sequentialMegabytesPerSecond"] as? Double == 512)
        let entry = try #require((object["workloads"] as? [[String: Any]])?.first)
        #expect(entry["megabytesPerSecond"] as? Double == 128 && entry["ratioToFloor"] as? Double == 4)
        #expect(entry["restartSeconds"] == nil)
    }

    @Test func largeGraph_saysHowItWasTakenIn_andTakenUpAgain() async throws {
        let text = Self.largeWithKeys.text
        let note = "W8 of 10,000: on the disk after 0.25 s, 612 bytes of memory per unit, goes on 1.50 s after its coordinator was killed\n"
        #expect(text.contains(note), "\(text)")
        let object = try await Self.object(Self.largeWithKeys.json)
        let entry = try #require((object["workloads"] as? [[String: Any]])?.last)
        #expect(entry["admissionSeconds"] as? Double == 0.25 && entry["bytesPerUnit"] as? Double == 612.4)
        #expect(entry["restartSeconds"] as? Double == 1.5 && entry["megabytesPerSecond"] == nil)
    }

    @Test func keys_areSaid_andThatTheEarlierRunHadNone() async throws {
        #expect(Self.largeWithKeys.text.contains("with CURVE: ") && !Self.cluster.text.contains("CURVE"))
        let entries = try #require(try await Self.object(Self.largeWithKeys.json)["workloads"] as? [[String: Any]])
        #expect(entries.allSatisfy { $0["curve"] as? Bool == true })
        var report = Self.largeWithKeys
        let text = #"{"workloads":[{"id":"W5","n":1000,"curve":false,"megabytesPerSecond":64},{"id":"W8","n":10000,"curve":true}]}"#
        report.compare(with: try EarlierBench(Data(text.utf8)))
        #expect(report.comparison?.rows.first { $0.measure == "megabytesPerSecond" }?.change == 1)
        #expect(report.comparison?.notes == ["W5 of 1,000 ran without CURVE in the earlier run, and with it in this one"])
    }

    @Test(arguments: [(25, 5), (26, 5), (1, 1), (1_000, 31)])
    func graphOfScale_hasAsManyNodesAsItIsAskedFor_inEqualGroups(_ count: Int, _ groups: Int) throws {
        let graph = try ClusterWorkload.scale.graph(count: count)
        #expect(graph.nodes.count == max(3, count))
        #expect(graph.nodes.count - ClusterWorkload.scale.operations(count: count) == groups + 1)
    }

    @Test func valuesOfPayload_areFilesOfThatSize_noTwoAlike() throws {
        let directory = NSTemporaryDirectory() + "bench-\(UUID())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try ClusterWorkload.writeValues(count: 3, in: directory)
        let values = try (0..<3).map { try Data(contentsOf: URL(fileURLWithPath: "\(directory)/v\($0)")) }
        #expect(values.allSatisfy { $0.count == ClusterWorkload.payloadBytes } && Set(values).count == 3)
    }

    @Test(arguments: ClusterWorkload.allCases) func graphOfAWorkload_hasAsManyOperationsAsItSays(_ workload: ClusterWorkload) throws {
        let graph = try workload.graph(count: 25)
        let operations = graph.nodes.count { if case .operation? = $0.kind { true } else { false } }
        #expect(operations == (workload == .latency ? 1 : workload.operations(count: 25)))
    }

    @Test(arguments: [(1, "1"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")])
    func counts_areGroupedByThousands(_ number: Int, _ text: String) {
        #expect(BenchReport.grouped(number) == text)
    }

    @Test(arguments: [(0.0, "0.00"), (1.005, "1.00"), (2.5, "2.50"), (137.539, "137.54")])
    func times_haveTwoDecimals(_ number: Double, _ text: String) {
        #expect(BenchReport.number(number) == text)
    }

    /// The value as it is read back from what was written.
    private static func object(_ value: JSONValue) async throws -> [String: Any] {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        var writer = JSONWriter(FileOutput(ends[1]))
        try await writer.writeLine(value)
        close(ends[1])
        let text = try FileHandle(fileDescriptor: ends[0]).readToEnd() ?? Data()
        return try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
    }
}
