import AOperation
import Cluster
import Foundation
import Synchronization
import TrialOperations

/// Graphs with locks, retries and deliveries, one after another, and what the cluster has acknowledged of them.
final class ChaosLoad: Sendable {
    struct Plan {
        let name: String
        let failures: Int
    }

    /// What the cluster has told, and may never take back.
    struct Acknowledgements {
        /// Ids of submissions, by their keys.
        var submissions: [String: String] = [:]
        /// What was told of each operation's end, by its name: as often as it was told.
        var ends: [String: [Result<String, AOperationError>]] = [:]
        var plans: [Plan] = []
    }

    /// Whether members of a graph run one after the other: as many operations are open then as graphs.
    let isOrdered: Bool
    let operationsPerGraph: Int
    let milliseconds: ClosedRange<Int>
    let log: ChaosLog
    private let seed: UInt64
    private let acknowledged = Mutex(Acknowledgements())
    private let isStopped = Mutex(false)
    /// The number of the next graph.
    private let next = Mutex(0)
    private static let keys = 8

    init(in directory: String, seed: UInt64, isOrdered: Bool, operationsPerGraph: Int, milliseconds: ClosedRange<Int>) {
        log = ChaosLog("\(directory)/deeds")
        self.seed = seed
        self.isOrdered = isOrdered
        self.operationsPerGraph = operationsPerGraph
        self.milliseconds = milliseconds
    }

    var acknowledgements: Acknowledgements { acknowledged.withLock { $0 } }

    /// No more graphs are submitted; those that were go on.
    func stop() { isStopped.withLock { $0 = true } }

    /// Submits graphs, so many at once, until there were as many or ``stop()`` was called, and waits for their ends.
    func run(on cluster: ClusterQueue, graphs: Int = .max, atOnce: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<atOnce {
                group.addTask {
                    while !self.isStopped.withLock({ $0 }) {
                        let number = self.next.withLock { number in
                            defer { number += 1 }
                            return number
                        }
                        guard number < graphs else { return }
                        try await self.submit(number, on: cluster)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func submit(_ number: Int, on cluster: ClusterQueue) async throws {
        let (graph, deeds) = graph(number)
        for deed in deeds {
            let parameters = deed.parameters
            acknowledged.withLock { $0.plans.append(Plan(name: parameters.name, failures: parameters.failures)) }
            deed.didFinish { end in self.acknowledged.withLock { $0.ends[parameters.name, default: []].append(end) } }
        }
        let submission = try await cluster.submit(graph, key: key(number))
        acknowledged.withLock { $0.submissions[key(number)] = submission.id }
        _ = try await submission.outcome()
    }

    /// Asks for all that was acknowledged once more, with a connection that knows nothing of it.
    ///
    /// - Returns: ids and values as they are told now.
    func askAgain(_ cluster: ClusterQueue) async throws -> (submissions: [String: String], values: [String: String]) {
        var (submissions, values): ([String: String], [String: String]) = ([:], [:])
        for number in acknowledgements.submissions.keys.compactMap({ Int($0.dropFirst("graph-".count)) }) {
            let (graph, deeds) = graph(number)
            let submission = try await cluster.submit(graph, key: key(number))
            // What is made anew is another one.
            submissions[key(number)] = submission.isExisting ? submission.id : "\(submission.id), which is new"
            _ = try await submission.outcome()
            for deed in deeds { values[deed.parameters.name] = deed.outcome?.value }
        }
        return (submissions, values)
    }

    private func key(_ number: Int) -> String { "graph-\(number)" }

    /// The same for the same number.
    private func graph(_ number: Int) -> (AOperation, [Deed]) {
        var dice = Dice(seed: seed &+ UInt64(number) &* 7919)
        var deeds: [Deed] = []
        for index in 0..<operationsPerGraph {
            let draw = Int.random(in: 0..<5, using: &dice)
            let key = draw == 0 ? "k\(Int.random(in: 0..<Self.keys, using: &dice))" : nil
            let failures = draw == 1 ? Int.random(in: 1...2, using: &dice) : 0
            let deed = Deed(
                .init(
                    name: "\(number)-\(index)", log: log.path, milliseconds: Int.random(in: milliseconds, using: &dice), key: key,
                    failures: failures))
            deed.name = deed.parameters.name
            deed.crashLimit(1000)
            if let key { deed.exclusive(key) }
            if failures > 0 { deed.retry(RetryPolicy(attempts: failures + 1)) }
            if draw == 2, let producer = deeds.last, producer.parameters.failures == 0 { producer.deliver(to: deed) }
            deeds.append(deed)
        }
        return (isOrdered ? OrderedGroupOperation(deeds) : GroupOperation(deeds), deeds)
    }
}
