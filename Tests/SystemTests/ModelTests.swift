import AOperation
import Cluster
import Conformance
import ConformanceOperations
import ConformanceRemote
import Foundation
import Testing

extension SystemTests {
    /// Random graphs on real processes, each judged by the reference.
    ///
    /// `AOP_CONFORMANCE_GRAPHS` says how many at once (40 if it is not set), `AOP_CONFORMANCE_SEED` the first seed.
    @Suite struct Model {
        private static let environment = ProcessInfo.processInfo.environment
        private static let first = environment["AOP_CONFORMANCE_SEED"].flatMap(UInt64.init) ?? 1
        private static let count = environment["AOP_CONFORMANCE_GRAPHS"].flatMap(UInt64.init) ?? 40

        @Test func manyGraphsAtOnce_doNothingThatTheModelForbids() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                try await Self.startWorkers(harness, processes: 1)
                let cluster = try await harness.connect()
                let graphs = try Self.start(on: cluster, harness)
                try await Self.judge(graphs)
                await cluster.close()
            }
        }

        @Test func executorsKilled_andTheCoordinatorRestarted_theyStillDoNothingThatTheModelForbids() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                let executors = try await Self.startWorkers(harness, processes: 2)
                let cluster = try await harness.connect()
                let graphs = try Self.start(on: cluster, harness)
                try await Self.whenSome(of: graphs, haveBegunIn: executors[0])
                try await Self.kill(executors[0], graphs)
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                let others = try await harness.waitForExecutors(4).filter { $0 != executors[0] }
                if let other = others.first { try await Self.kill(other, graphs) }
                try await Self.judge(graphs)
                await cluster.close()
            }
        }

        /// Starts the hosts of which graphs know, each with so many processes.
        @discardableResult
        static func startWorkers(_ harness: ProcessHarness, processes: Int) async throws -> [Int32] {
            for host in GraphPlan.hosts {
                let arguments = [
                    "--connect", harness.endpoint, "--slots", "\(16 / (2 * processes))", "--processes", "\(processes)",
                    "--label", host.name, "--resource", "permits=\(host.permits)",
                ]
                _ = harness.start(BuiltProducts.trialWorker, arguments, environment: ["AOP_TRIAL_HOST": host.name])
            }
            return try await harness.waitForExecutors(GraphPlan.hosts.count * processes)
        }

        /// Adds the graphs of all seeds.
        private static func start(on cluster: ClusterQueue, _ harness: ProcessHarness) throws -> [(seed: UInt64, run: GraphRun)] {
            RemoteFaults.register()
            cluster.callbackQueue = DispatchQueue(label: "callbacks")
            return try (first..<first + count).map { seed in
                let folder = "\(harness.directory)/graph-\(seed)"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let plan = GraphGenerator.graph(seed: seed, features: .clustered)
                let run = GraphRun(
                    plan, at: folder, limits: .init(timeout: .seconds(1), deadline: .seconds(4), queueTimeout: .milliseconds(200)),
                    isHere: false)
                for host in GraphPlan.hosts { run.place.note(.host(host.name, labels: [host.name], permits: host.permits)) }
                run.start(on: cluster)
                return (seed, run)
            }
        }

        /// Waits until all have ended, and looks at what was seen.
        private static func judge(_ graphs: [(seed: UInt64, run: GraphRun)]) async throws {
            for (seed, run) in graphs {
                let hasEnded = await run.ended(within: patience)
                let history = (run.place as? FolderPlace)?.history ?? History([])
                let violations = Reference.violations(of: run.plan, history)
                #expect(hasEnded, "seed \(seed) does not end\n\(run.plan)\n\(history)")
                #expect(
                    violations.isEmpty,
                    "seed \(seed)\n\(violations.map(\.description).joined(separator: "\n"))\n\(run.plan)\n\(history)")
            }
        }

        private static func whenSome(of graphs: [(seed: UInt64, run: GraphRun)], haveBegunIn process: Int32) async throws {
            try await eventually("bodies run in \(process)") {
                graphs.contains { _, run in
                    (run.place as? FolderPlace)?.history.events.contains {
                        if case .started(_, _, "\(process)", _, _) = $0 { true } else { false }
                    } ?? false
                }
            }
        }

        private static func kill(_ process: Int32, _ graphs: [(seed: UInt64, run: GraphRun)]) async throws {
            for (_, run) in graphs { run.place.note(.killed(process: "\(process)")) }
            Foundation.kill(process, SIGKILL)
        }
    }
}
