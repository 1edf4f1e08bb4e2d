import AOperation
import Cluster
import ClusterTesting
import Foundation
import Synchronization
import Testing

/// What only the program has, beside the workers of a cluster in memory.
@Suite(.timeLimit(.minutes(2))) struct MemoryHostingTests {
    private struct Oops: Error {}

    /// Waits in the program.
    private final class HostedNap: AsyncOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<String, AOperationError>?
        private let clock: any Clock<Duration>

        init(clock: any Clock<Duration>) {
            self.clock = clock
            super.init()
        }

        func new() -> HostedNap { HostedNap(clock: clock) }

        override func run() async throws -> String {
            try await clock.sleep(for: .seconds(7_200))
            return "<\(try receivedValue?.get() ?? "")>"
        }
    }

    private struct Allowed: AOperationCondition {
        let isAllowed: Bool

        func evaluateForOperation(
            _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) { completion(isAllowed ? .success : .failure(AOperationError(Oops()))) }
    }

    private func cluster(_ faults: [InMemoryCluster.Fault] = []) async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: 2, seed: 7, faults: faults)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        return cluster
    }

    @Test(arguments: [[], [InMemoryCluster.Fault.coordinatorCrash(every: 3)]])
    func closuresInTheMiddle_runInTheProgram_alsoThroughCrashes_andWaitInVirtualTime(faults: [InMemoryCluster.Fault]) async throws {
        let cluster = try await cluster(faults)
        let (nap, hosted, last) = (Nap("a", seconds: 3_600), HostedNap(clock: cluster.clock), Put())
        let block = MapOperationBlock<String, String> { received, finish in finish((received ?? .success("")).map { $0 + "!" }) }
        nap.deliver(to: hosted).deliver(to: block)
        [block, Nap("b", seconds: 1)].deliver(to: last)
        let outcome = try await cluster.run(GroupOperation(nap, hosted, block, last))
        #expect(outcome[last]?.value == "<a>!+b")
        #expect(cluster.clock.now.elapsed >= .seconds(10_800))
        #expect(faults.isEmpty == (cluster.crashes.coordinators == 0))
        await cluster.queue.close()
    }

    /// As on a queue: what the program has set is received, wherever the receiver executes.
    @Test func valueThatIsSet_isReceived() async throws {
        let cluster = try await cluster()
        let put = Put()
        put.receivedValue = .success(["x", "y"])
        #expect(try await cluster.run(put)[put]?.value == "x+y")
        let failed = Put()
        failed.receivedValue = .failure(AOperationError(Oops()))
        let errors = try await cluster.run(failed).errors
        #expect(errors.count == 1 && errors.first?.publishedError is Oops, "\(errors)")
        let member = Put()
        member.receivedValue = .success(["z"])
        let outcome = try await cluster.run(GroupOperation(member))
        #expect(outcome[member]?.value == "z", "\(outcome.errors)")
        await cluster.queue.close()
    }

    @Test func elementOfASequence_isDelivered_toAnOperationOnAWorker() async throws {
        let cluster = try await cluster()
        let lists = AsyncStream { continuation in
            continuation.yield(["b", "c"])
            continuation.finish()
        }
        var received: [String] = []
        for try await text in lists.deliver(to: Put(), on: cluster.queue) { received.append(text) }
        #expect(received == ["b+c"])
        await cluster.queue.close()
    }

    /// Added with the group, and no member of it: on a queue it is in there by then.
    @Test(arguments: [false, true], [false, true])
    func producerThatIsAddedBesideTheGroupOfItsReceiver_isNoMemberOfIt(isFirst: Bool, isOrdered: Bool) async throws {
        let cluster = try await cluster()
        try await cluster.register(Put.self)
        let (nap, put) = (Nap("a", seconds: 1), Put())
        [nap].deliver(to: put)
        let group: GroupOperation = isOrdered ? OrderedGroupOperation(put) : GroupOperation(put)
        cluster.queue.addOperations(isFirst ? [nap, group] : [group, nap], waitUntilFinished: false)
        await withCheckedContinuation { continuation in group.whenOver { continuation.resume() } }
        #expect(nap.result.flatMap { try? $0.get() } == "a" && put.result.flatMap { try? $0.get() } == "a", "\(group.publishedErrors)")
        #expect(group.operations.count == 1)
        await cluster.queue.close()
    }

    /// The cluster stops with its connection, which what executes here keeps; so the cluster must not keep that.
    @Test func connectionThatNobodyKeeps_isGone_alsoIfItsQueueWasNotClosed() async throws {
        weak var connection: ClusterConnection?
        func run() async throws {
            let cluster = try await cluster()
            let nap = Nap("a", seconds: 60)
            let outcome = try await cluster.run(GroupOperation(nap, nap.deliver(to: HostedNap(clock: cluster.clock))))
            #expect(outcome.isSuccess, "\(outcome.errors)")
            connection = cluster.queue.connection
        }
        try await run()
        while connection != nil { try await Task.sleep(for: .microseconds(200)) }
    }

    @Test(arguments: [Double.infinity, -Double.infinity, Double.nan])
    func numbersThatJSONDoesNotHave_goFromClosureToClosure(_ number: Double) async throws {
        let cluster = try await cluster()
        let first = MapOperationBlock<Void, Double> { _, finish in finish(.success(number)) }
        let second = MapOperationBlock<Double, String> { received, finish in finish((received ?? .success(0)).map { $0.description }) }
        first.deliver(to: second)
        let outcome = try await cluster.run(GroupOperation(first, second))
        #expect(outcome[second]?.value == number.description, "\(outcome.errors)")
        await cluster.queue.close()
    }

    @Test func aTimeoutOfHostedCode_isOneOfVirtualTime() async throws {
        let cluster = try await cluster()
        let (short, long) = (
            HostedNap(clock: cluster.clock).timeout(.seconds(60)), HostedNap(clock: cluster.clock).timeout(.seconds(7_300))
        )
        _ = try await cluster.run(GroupOperation(short, long))
        #expect(short.publishedErrors.first?.publishedError is TimeoutObserver.Error, "\(short.publishedErrors)")
        #expect(long.outcome?.value == "<>")
        await cluster.queue.close()
    }

    @Test func conditionsAndClosuresOfTheProgram_haveTheirSay() async throws {
        let cluster = try await cluster([.coordinatorCrash(every: 4)])
        let log = Mutex<[String]>([])
        let (held, denied, either) = (Nap("held", seconds: 60), Nap("denied", seconds: 60), Nap("either", seconds: 60))
        held.willFinish { result, finish in
            log.withLock { $0.append("held \((try? result.get()) ?? "")") }
            DispatchQueue.global().async { finish() }
        }
        denied.conditions(Allowed(isAllowed: false))
        denied.retryOnFailure { retries, _, retry in
            log.withLock { $0.append("retry \(retries)") }
            retry(retries < 1)
        }
        either.conditions(OrCondition(Allowed(isAllowed: false), Allowed(isAllowed: true)))
        _ = try await cluster.run(GroupOperation(held, denied, either))
        #expect(held.outcome?.value == "held" && either.outcome?.value == "either")
        #expect(denied.publishedErrors.first?.publishedError is Oops)
        #expect(log.withLock { $0.sorted() } == ["held held", "retry 0", "retry 1"])
        await cluster.queue.close()
    }

    /// Adds as its closure says.
    private final class Chooser: GroupOperation, @unchecked Sendable {
        let choose: @Sendable (Operation) -> [Operation]

        init(_ children: [Operation], _ choose: @escaping @Sendable (Operation) -> [Operation]) {
            self.choose = choose
            super.init(children)
        }

        override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
            for next in choose(operation) { addOperation(next) }
        }
    }

    /// A failed step that another one follows is dealt with; here none does.
    @Test func sequenceOfTheProgram_thatStops_isNotAskedAfterAFailure_andFails() async throws {
        let cluster = try await cluster()
        let asked = Mutex(0)
        let sequence = OperationSequence { previous in
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if previous == nil { return Nap("denied", seconds: 1).conditions(Allowed(isAllowed: false)) }
            return count < 3 ? Nap("next", seconds: 1) : nil
        }
        sequence.onFailure = .stop
        _ = try await cluster.run(GroupOperation(sequence))
        #expect(sequence.outcome?.isFailure == true)
        #expect(sequence.publishedErrors.first?.publishedError is Oops)
        #expect(sequence.outcomes.map(\.isSuccess) == [false])
        #expect(asked.withLock { $0 } == 1)
        await cluster.queue.close()
    }

    @Test func groupsAndSequencesOfTheProgram_decideInIt() async throws {
        let cluster = try await cluster()
        let first = Nap("first", seconds: 60)
        let chooser = Chooser([first]) { $0 === first ? [Nap("second", seconds: 60), AOperationBlock { $0() }] : [] }
        let sequence = OperationSequence { previous in
            switch (previous as? Nap)?.parameters.text {
            case nil: Nap("one", seconds: 1)
            case "one": Nap("two", seconds: 1)
            default: nil
            }
        }
        let outcome = try await cluster.run(GroupOperation(chooser, sequence))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(chooser.operations.count == 3)
        #expect(sequence.outcomes.map(\.isSuccess) == [true, true])
        await cluster.queue.close()
    }
}
