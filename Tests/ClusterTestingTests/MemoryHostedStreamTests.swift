import AOperation
import Cluster
import ClusterTesting
import Foundation
import Synchronization
import Testing

/// Streams from and to what only the program has.
@Suite(.timeLimit(.minutes(2))) struct MemoryHostedStreamTests {
    private struct Oops: PortableError, Equatable {}

    /// Sends a number each second, and fails in its first attempts after two.
    private final class HostedTicks: AsyncOperation<Int>, PartialResultOperation, RetryableOperation, @unchecked Sendable {
        typealias PartialResult = Int

        private let clock: VirtualClock
        private let failures: FailureCount

        init(_ clock: VirtualClock, _ failures: FailureCount = FailureCount(0)) {
            (self.clock, self.failures) = (clock, failures)
            super.init()
        }

        func new() -> HostedTicks { HostedTicks(clock, failures) }

        override func run() async throws -> Int {
            let isToFail = failures.take()
            for number in 1...4 {
                try await clock.sleep(for: .seconds(1))
                await send(number)
                if isToFail, number == 2 { throw Oops() }
            }
            return 4
        }
    }

    private final class FailureCount: Sendable {
        private let left: Mutex<Int>

        init(_ count: Int) { left = Mutex(count) }

        func take() -> Bool {
            left.withLock { left in
                guard left > 0 else { return false }
                left -= 1
                return true
            }
        }
    }

    private final class HostedTocks: AsyncOperation<[String]>, StreamReceiver, @unchecked Sendable {
        private let clock: VirtualClock
        var receivedElements: ReceivedElements<Int>?

        init(_ clock: VirtualClock) {
            self.clock = clock
            super.init()
        }

        func new() -> HostedTocks { HostedTocks(clock) }

        override func run() async throws -> [String] {
            var notes: [String] = []
            for try await number in try #require(receivedElements) { notes.append("\(number)@\(clock.now.elapsed.components.seconds)") }
            return notes
        }
    }

    private func cluster(seed: UInt64 = 3, faults: [InMemoryCluster.Fault] = []) async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: 2, seed: seed, faults: faults)
        let clock = cluster.clock
        try await cluster.register(Ticks.self) { Ticks($0, clock: clock) }
        try await cluster.register(Tocks.self) { Tocks($0, clock: clock) }
        try await cluster.register(Nap.self) { Nap($0, clock: clock) }
        return cluster
    }

    @Test func elementsOfTheProgram_reachReceiversOnWorkersAndHere_whileTheyAreSent() async throws {
        let cluster = try await cluster()
        let (ticks, there, here) = (HostedTicks(cluster.clock), Tocks(), HostedTocks(cluster.clock))
        ticks.stream(to: there)
        ticks.stream(to: here)
        let outcome = try await cluster.run(GroupOperation(ticks, there, here))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(outcome[there]?.value == ["1@1", "2@2", "3@3", "4@4"])
        #expect(outcome[here]?.value == ["1@1", "2@2", "3@3", "4@4"])
        await cluster.queue.close()
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func theProgram_receivesWhatWorkersSend_whateverCrashes(seed: UInt64) async throws {
        let cluster = try await cluster(seed: seed, faults: seed == 1 ? [] : [.workerCrash(every: 8), .coordinatorCrash(every: 4)])
        let (ticks, tocks) = (Ticks(6), HostedTocks(cluster.clock))
        ticks.stream(to: tocks)
        let outcome = try await cluster.run(GroupOperation(ticks, tocks))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(outcome[tocks]?.value?.map { $0.prefix(1) } == ["1", "2", "3", "4", "5", "6"])
        await cluster.queue.close()
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func aProducerInTheProgram_isTriedAgain_andItsReceiversEndWithTheElementsOfOneAttempt(seed: UInt64) async throws {
        let cluster = try await cluster(seed: seed, faults: seed == 1 ? [] : [.workerCrash(every: 8), .coordinatorCrash(every: 4)])
        let (ticks, there, here) = (HostedTicks(cluster.clock, FailureCount(2)), Tocks(), HostedTocks(cluster.clock))
        ticks.retry(RetryPolicy(attempts: 3))
        ticks.stream(to: there)
        ticks.stream(to: here)
        let outcome = try await cluster.run(GroupOperation(ticks, there, here))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(outcome[there]?.value?.map { $0.prefix(1) } == ["1", "2", "3", "4"])
        #expect(outcome[here]?.value?.map { $0.prefix(1) } == ["1", "2", "3", "4"])
        await cluster.queue.close()
    }

    @Test func theErrorOfAProducer_isTheOneOfTheProgram() async throws {
        PortableErrors.register(Oops.self)
        let cluster = try await cluster()
        let (ticks, there, here) = (HostedTicks(cluster.clock, FailureCount(1)), Tocks(), HostedTocks(cluster.clock))
        ticks.name = "the ticks"
        ticks.stream(to: there)
        ticks.stream(to: here)
        let outcome = try await cluster.run(GroupOperation(ticks, there, here))
        for errors in [there.publishedErrors, here.publishedErrors] {
            #expect(errors.first?.publishedError is Oops, "\(outcome.errors)")
            #expect(errors.first?.publisher == "the ticks")
        }
        await cluster.queue.close()
    }

    @Test func readersInTheProgram_readWhatItSends() async throws {
        let cluster = try await cluster(faults: [.coordinatorCrash(every: 3)])
        let ticks = HostedTicks(cluster.clock)
        let reading = Task {
            var numbers: [Int] = []
            for try await number in ticks.partialResults() { numbers.append(number) }
            return numbers
        }
        let outcome = try await cluster.run(ticks)
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(try await reading.value == [1, 2, 3, 4])
        await cluster.queue.close()
    }

    /// A condition that is made of others looks at what the operation depends on, which the sender of its stream is not.
    @Test func aReceiverWithAMadeCondition_doesNotWaitForTheEndOfItsProducer() async throws {
        let cluster = try await cluster()
        let (ticks, tocks) = (Ticks(3), Tocks())
        tocks.addCondition(OrCondition(TrueCondition()))
        ticks.stream(to: tocks)
        let outcome = try await cluster.run(GroupOperation(ticks, tocks))
        #expect(outcome[tocks]?.value == ["1@1", "2@2", "3@3"], "\(outcome.errors)")
        await cluster.queue.close()
    }
}
