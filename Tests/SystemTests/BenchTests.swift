import Foundation
import Testing

extension SystemTests {
    /// `aop bench` on clusters: every workload runs, on processes that are gone afterwards.
    @Suite struct Bench {
        @Test func clusters_areMeasured_andLeaveNothing() async throws {
            try await ProcessHarness.with { harness in
                let ids = ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9"]
                let data = "\(harness.directory)/bench"
                try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
                let finished = try await harness.start(
                    BuiltProducts.aop, ["bench"] + ids + ["--n", "40", "--data", data, "-o", "json"]
                ).finish()
                #expect(finished.status == 0, "\(finished)")
                let report = try JSON(parsing: finished.text)
                #expect(report["workloads"].elements.map { $0["id"].string } == ids)
                for workload in report["workloads"].elements {
                    #expect((workload["operationsPerSecond"].number ?? 0) > 0 && (workload["writtenBytesPerOperation"].number ?? 0) > 0)
                    #expect((workload["peakMiB"]["coordinator"].number ?? 0) > 0 && (workload["peakMiB"]["worker"].number ?? 0) > 0)
                }
                #expect((report["workloads"][8]["slowdownBesideFlood"].number ?? 0) > 0)
                #expect((report["workloads"][4]["megabytesPerSecond"].number ?? 0) > 0)
                #expect((report["workloads"][7]["admissionSeconds"].number ?? 0) > 0)
                #expect((report["workloads"][7]["restartSeconds"].number ?? 0) > 0)
                #expect(
                    (report["floor"]["roundTripMicroseconds"].number ?? 0) > 0 && (report["floor"]["spawnMicroseconds"].number ?? 0) > 0)
                #expect(try FileManager.default.contentsOfDirectory(atPath: data) == [])
                #expect(harness.processes(with: "--private-directory").isEmpty)
            }
        }

        @Test func keys_areAskedFor_ofWorkerAndSubmitter_alsoAfterARestart() async throws {
            try await ProcessHarness.with { harness in
                let data = "\(harness.directory)/bench"
                try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
                let finished = try await harness.start(
                    BuiltProducts.aop, ["bench", "W1", "W8", "--n", "40", "--curve", "--data", data, "-o", "json"]
                ).finish()
                #expect(finished.status == 0, "\(finished)")
                let report = try JSON(parsing: finished.text)
                #expect(report["workloads"].elements.map { $0["curve"].bool } == [true, true])
                #expect(try FileManager.default.contentsOfDirectory(atPath: data) == [])
            }
        }
    }
}
