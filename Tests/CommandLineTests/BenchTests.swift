import ArgumentParser
import Benchmark
import Foundation
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

    @Test(arguments: [[], ["L1"], ["l2", "L2"], ["L1", "L2", "L3", "L4"], ["--n", "1"], ["--full"], ["-o", "json"]] as [[String]])
    func knownIdsAndSizes_areTaken(_ arguments: [String]) {
        #expect(Self.refusal(arguments) == nil)
    }

    @Test(arguments: ["W1", "L5", "flood"]) func unknownId_isAUsageError_thatListsTheKnownOnes(_ id: String) throws {
        let refusal = try #require(Self.refusal(["L1", id]))
        #expect(refusal.status == ExitStatus.usage.rawValue)
        #expect(
            refusal.message.contains(
                "there is no workload `\(id)`; there are L1 (flood), L2 (chain), L3 (fan-in), L4 (group of groups)"))
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
