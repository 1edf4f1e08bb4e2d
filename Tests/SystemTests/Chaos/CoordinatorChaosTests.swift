import AOperation
import Cluster
import Foundation
import Testing

extension SystemTests {
    /// Processes that are killed and frozen again and again under load, with a checker over what the bodies wrote and what was acknowledged.
    /// `AOP_CHAOS=long` (`make chaos`) does as much as the promises say.
    @Suite struct Chaos {
        private static let operationsPerGraph = 50
        /// Milliseconds in which a coordinator serves again.
        private static let aim = 2000.0

        /// Nothing acknowledged is lost, nothing is committed twice, and nothing that kept running is repeated.
        @Test func coordinatorKilledAgainAndAgain_losesNothing_andRepeatsNothing() async throws {
            let scale = ChaosScale.current
            try await ProcessHarness.with { harness in
                var dice = Dice(seed: scale.seed)
                var coordinator = try await Self.startCoordinator(harness)
                _ = harness.start(BuiltProducts.trialWorker, ["--connect", harness.endpoint, "--processes", "2", "--slots", "12"])
                _ = try await harness.waitForExecutors(2)
                let cluster = try await harness.connect()
                let load = ChaosLoad(
                    in: harness.directory, seed: scale.seed, isOrdered: false, operationsPerGraph: Self.operationsPerGraph,
                    milliseconds: 5...150)
                let graphs = scale.operations / Self.operationsPerGraph
                let running = Task { try await load.run(on: cluster, graphs: graphs, atOnce: 4) }
                var (listening, serving) = (ChaosTimes(), ChaosTimes())
                for number in 0..<scale.coordinatorKills {
                    // Spread over the whole load.
                    try await eventually("operations have ended before kill \(number)", within: scale.patience) {
                        load.log.read().ended >= scale.operations * number / scale.coordinatorKills
                    }
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &dice)))
                    try await Self.kill(coordinator)
                    if dice.one(in: 10) {
                        // Also while it recovers.
                        let early = Self.launchCoordinator(harness)
                        _ = try await early.pid()
                        try await Task.sleep(for: .milliseconds(Int.random(in: 5...80, using: &dice)))
                        try await Self.kill(early)
                    }
                    let begin = monotonicNanoseconds()
                    coordinator = try await Self.startCoordinator(harness)
                    listening.add(from: begin, to: monotonicNanoseconds())
                    let other = try await harness.connect()
                    _ = try await other.connection.list(limit: 1)
                    serving.add(from: begin, to: monotonicNanoseconds())
                    await other.close()
                }
                try await running.value
                try await Self.waitForEnds(of: load)
                try await Self.kill(coordinator)
                coordinator = try await Self.startCoordinator(harness)
                let other = try await harness.connect()
                let again = try await load.askAgain(other)
                let check = ChaosCheck(history: load.log.read(), acknowledged: load.acknowledgements)
                let violations = check.ends() + check.repetitions() + check.overlaps() + check.losses(again)
                #expect(violations.isEmpty, "\(violations.count): \(violations.prefix(20).joined(separator: "\n"))")
                #expect(check.acknowledged.plans.count == graphs * Self.operationsPerGraph)
                await cluster.close()
                await other.close()
                try await coordinator.send(SIGTERM)
                _ = try await coordinator.finish()
                let verified = try await harness.aop("journal", "verify", "--data", "\(harness.directory)/data")
                #expect(verified.status == 0, "\(verified)")
                print(
                    """
                    chaos: \(scale.coordinatorKills) kills of the coordinator during \(check.acknowledged.plans.count) operations
                      \(listening.text("it listens after", aim: Self.aim))
                      \(serving.text("a new client is answered after", aim: Self.aim))
                    """)
                let late =
                    listening.violations("it listens after", aim: Self.aim, scale)
                    + serving.violations("a new client is answered after", aim: Self.aim, scale)
                #expect(late.isEmpty, "\(late)")
            }
        }

        /// Graphs with everything in them may be large; snapshots come often.
        static func launchCoordinator(_ harness: ProcessHarness) -> RunningProcess {
            harness.start(
                BuiltProducts.aop,
                [
                    "coordinator", "--listen", harness.endpoint, "--no-http", "--data", "\(harness.directory)/data", "--snapshot-bytes",
                    ChaosScale.isLong ? "4000000" : "50000",
                ])
        }

        static func startCoordinator(_ harness: ProcessHarness) async throws -> RunningProcess {
            let coordinator = launchCoordinator(harness)
            try await eventually("the coordinator listens", last: { coordinator.stderr }) { coordinator.stdout.contains("listening") }
            return coordinator
        }

        static func kill(_ process: RunningProcess) async throws {
            try await process.send(SIGKILL)
            _ = try await process.finish()
        }

        /// Closures are called a moment after the end.
        static func waitForEnds(of load: ChaosLoad) async throws {
            func missing() -> [String] {
                let acknowledged = load.acknowledgements
                return acknowledged.plans.map(\.name).filter { acknowledged.ends[$0] == nil }
            }
            try await eventually("every end is told", last: { "\(missing())" }) { missing().isEmpty }
        }
    }
}
