import AOperation
import Cluster
import ClusterTesting
import Foundation
import Synchronization
import Testing

private struct JobError: PortableError, LocalizedError, Hashable {
    var text: String
    var errorDescription: String? { "job: \(text)" }
}

/// Succeeds, or fails with an error of its own.
private class JobBody: AsyncOperation<String>, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var text: String
        var fails: Bool
    }

    let parameters: Parameters

    required init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> String {
        guard !parameters.fails else { throw JobError(text: parameters.text) }
        return parameters.text
    }
}

private final class Job: JobBody, ClusterOperation, @unchecked Sendable {}
private final class HostedJob: JobBody, @unchecked Sendable {}

/// Has something done, and holds unless that fails.
private struct Wants: AOperationCondition {
    let make: @Sendable () -> AOperation

    init(_ make: @escaping @Sendable () -> AOperation) { self.make = make }

    var dependentOperation: AOperation? { make() }
}

/// Has something done, and holds whatever became of that.
private struct Stubborn: AOperationCondition {
    let make: @Sendable () -> AOperation

    var dependentOperation: AOperation? { make() }

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) { completion(.success) }
}

/// The same as `Wants` where workers evaluate it.
private struct Tidy: ClusterCondition {
    var fails = false

    var dependentOperation: AOperation? { Job(.init(text: "tidy", fails: fails)) }
}

/// Adds to its group while it runs, on a worker.
private final class Sower: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var fails = false
    }

    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> String {
        let made = Job(.init(text: "made", fails: false)).conditions(Tidy(fails: parameters.fails))
        made.name = "made"
        produce(made)
        return "sown"
    }
}

/// Fails in its first attempt: the file does not exist yet.
private final class Second: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var name: String
    }

    static let seen = Mutex<Set<String>>([])
    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> String {
        guard !Self.seen.withLock({ $0.insert(parameters.name).inserted }) else { throw JobError(text: "first") }
        return "second"
    }
}

/// Adds what it is given when its first child has ended, in the program.
private final class Adder: GroupOperation, @unchecked Sendable {
    private let later: [AOperation]
    private let first: AOperation

    init(_ later: [AOperation]) {
        self.later = later
        first = AOperationBlock { $0() }
        super.init([first])
    }

    override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        guard operation === first else { return }
        for next in later { addOperation(next) }
    }
}

