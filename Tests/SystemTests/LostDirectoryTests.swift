import Foundation
import Testing

extension SystemTests {
    /// Workers whose temporary directory is removed while they run.
    @Suite struct LostDirectory {
        private func start(_ harness: ProcessHarness, temporary: String) throws -> RunningProcess {
            try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
            return harness.start(
                BuiltProducts.aop, ["worker", "--connect", harness.endpoint, "--slots", "4"], environment: ["TMPDIR": temporary])
        }

        /// What must not begin twice, and what has one attempt.
        private func graph(_ harness: ProcessHarness) throws -> String {
            let nodes = (0..<20).map { "  - {id: a\($0), run: echo \($0)\($0 % 2 == 0 ? ", atMostOnce: true" : "")}\n" }
            return try harness.write("many.yaml", "group:\n" + nodes.joined())
        }

        @Test func removedTMPDIR_isMadeAgain() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let temporary = "\(harness.directory)/place/tmp"
                let worker = try start(harness, temporary: temporary)
                _ = try await harness.waitForExecutors(1)
                try FileManager.default.removeItem(atPath: "\(harness.directory)/place")
                let ran = try await harness.aop("submit", try graph(harness), "--wait")
                #expect(ran.status == 0, "\(ran) \(worker.stderr)")
                #expect(FileManager.default.fileExists(atPath: temporary))
            }
        }

        /// The executor's own part of it, which it cannot make again: it gives back what it has, and the next one has another.
        @Test func fileInPlaceOfAnExecutorsDirectory_isReplacedWithIt() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let temporary = "\(harness.directory)/place"
                let worker = try start(harness, temporary: temporary)
                _ = try await harness.waitForExecutors(1)
                let own = try #require(
                    try FileManager.default.subpathsOfDirectory(atPath: temporary).first { $0.split(separator: "/").count == 2 })
                // The worker may be making it again at this moment.
                try await eventually("something else is in its place") {
                    try? FileManager.default.removeItem(atPath: "\(temporary)/\(own)")
                    return (try? harness.write("place/\(own)", "")) != nil
                }
                let ran = try await harness.aop("submit", try graph(harness), "--wait", "-o", "json")
                #expect(ran.status == 0, "\(ran) \(worker.stderr)")
                #expect(worker.stderr.contains("takes no more work and is replaced"), "\(worker.stderr)")
            }
        }

        /// It fails nothing: what it gets it gives back, others do it, and it takes work again when it has a place.
        @Test func workerWithoutAPlace_leavesWorkToOthers_andComesBack() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let temporary = "\(harness.directory)/place"
                let sick = try start(harness, temporary: temporary)
                let well = harness.startWorker("--slots", "1")
                _ = try await harness.waitForExecutors(2)
                // The worker may be making it again at this moment.
                try await eventually("something else is in its place") {
                    try? FileManager.default.removeItem(atPath: temporary)
                    return (try? harness.write("place", "")) != nil
                }
                let graph = try graph(harness)
                let ran = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(ran.status == 0, "\(ran) \(sick.stderr)")
                try await eventually("it says so", last: { sick.stderr }) {
                    sick.stderr.contains("the temporary directory was removed by somebody")
                        && sick.stderr.contains("takes no more work and is replaced") && sick.stderr.contains("cannot be started")
                }
                try await well.send(SIGTERM)
                #expect(try await well.finish().status == 0)
                try FileManager.default.removeItem(atPath: temporary)
                try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
                let again = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(again.status == 0, "\(again) \(sick.stderr)")
            }
        }
    }
}
