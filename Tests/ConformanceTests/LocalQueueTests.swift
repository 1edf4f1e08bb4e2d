import AOperation
import Conformance
import ConformanceOperations
import Foundation
import Testing

/// Random graphs on a queue of this process, each judged by the reference.
///
/// `AOP_CONFORMANCE_GRAPHS` says how many (2,000 if it is not set), `AOP_CONFORMANCE_SEED` the first seed.
@Suite struct LocalQueueTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let first = environment["AOP_CONFORMANCE_SEED"].flatMap(UInt64.init) ?? 1
    private static let count = environment["AOP_CONFORMANCE_GRAPHS"].flatMap(UInt64.init) ?? 2_000
    private static let atOnce: UInt64 = 16

    @Test func randomGraphs_doNothingThatTheModelForbids() async {
        var next = Self.first
        let end = Self.first + Self.count
        let features =
            Self.environment["AOP_CONFORMANCE_FEATURES"].flatMap(Int.init).map { GraphGenerator.Features(rawValue: $0) } ?? .settled
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<min(Self.atOnce, Self.count) {
                group.addTask { [next] in await Self.run(seed: next, features) }
                next += 1
            }
            var failures = 0
            for await isAllowed in group {
                if !isAllowed { failures += 1 }
                guard next < end, failures < 3 else { continue }
                group.addTask { [next] in await Self.run(seed: next, features) }
                next += 1
            }
        }
    }

    /// Whether the graph of this seed ran as it may.
    private static func run(seed: UInt64, _ features: GraphGenerator.Features) async -> Bool {
        let plan = GraphGenerator.graph(seed: seed, features: features)
        let (name, place) = ("local-\(seed)-\(UUID())", MemoryPlace())
        Places.register(place, as: name)
        defer { Places.remove(name) }
        let queue = AOperationQueue()
        queue.callbackQueue = DispatchQueue(label: name)
        if let slots = plan.slots { queue.maxConcurrentOperationCount = slots }
        let run = GraphRun(
            plan, at: name, limits: .init(timeout: .milliseconds(8), deadline: .milliseconds(25), queueTimeout: .milliseconds(3)),
            isHere: true)
        run.start(on: queue)
        let hasEnded = await run.ended(within: .seconds(60))
        let history = place.history
        let violations = Reference.violations(of: plan, history)
        #expect(hasEnded, "seed \(seed) does not end\n\(plan)\n\(history)")
        #expect(violations.isEmpty, "seed \(seed)\n\(violations.map(\.description).joined(separator: "\n"))\n\(plan)\n\(history)")
        return hasEnded && violations.isEmpty
    }
}