/// Dependent operations of what conditions are made of, and of what comes to a graph that runs, on a queue and on a cluster in memory.
@Suite(.timeLimit(.minutes(2))) struct MemoryPreparationTests {
    private static func job(_ text: String, isHosted: Bool, fails: Bool) -> AOperation {
        let parameters = JobBody.Parameters(text: text, fails: fails)
        let job: AOperation = isHosted ? HostedJob(parameters) : Job(parameters)
        job.name = text
        return job
    }

    private static func conditions(isHosted: Bool) -> [(name: String, condition: any AOperationCondition)] {
        @Sendable func good() -> Wants { Wants { job("good", isHosted: isHosted, fails: false) } }
        @Sendable func bad(_ text: String = "bad") -> Wants { Wants { job(text, isHosted: isHosted, fails: true) } }
        return [
            ("bad", bad()), ("stubborn", Stubborn { job("bad", isHosted: isHosted, fails: true) }),
            ("and", AndCondition(good(), good())), ("andBad", AndCondition(good(), bad())),
            ("andTwoBad", AndCondition(bad(), bad("worse"))),
            ("orOneBad", OrCondition(bad(), good())), ("orAllBad", OrCondition(bad(), bad("worse"))),
            ("notGood", NegatedCondition(good())), ("notBad", NegatedCondition(bad())),
            ("notNotBad", NegatedCondition(NegatedCondition(bad()))), ("silent", SilentCondition(bad())),
            ("andSilent", AndCondition(SilentCondition(bad()), good())), ("silentAnd", SilentCondition(AndCondition(bad(), bad()))),
            ("ignoredBad", IgnoredCondition(bad())), ("ignoredGood", IgnoredCondition(good())),
            ("andStubborn", AndCondition(Stubborn { job("bad", isHosted: isHosted, fails: true) }, good())),
            ("nested", OrCondition(AndCondition(good(), NegatedCondition(good())), NegatedCondition(AndCondition(good(), bad())))),
        ]
    }

    private static func text(_ operation: AOperation) -> String {
        let errors = operation.publishedErrors.map { "\($0.localizedDescription) (\($0.state), \($0.publisher ?? "nobody"))" }
        let value = (operation as? ResultableOperation<String>)?.outcome?.value
        return operation.isCancelled ? "cancelled" : errors.isEmpty ? value ?? "nothing" : errors.joined(separator: "; ")
    }

    /// What each comes to, by its name.
    private static func outcomes(
        isHosted: Bool, _ group: ([AOperation]) -> GroupOperation, run: (AOperation) async throws -> Void
    ) async throws -> [String: String] {
        let cases = conditions(isHosted: isHosted)
        let operations = cases.map { name, condition in
            let operation = job("ran", isHosted: isHosted, fails: false).conditions(condition)
            operation.name = name
            return operation
        }
        try await run(group(operations))
        return Dictionary(uniqueKeysWithValues: zip(cases.map(\.name), operations.map { text($0) }))
    }

    private static func runLocally(_ operation: AOperation) async {
        let group = operation as? GroupOperation
        _ = await group?.result(on: AOperationQueue())
    }

    private func cluster(_ faults: [InMemoryCluster.Fault] = [], seed: UInt64 = 11) async throws -> InMemoryCluster {
        PortableErrors.register(JobError.self)
        let cluster = try InMemoryCluster(workers: 2, seed: seed, faults: faults)
        try await cluster.register(Job.self, Sower.self, Second.self)
        try await cluster.register(Tidy.self)
        return cluster
    }

    /// What a failure of the condition itself is says the cluster, also where the condition would not mind.
    private static func isAsOnAQueue(_ name: String) -> Bool { name != "stubborn" }

    @Test(arguments: [false, true], [[], [InMemoryCluster.Fault.coordinatorCrash(every: 3)]])
    func insideOfOthers_theyDecideAsOnAQueue(isHosted: Bool, faults: [InMemoryCluster.Fault]) async throws {
        let cluster = try await cluster(faults)
        let there = try await Self.outcomes(isHosted: isHosted, { GroupOperation($0) }) { _ = try await cluster.run($0) }
        let here = try await Self.outcomes(isHosted: isHosted, { GroupOperation($0) }) { await Self.runLocally($0) }
        for name in here.keys.sorted() where Self.isAsOnAQueue(name) { #expect(there[name] == here[name], "\(name)") }
        let holding = ["and", "orOneBad", "notBad", "silent", "andSilent", "silentAnd", "ignoredGood", "andStubborn", "nested"]
        #expect(there.filter { $0.value == "ran" }.keys.sorted() == holding.sorted())
        #expect(there["ignoredBad"] == "cancelled")
        #expect(there["andBad"] == "job: bad (condition, bad)")
        await cluster.queue.close()
    }

    @Test(arguments: [false, true])
    func ofWhatIsAddedWhileTheGraphRuns_theyDecideAsOnAQueue(isHosted: Bool) async throws {
        let cluster = try await cluster()
        let there = try await Self.outcomes(isHosted: isHosted, { Adder($0) }) { _ = try await cluster.run($0) }
        let here = try await Self.outcomes(isHosted: isHosted, { Adder($0) }) { await Self.runLocally($0) }
        for name in here.keys.sorted() where Self.isAsOnAQueue(name) { #expect(there[name] == here[name], "\(name)") }
        await cluster.queue.close()
    }

    @Test func eachAttempt_hasItsOwn_andTheWholeIsAskedAnew() async throws {
        for isAdded in [false, true] {
            let cluster = try await cluster()
            let made = Mutex(0)
            let wants = Wants {
                let count = made.withLock { made in
                    made += 1
                    return made
                }
                return Self.job("dependent", isHosted: true, fails: count < 3)
            }
            let operation = Self.job("ran", isHosted: false, fails: false).retry(RetryPolicy(attempts: 5))
            operation.conditions(AndCondition(wants, TrueCondition()))
            let group = isAdded ? Adder([operation]) : GroupOperation(operation)
            let outcome = try await cluster.run(group)
            #expect(outcome.isSuccess, "\(outcome.errors)")
            #expect(made.withLock { $0 } == 3)
            await cluster.queue.close()
        }
    }

    @Test(arguments: [false, true])
    func ofWhatAWorkerHasAdded_theyRunFirst_andAreNoChildren(fails: Bool) async throws {
        let cluster = try await cluster()
        let group = GroupOperation(Sower(.init(fails: fails)))
        let outcome = try await cluster.run(group)
        #expect(outcome.isSuccess == !fails, "\(outcome.errors)")
        #expect(group.operations.count == 2)
        #expect(cluster.attempts(of: "made+1/?Job.0") == 1)
        #expect(cluster.attempts(of: "made+1") == (fails ? 0 : 1))
        if fails {
            let error = try #require(group.publishedErrors.first)
            #expect(error.state == .condition && error.publishedError is JobError && error.publisher == "Job")
        }
        await cluster.queue.close()
    }

    @Test(arguments: 0..<4)
    func groupThatBeginsAnew_hasThoseOfItsLastAttempt_whateverCrashes(seed: Int) async throws {
        let faults: [InMemoryCluster.Fault] = seed == 0 ? [] : [.workerCrash(every: 9), .coordinatorCrash(every: 4)]
        let cluster = try await cluster(faults, seed: UInt64(seed))
        let second = Second(.init(name: "\(UUID())"))
        let inner = OrderedGroupOperation(Sower(.init()), second).retry(RetryPolicy(attempts: 3))
        let outcome = try await cluster.run(GroupOperation(inner))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(inner.operations.count == 3)
        await cluster.queue.close()
    }
}
