import AOperation
import Cluster
import ClusterTesting
import Conformance
import ConformanceOperations
import ConformanceRemote
import Foundation
import GraphFile
import Testing
import Wire

/// Random graphs that are written to graph files, read again, submitted as `aop submit` does and run on clusters in memory, each judged
/// by the reference.
///
/// `AOP_CONFORMANCE_GRAPHS` says how many (70 if it is not set), `AOP_CONFORMANCE_SEED` the first seed.
@Suite struct FileModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let first = environment["AOP_CONFORMANCE_SEED"].flatMap(UInt64.init) ?? 1
    private static let count = environment["AOP_CONFORMANCE_GRAPHS"].flatMap(UInt64.init) ?? 70

    @Test func randomFiles_doNothingThatTheModelForbids() async throws {
        for seed in Self.first..<Self.first + Self.count where try await !Self.run(seed, faults: []) { break }
    }

    @Test func withCrashesOfWorkersAndCoordinators_theyStillDoNothingThatTheModelForbids() async throws {
        for seed in Self.first..<Self.first + Self.count {
            let faults: [InMemoryCluster.Fault] = [.workerCrash(every: 2 + Int(seed % 5)), .coordinatorCrash(every: 3 + Int(seed % 7))]
            // A dependent operation that is lost too often says something else than its script.
            guard try await Self.run(seed, faults: faults, without: .preparedConditions) else { break }
        }
    }

    /// Whether the graph of this seed ran as it may.
    private static func run(
        _ seed: UInt64, faults: [InMemoryCluster.Fault], without features: GraphGenerator.Features = []
    ) async throws -> Bool {
        RemoteFaults.register()
        // All workers are alike.
        let drawn = GraphGenerator.Features.written.subtracting(features).subtracting(.placement)
        let isYAML = !seed.isMultiple(of: 3)
        // What an element is made of is more than text, which only YAML says plainly.
        let plan = GraphGenerator.graph(seed: seed, features: drawn).written(lists: isYAML)
        let cluster = try InMemoryCluster(workers: 1 + Int(seed % 3), slots: 4, seed: seed, faults: faults)
        let clock = cluster.clock
        let name = "memory-file-\(seed)-\(UUID())"
        let place = MemoryPlace {
            cluster.date
        } tick: {
            try await clock.sleep(for: .milliseconds(1))
        }
        Places.register(place, as: name)
        defer { Places.remove(name) }
        for type in ConformanceTypes.operations { try await cluster.register(type) }
        for type in ConformanceTypes.conditions { try await cluster.register(type) }
        // Any run may have been in vain where workers crash.
        if !faults.isEmpty { place.note(.killed(process: place.process)) }
        let run = FileRun(plan, at: name, over: cluster.queue.connection)
        let text = try GraphFileText(
            plan, at: name, limits: .init(timeout: .milliseconds(50), deadline: .milliseconds(200), queueTimeout: .milliseconds(5))
        ).text(as: isYAML ? .yaml : .json)
        let hasEnded = await run.run(try desk(text, over: cluster.queue.connection), within: .seconds(60))
        let history = run.history(of: place.history)
        let violations = Reference.violations(of: plan, history)
        let trouble = run.trouble.map { "\($0)" } ?? ""
        #expect(hasEnded, "seed \(seed) does not end \(trouble)\n\(plan)\n\(text)\n\(history)")
        #expect(violations.isEmpty, "seed \(seed)\n\(violations.map(\.description).joined(separator: "\n"))\n\(plan)\n\(text)\n\(history)")
        await cluster.queue.close()
        return hasEnded && violations.isEmpty
    }

    private static func desk(_ text: String, over connection: ClusterConnection) throws -> FileRun.Desk {
        let loaded = try GraphFileLoader.load(text: text, file: "graph.yaml")
        return FileRun.Desk { key in
            let submitted = try await connection.submit(loaded.graph, key: key)
            return (submitted.id, submitted.isExisting)
        } cancel: { id, path in
            _ = try await connection.cancel(id, path: path)
        } steer: { id, path, pauses in
            let steered = try await pauses ? connection.pause(id, path: path) : connection.resume(id, path: path)
            return !steered.alreadyEnded
        }
    }
}
