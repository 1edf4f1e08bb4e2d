import AOperation
import Cluster
import Conformance
import ConformanceOperations
import ConformanceRemote
import Foundation
import Testing

extension SystemTests {
    /// Random graphs that are written to graph files, and handed in, steered and submitted again by `aop`, on real processes; each judged by
    /// the reference.
    ///
    /// `AOP_CONFORMANCE_FILES` says how many at once (12 if it is not set), `AOP_CONFORMANCE_SEED` the first seed.
    @Suite struct FileModel {
        private static let environment = ProcessInfo.processInfo.environment
        private static let first = environment["AOP_CONFORMANCE_SEED"].flatMap(UInt64.init) ?? 1
        private static let count = environment["AOP_CONFORMANCE_FILES"].flatMap(UInt64.init) ?? 12

        private struct Graph: Sendable {
            var seed: UInt64
            var run: FileRun
            var text: String
            var end: Task<Bool, Never>
        }

        @Test func randomFiles_doNothingThatTheModelForbids() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = try await Model.startWorkers(harness, processes: 1)
                let cluster = try await harness.connect()
                try await Self.judge(try Self.start(over: cluster.connection, harness))
                await cluster.close()
            }
        }

        @Test func executorsKilled_andTheCoordinatorRestarted_theyStillDoNothingThatTheModelForbids() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                let executors = try await Model.startWorkers(harness, processes: 2)
                let cluster = try await harness.connect()
                let graphs = try Self.start(over: cluster.connection, harness)
                try await eventually("bodies run in \(executors[0])") {
                    graphs.contains { Self.history(of: $0).events.contains { $0.isStart(in: "\(executors[0])") } }
                }
                Self.kill(executors[0], graphs)
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                try await Self.judge(graphs)
                await cluster.close()
            }
        }

        private static func start(over connection: ClusterConnection, _ harness: ProcessHarness) throws -> [Graph] {
            RemoteFaults.register()
            return try (first..<first + count).map { seed in
                let folder = "\(harness.directory)/file-\(seed)"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let isYAML = !seed.isMultiple(of: 3)
                let plan = GraphGenerator.graph(seed: seed, features: .written).written(lists: isYAML)
                let run = FileRun(plan, at: folder, over: connection)
                let limits = GraphRun.Limits(timeout: .seconds(1), deadline: .seconds(4), queueTimeout: .milliseconds(200))
                let text = try GraphFileText(plan, at: folder, limits: limits).text(as: isYAML ? .yaml : .json)
                let file = try harness.write("file-\(seed)/graph.\(isYAML ? "yaml" : "json")", text)
                for host in GraphPlan.hosts { run.place.note(.host(host.name, labels: [host.name], permits: host.permits)) }
                return Graph(seed: seed, run: run, text: text, end: Task { await run.run(desk(file, harness), within: patience) })
            }
        }

        /// What somebody at a terminal does.
        private static func desk(_ file: String, _ harness: ProcessHarness) -> FileRun.Desk {
            FileRun.Desk { key in
                let submitted = try await aop(harness, ["submit", file, "--key", key])
                // Whether it is the one that was there is seen by its id.
                return (try JSON(parsing: submitted.text)["id"].string ?? "", true)
            } cancel: { id, path in
                _ = try await aop(harness, ["cancel", path.isEmpty ? id : "\(id)/\(path)"])
            } steer: { id, path, pauses in
                let answer = try await aop(harness, [pauses ? "pause" : "resume", path.isEmpty ? id : "\(id)/\(path)"])
                return try JSON(parsing: answer.text)["alreadyEnded"].bool != true
            }
        }

        private static func aop(_ harness: ProcessHarness, _ arguments: [String]) async throws -> Finished {
            let finished = try await harness.start(BuiltProducts.aop, arguments + ["-o", "json"]).finish()
            guard finished.status == 0 else { throw DeadlineMissed(what: "aop \(arguments)", last: finished.description) }
            return finished
        }

        private static func history(of graph: Graph) -> History {
            graph.run.history(of: (graph.run.place as? FolderPlace)?.history ?? History([]))
        }

        private static func judge(_ graphs: [Graph]) async throws {
            for graph in graphs {
                let hasEnded = await graph.end.value
                let (plan, history) = (graph.run.plan, history(of: graph))
                let violations = Reference.violations(of: plan, history)
                let trouble = graph.run.trouble.map { "\($0)" } ?? ""
                #expect(hasEnded, "seed \(graph.seed) does not end \(trouble)\n\(plan)\n\(graph.text)\n\(history)")
                #expect(
                    violations.isEmpty,
                    "seed \(graph.seed)\n\(violations.map(\.description).joined(separator: "\n"))\n\(plan)\n\(graph.text)\n\(history)")
            }
        }

        private static func kill(_ process: Int32, _ graphs: [Graph]) {
            for graph in graphs { graph.run.place.note(.killed(process: "\(process)")) }
            Foundation.kill(process, SIGKILL)
        }
    }
}

extension Event {
    fileprivate func isStart(in process: String) -> Bool {
        if case .started(_, _, process, _, _) = self { true } else { false }
    }
}
