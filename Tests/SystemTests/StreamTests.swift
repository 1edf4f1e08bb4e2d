import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations
import Wire

extension SystemTests {
    /// What operations send while they run.
    @Suite struct Streams {
        private func drip(_ harness: ProcessHarness, _ count: Int, stopAfter: Int? = nil) -> Drip {
            Drip(
                .init(
                    count: count, log: "\(harness.directory)/log", stopAfter: stopAfter, until: "\(harness.directory)/go"))
        }

        @Test func progress_reachesTheMirror_andIsShown() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let drip = drip(harness, 4, stopAfter: 2)
                let heard = CallbackLog()
                drip.observers(BlockObserver(progressHandler: { heard.note("drip", "\($1.fraction) \($1.message ?? "")") }))
                drip.add(to: cluster)
                for await progress in drip.progressUpdates where progress.fraction == 0.5 { break }
                #expect(drip.latestProgress == OperationProgress(0.5, message: "2 sent"))
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)
                #expect(shown["operations"][0]["progress"]["fraction"].number == 0.5)
                #expect(shown["operations"][0]["progress"]["message"] == "2 sent")
                #expect(try await harness.aop("show", "last").text.contains("50 %: 2 sent"))
                _ = try harness.write("go", "")
                #expect(try await drip.value(on: cluster) == 4)
                #expect(drip.latestProgress == OperationProgress(1, message: "4 sent"))
                #expect(heard.byName["drip"]?.last == "1.0 4 sent")
                let ended = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)
                #expect(ended["operations"][0]["progress"] == .null)
                await cluster.close()
            }
        }

        @Test func progress_isSaidAgain_toACoordinatorThatHasRestarted() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let drip = drip(harness, 4, stopAfter: 3)
                drip.add(to: cluster)
                for await progress in drip.progressUpdates where progress.fraction == 0.75 { break }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try await harness.startCoordinator()
                try await eventually("the new coordinator knows it") {
                    let shown = try await harness.aop("show", "last", "-o", "json")
                    guard shown.status == 0 else { return false }
                    return try JSON(parsing: shown.text)["operations"][0]["progress"]["fraction"].number == 0.75
                }
                _ = try harness.write("go", "")
                #expect(try await drip.value(on: cluster) == 4)
                await cluster.close()
            }
        }
    }
}
