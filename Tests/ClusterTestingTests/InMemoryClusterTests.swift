import AOperation
import Cluster
import ClusterTesting
import Foundation
import Testing

/// Waits through a clock, and delivers a text.
final class Nap: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var text: String
        var seconds: Double
    }

    let parameters: Parameters
    private let clock: any Clock<Duration>

    init(_ parameters: Parameters, clock: any Clock<Duration>) {
        self.parameters = parameters
        self.clock = clock
        super.init()
    }

    convenience init(_ parameters: Parameters) { self.init(parameters, clock: ContinuousClock()) }

    convenience init(_ text: String, seconds: Double) { self.init(.init(text: text, seconds: seconds)) }

    override func run() async throws -> String {
        try await clock.sleep(for: .seconds(parameters.seconds))
        return parameters.text
    }
}

/// Puts texts together.
final class Put: ResultableOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters
    var receivedValue: Result<[String], AOperationError>?

    init(_ parameters: Parameters = .init()) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(with: receivedValue.map { $0.joined(separator: "+") })
    }
}

/// Delivers numbers.
final class Numbers: AsyncOperation<[Int]>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable { var upTo: Int }

    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> [Int] { Array(1...parameters.upTo) }
}

/// Receives a tuple.
final class Describe: ResultableOperation<String>, ClusterReceiver, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters
    var receivedValue: Result<(String, [Int], String), AOperationError>?

    init(_ parameters: Parameters = .init()) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(with: receivedValue.map { first, numbers, second in "\(first) \(numbers) \(second)" })
    }
}

/// Says no, with an error of its own.
struct Closed: ClusterCondition {
    struct Sorry: PortableError, LocalizedError, Equatable {
        var until: Int
        var errorDescription: String? { "closed until \(until)" }
    }

    var until: Int

    func evaluateForOperation(_ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void) {
        completion(.failure(AOperationError(Sorry(until: until))))
    }
}

