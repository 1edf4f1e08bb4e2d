import Foundation
import Testing

extension SystemTests {
    /// Disks that are full or broken, at many places of a coordinator's work.
    @Suite struct DiskFaults {
        enum Fault: String, CaseIterable, Sendable {
            case fullDisk, failingSync, failingWrite

            var call: String { self == .failingSync ? "sync" : "write" }
            var code: Int32 { self == .fullDisk ? ENOSPC : EIO }
        }

        /// `AOP_DISK_FAULT_POINTS` says at how many calls, one after another; without it at a few.
        static var points: [Int] {
            let count = ProcessInfo.processInfo.environment["AOP_DISK_FAULT_POINTS"].flatMap { Int($0) }
            return count.map { Array(1...max(1, $0)) } ?? [2, 17, 45]
        }

        /// From the n-th call on the disk fails: the coordinator says so and ends, and whoever was told that something is done finds it so
        /// when the next one has started.
        @Test(arguments: Fault.allCases) func nothingAcknowledged_isLost_andTheNextStartGoesOn(fault: Fault) async throws {
            for point in Self.points {
                try await ProcessHarness.with { harness in try await Self.run(fault, at: point, harness) }
            }
        }

        private static func run(_ fault: Fault, at point: Int, _ harness: ProcessHarness) async throws {
            let shim = try await compiled(harness)
            let data = "\(harness.directory)/data"
            let broken = harness.start(
                BuiltProducts.aop,
                [
                    "coordinator", "--listen", harness.endpoint, "--no-http", "--data", data, "--snapshot-bytes", "3000", "--disk-reserve",
                    "0",
                ],
                environment: [
                    "LD_PRELOAD": shim, "FAULT_DIRECTORY": data, "FAULT_CALL": fault.call, "FAULT_AT": "\(point)",
                    "FAULT_ERRNO": "\(fault.code)",
                ])
            _ = harness.startWorker("--slots", "2")
            let graph = try harness.write("small.yaml", "group:\n  - {id: a, op: noop}\n  - {id: b, op: noop, after: a}\n")
            var acknowledged: [String] = []
            var ended: [String] = []
            for number in 0..<40 {
                let submitted = try await harness.aop(
                    "submit", graph, "--key", "k\(number)", "-o", "quiet", "--connect-timeout", "4s", "--timeout", "20s")
                guard submitted.status == 0 else { break }
                let id = submitted.text.trimmingCharacters(in: .whitespacesAndNewlines)
                acknowledged.append(id)
                guard number % 2 == 1 else { continue }
                if try await harness.aop("wait", id, "-o", "quiet", "--connect-timeout", "4s", "--timeout", "20s").status == 0 {
                    ended.append(id)
                }
            }
            let end = try await broken.finish()
            #expect(end.status == 1, "\(fault) at \(point): \(end)")
            #expect(end.stderr.contains("cannot "), "\(fault) at \(point): \(end)")
            #expect(
                end.stderr.contains("check free space, permissions and the health of the disk") || end.stderr.contains("change its owner"),
                "\(fault) at \(point): \(end)")
            let next = try await harness.startCoordinator()
            let listed = try JSON(parsing: try await harness.aop("list", "-o", "json").text)["submissions"].elements
            let known = Set(listed.compactMap { $0["id"].string })
            for id in acknowledged { #expect(known.contains(id), "\(fault) at \(point): \(id) was acknowledged and is not there") }
            for id in ended {
                let view = listed.first { $0["id"].string == id }
                #expect(view?["state"].string == "succeeded", "\(fault) at \(point): \(id) was told as ended")
            }
            // It goes on.
            #expect(try await harness.aop("submit", graph, "--wait", "-o", "quiet").status == 0, "\(fault) at \(point)")
            try await next.send(SIGTERM)
            _ = try await next.finish()
            let verified = try await harness.aop("journal", "verify", "--data", data, "--values")
            #expect(verified.status == 0, "\(fault) at \(point): \(verified)")
        }

        private static func compiled(_ harness: ProcessHarness) async throws -> String {
            let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Trial/DiskFaults/disk-faults.c").path
            let shim = "\(harness.directory)/disk-faults.so"
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            let compiler = harness.start(
                "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], environment: ["PATH": path])
            let compiled = try await compiler.finish()
            try #require(compiled.status == 0, "\(compiled)")
            return shim
        }
    }
}
