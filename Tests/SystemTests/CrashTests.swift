import Foundation
import Testing

extension SystemTests {
    /// Operations that end their process, under the Swift runtime as it is without any setting.
    @Suite struct Crashes {
        @Test func crash_isToldWithoutABacktrace_andNothingElseSeesHow() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let worker = harness.start(
                    "/usr/bin/env",
                    [
                        "-u", "SWIFT_BACKTRACE", BuiltProducts.trialWorker, "--connect", harness.endpoint, "--slots", "1", "--pass-env",
                        "SWIFT_BACKTRACE",
                    ])
                let executor = try #require(try await harness.waitForExecutors(1).first)
                let environment = FileManager.default.contents(atPath: "/proc/\(executor)/environ") ?? Data()
                #expect(environment.split(separator: 0).contains(Data("SWIFT_BACKTRACE=enable=no".utf8)))
                let command = try harness.write(
                    "command.yaml", "group:\n  - {id: a, run: 'printenv SWIFT_BACKTRACE || echo none'}\n")
                let ran = try await harness.aop("submit", command, "--wait", "-o", "json")
                #expect(try JSON(parsing: ran.text)["value"][0] == "none", "\(ran)")

                let graph = try harness.write(
                    "crash.yaml", "group: [{id: a, op: Crash, crashLimit: 2, with: {unless: '\(harness.directory)/never'}}]\n")
                let crashed = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(crashed.status == 2, "\(crashed) \(worker.stderr)")
                #expect(try JSON(parsing: crashed.text)["errors"][0]["code"] == "workerLost", "\(crashed)")
                for text in ["and is killed", "Program crashed"] { #expect(!worker.stderr.contains(text), "\(worker.stderr)") }
            }
        }
    }
}