@Suite struct InMemoryClusterTests {
    private func cluster(workers: Int = 3, faults: [InMemoryCluster.Fault] = []) async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: workers, clock: .virtual, seed: 42, faults: faults)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        return cluster
    }

    @Test func graph_hasItsOutcomes_andHoursTakeNoTime() async throws {
        let cluster = try await cluster()
        let (a, b, put) = (Nap("a", seconds: 3_600), Nap("b", seconds: 7_200), Put())
        [a, b].deliver(to: put)
        let outcome = try await cluster.run(OrderedGroupOperation(GroupOperation(a, b, put), Nap("c", seconds: 1)))
        #expect(outcome.isSuccess)
        #expect(outcome[put]?.value == "a+b")
        #expect(cluster.clock.now.elapsed == .seconds(7_201))
        #expect(cluster.attempts(of: "group/Nap") == 1)
        #expect(cluster.attempts(of: "group/nobody") == 0)
    }

    @Test func valuesOfSeveralProducers_reachAWorkerAsATuple_inDeclaredOrder() async throws {
        let cluster = try await cluster()
        try await cluster.register(Numbers.self)
        try await cluster.register(Describe.self)
        let (slow, numbers, quick, describe) = (Nap("slow", seconds: 9), Numbers(.init(upTo: 3)), Nap("quick", seconds: 1), Describe())
        deliver(slow, numbers, quick, to: describe)
        let outcome = try await cluster.run(GroupOperation(slow, numbers, quick, describe))
        #expect(outcome[describe]?.value == "slow [1, 2, 3] quick", "\(outcome.errors)")
    }

    @Test func failureOfOneOfThem_isWhatTheReceiverOfATupleGets() async throws {
        let cluster = try await cluster()
        try await cluster.register(Numbers.self)
        try await cluster.register(Describe.self)
        let (slow, numbers, quick, describe) = (Nap("slow", seconds: 9), Numbers(.init(upTo: 3)), Nap("quick", seconds: 1), Describe())
        deliver(slow.timeout(.seconds(3)), numbers, quick, to: describe)
        let outcome = try await cluster.run(GroupOperation(slow, numbers, quick, describe))
        #expect(outcome[describe]?.errors.first?.publishedError is TimeoutObserver.Error, "\(outcome.errors)")
    }

    @Test func timeouts_areOfVirtualTime() async throws {
        let cluster = try await cluster()
        let slow = Nap("slow", seconds: 86_400).timeout(.seconds(60))
        let outcome = try await cluster.run(slow)
        #expect(outcome.errors.first?.publishedError is TimeoutObserver.Error)
        #expect(cluster.clock.now.elapsed == .seconds(60))
    }

    @Test func workerCrash_runsWhatWasLostAgain() async throws {
        let cluster = try await cluster(faults: [.workerCrash(every: 3)])
        let naps = (0..<12).map { Nap("\($0)", seconds: 10) }
        let put = Put()
        naps.deliver(to: put)
        let outcome = try await cluster.run(GroupOperation(naps + [put]))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(outcome[put]?.value == (0..<12).map { "\($0)" }.joined(separator: "+"))
        #expect(cluster.crashes.workers > 0)
        let starts = ["Nap"] + (2...12).map { "Nap-\($0)" }
        #expect(starts.reduce(0) { $0 + cluster.attempts(of: $1) } > 12)
    }

    /// Each death is proven, and proven again to the next coordinator, until one of them has written it down.
    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func operationThatEndsEveryProcess_isGivenUp_alsoUnderCrashesOfTheCoordinator(seed: UInt64) async throws {
        let faults: [InMemoryCluster.Fault] = [.workerCrash(every: 1), .coordinatorCrash(every: 2)]
        let cluster = try InMemoryCluster(workers: 1, seed: seed, faults: faults)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        let nap = Nap("a", seconds: 1)
        let outcome = try await cluster.run(nap)
        #expect((outcome.errors.first?.publishedError as? AOperationError.WorkerLost)?.reason.contains("died under it") == true)
        #expect(cluster.crashes.workers == 5)
    }

    @Test func atMostOnce_failsWithItsWorker_andNothingOfItRunsAgain() async throws {
        let cluster = try await cluster(workers: 1, faults: [.workerCrash(every: 1)])
        let (nap, put) = (Nap("a", seconds: 1).atMostOnce(), Put())
        [nap].deliver(to: put)
        _ = try await cluster.run(nap)
        #expect((nap.publishedErrors.first?.publishedError as? AOperationError.WorkerLost)?.reason.contains("may have begun") == true)
        #expect(cluster.attempts(of: "Nap") == 1)
        let again = Nap("b", seconds: 1).atMostOnce().retry(RetryPolicy(attempts: 2))
        await #expect(throws: ClusterError.self) { _ = try await cluster.run(again) }
        #expect(again.publishedErrors.first?.localizedDescription.contains("`atMostOnce` and `retry`, which exclude each other") == true)
    }

    @Test func notBefore_countsByTheClustersDate() async throws {
        let cluster = try await cluster()
        let began = cluster.date
        let outcome = try await cluster.run(Nap("a", seconds: 60).notBefore(began.addingTimeInterval(3_600)))
        #expect(outcome.isSuccess)
        #expect(cluster.clock.now.elapsed == .seconds(3_660))
        #expect(cluster.date == began.addingTimeInterval(3_660))
    }

    @Test(.timeLimit(.minutes(1))) func queue_keepsItsCluster() async throws {
        func makeQueue() async throws -> ClusterQueue { try await cluster().queue }
        let queue = try await makeQueue()
        let block = MapOperationBlock<String, String> { received, finish in finish((received ?? .success("")).map { $0 + "!" }) }
        #expect(try await Nap("a", seconds: 3_600).deliver(to: block).value(on: queue) == "a!")
        await queue.close()
        #expect(try await Nap("b", seconds: 1).value(on: makeQueue()) == "b")
    }

    @Test func errorOfACondition_arrivesAsItself() async throws {
        PortableErrors.register(Closed.Sorry.self)
        let cluster = try await cluster()
        try await cluster.register(Closed.self)
        let (nap, after) = (Nap("a", seconds: 1), Put())
        nap.addCondition(Closed(until: 9))
        [nap].deliver(to: after)
        let outcome = try await cluster.run(GroupOperation(nap, after))
        #expect(!outcome.isSuccess)
        #expect(nap.publishedErrors.first?.publishedError as? Closed.Sorry == Closed.Sorry(until: 9))
        #expect(nap.publishedErrors.first?.state == .condition)
        #expect(after.publishedErrors.first?.publishedError as? Closed.Sorry == Closed.Sorry(until: 9))
    }

    @Test func coordinatorCrash_losesNothing_andRunsNothingTwice() async throws {
        let cluster = try await cluster(faults: [.coordinatorCrash(every: 5)])
        let naps = (0..<8).map { Nap("\($0)", seconds: Double($0)) }
        let outcome = try await cluster.run(OrderedGroupOperation(naps))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(cluster.crashes.coordinators > 0)
        #expect((["Nap"] + (2...8).map { "Nap-\($0)" }).allSatisfy { cluster.attempts(of: $0) == 1 })
    }

    /// The group's cancellation is held up between its first child and its second one, until the submission was given up.
    @Test func groupCancelledBeforeItIsSubmitted_cancelsAllInIt_andNobodySeesAnythingElse() async throws {
        let cluster = try await cluster()
        let (first, second) = (Nap("a", seconds: 1), Nap("b", seconds: 1))
        let isOver = DispatchSemaphore(value: 0)
        first.addObserver(
            BlockObserver(cancelHandler: { _ in
                cluster.queue.isSuspended = false
                _ = isOver.wait(timeout: .now() + 60)
            }))
        second.addObserver(BlockObserver(finishHandler: { _, _ in isOver.signal() }))
        cluster.queue.isSuspended = true
        let group = GroupOperation(first, second)
        group.add(to: cluster.queue)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                group.cancel()
                group.whenOver { continuation.resume() }
            }
        }
        #expect(second.outcome?.isCancelled == true, "\(second.publishedErrors)")
        #expect(first.outcome?.isCancelled == true)
        #expect(group.outcome?.isCancelled == true)
    }

    @Test func codeOfTheSubmitter_isRefusedByName_whereTheQueueIsToRefuseIt() async throws {
        let cluster = try await cluster()
        cluster.queue.requireRemote = true
        let block = AOperationBlock { finish in finish() }
        block.name = "closure"
        await #expect(throws: ClusterError.self) { _ = try await cluster.run(GroupOperation(Nap("a", seconds: 1), block)) }
        #expect(block.publishedErrors.first?.localizedDescription.contains("closure") == true)
    }
}
