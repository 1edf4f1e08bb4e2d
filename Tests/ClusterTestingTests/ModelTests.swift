import AOperation
import ClusterTesting
import Conformance
import ConformanceOperations
import ConformanceRemote
import Foundation
import Testing

/// Random graphs on clusters in memory, each judged by the reference.
///
/// `AOP_CONFORMANCE_GRAPHS` says how many (100 if it is not set), `AOP_CONFORMANCE_SEED` the first seed, `AOP_CONFORMANCE_FEATURES` (a
/// number: their sum) what they may have besides.
@Suite struct ModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let first = environment["AOP_CONFORMANCE_SEED"].flatMap(UInt64.init) ?? 1
    private static let count = environment["AOP_CONFORMANCE_GRAPHS"].flatMap(UInt64.init) ?? 100

    @Test func randomGraphs_doNothingThatTheModelForbids() async throws {
        for seed in Self.first..<Self.first + Self.count where try await !Self.run(seed, faults: []) { break }
    }

    @Test func withCrashesOfWorkersAndCoordinators_theyStillDoNothingThatTheModelForbids() async throws {
        for seed in Self.first..<Self.first + Self.count {
            let faults: [InMemoryCluster.Fault] = [.workerCrash(every: 2 + Int(seed % 5)), .coordinatorCrash(every: 3 + Int(seed % 7))]
            // A dependent operation that is lost too often says something else than its script.
            guard try await Self.run(seed, faults: faults, .inMemory.subtracting(.preparedConditions)) else { break }
        }
    }

    @Test func withCrashesOfCoordinators_andFewOfWorkers_dependentOperationsDoNothingThatTheModelForbids() async throws {
        for seed in Self.first..<Self.first + Self.count {
            let faults: [InMemoryCluster.Fault] = [.workerCrash(every: 15), .coordinatorCrash(every: 2 + Int(seed % 7))]
            guard try await Self.run(seed, faults: faults) else { break }
        }
    }

    /// A group stops in the step in which something in it is given out.
    @Test(arguments: [20_353] as [UInt64]) func graphsThatWereNotRight_are(seed: UInt64) async throws {
        _ = try await Self.run(seed, faults: [], Self.older.subtracting([.scopes, .preparedConditions]))
    }

    /// What graphs of seeds had that were noted before there were others.
    private static let older = GraphGenerator.Features.inMemory.intersection(.older)

    /// An operation of the program that would pass on the timeout of another one, and is timed out meanwhile itself; one whose
    /// conditions the program is to evaluate again.
    @Test(arguments: [891, 1041] as [UInt64]) func graphsThatWereNotRight_withCrashes_are(seed: UInt64) async throws {
        let faults: [InMemoryCluster.Fault] = [.workerCrash(every: 2 + Int(seed % 5)), .coordinatorCrash(every: 3 + Int(seed % 7))]
        _ = try await Self.run(seed, faults: faults, Self.older.subtracting(.preparedConditions))
    }

    /// A receiver in the program, when the coordinator and the worker of its producer crash together.
    @Test(arguments: [175] as [UInt64]) func graphsThatStoodStill_withCrashesOfCoordinators_end(seed: UInt64) async throws {
        let faults: [InMemoryCluster.Fault] = [.workerCrash(every: 15), .coordinatorCrash(every: 2 + Int(seed % 7))]
        _ = try await Self.run(seed, faults: faults, Self.older)
    }

    /// Whether the graph of this seed ran as it may.
    private static func run(
        _ seed: UInt64, faults: [InMemoryCluster.Fault], _ features: GraphGenerator.Features = .inMemory
    ) async throws -> Bool {
        RemoteFaults.register()
        let more = environment["AOP_CONFORMANCE_FEATURES"].flatMap(Int.init) ?? 0
        let plan = GraphGenerator.graph(seed: seed, features: features.union(.init(rawValue: more)))
        let cluster = try InMemoryCluster(workers: 1 + Int(seed % 3), slots: 4, seed: seed, faults: faults)
        let clock = cluster.clock
        let (name, place) = (
            "memory-\(seed)-\(UUID())",
            MemoryPlace {
                cluster.date
            } tick: {
                try await clock.sleep(for: .milliseconds(1))
            }
        )
        Places.register(place, as: name)
        defer { Places.remove(name) }
        for type in ConformanceTypes.operations { try await cluster.register(type) }
        for type in ConformanceTypes.conditions { try await cluster.register(type) }
        cluster.queue.callbackQueue = DispatchQueue(label: name)
        // Any run may have been in vain where workers crash.
        if !faults.isEmpty { place.note(.killed(process: place.process)) }
        let run = GraphRun(
            plan, at: name, limits: .init(timeout: .milliseconds(50), deadline: .milliseconds(200), queueTimeout: .milliseconds(5)),
            isHere: false)
        run.start(on: cluster.queue)
        let hasEnded = await run.ended(within: .seconds(60))
        let history = place.history
        let violations = Reference.violations(of: plan, history)
        #expect(hasEnded, "seed \(seed) does not end\n\(plan)\n\(history)")
        #expect(violations.isEmpty, "seed \(seed)\n\(violations.map(\.description).joined(separator: "\n"))\n\(plan)\n\(history)")
        await cluster.queue.close()
        return hasEnded && violations.isEmpty
    }
}
