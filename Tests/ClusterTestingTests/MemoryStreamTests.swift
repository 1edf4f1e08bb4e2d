import AOperation
import Cluster
import ClusterTesting
import Foundation
import Testing
import Wire

@testable import Worker

/// Sends a number each second, from 1.
final class Ticks: AsyncOperation<Int>, PartialResultOperation, ClusterOperation, @unchecked Sendable {
    typealias PartialResult = Int
    struct Parameters: Codable, Sendable {
        var count = 5
        var waits = false
    }

    let parameters: Parameters
    private let clock: any Clock<Duration>

    init(_ parameters: Parameters, clock: any Clock<Duration>) {
        (self.parameters, self.clock) = (parameters, clock)
        super.init()
    }

    convenience init(_ parameters: Parameters) { self.init(parameters, clock: ContinuousClock()) }

    convenience init(_ count: Int, waits: Bool = false) { self.init(.init(count: count, waits: waits)) }

    override func run() async throws -> Int {
        for number in 1...parameters.count {
            try await clock.sleep(for: .seconds(1))
            if parameters.waits { await send(number) } else { sendAtOnce(number) }
        }
        return parameters.count
    }

    private func sendAtOnce(_ number: Int) { send(number) }
}

/// Notes what it receives, and when.
final class Tocks: AsyncOperation<[String]>, StreamReceiver, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters
    private let clock: VirtualClock?
    var receivedElements: ReceivedElements<Int>?

    init(_ parameters: Parameters, clock: VirtualClock?) {
        (self.parameters, self.clock) = (parameters, clock)
        super.init()
    }

    convenience init(_ parameters: Parameters = .init()) { self.init(parameters, clock: nil) }

    override func run() async throws -> [String] {
        var notes: [String] = []
        guard let receivedElements else { return notes }
        for try await number in receivedElements { notes.append("\(number)@\(clock?.now.elapsed.components.seconds ?? 0)") }
        return notes
    }
}

/// Produces a nap under an id.
final class Seeds: ResultableOperation<Bool>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var id: String
        var text: String
    }

    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func execute() { finish(with: .success(produce(Nap(parameters.text, seconds: 1), id: parameters.id))) }
}

/// Prints, as built-in operations do.
final class Prints: ResultableOperation<Void>, HostedOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters
    private var context: UnitContext?

    init(_ parameters: Parameters = .init()) {
        self.parameters = parameters
        super.init()
    }

    func host(in context: UnitContext) { self.context = context }

    override func execute() {
        context?.output(.stdout, Array("hello".utf8))
        finish(with: .success(()))
    }
}

/// What operations say while they run, on a cluster in memory.
@Suite struct MemoryStreamTests {
    private func cluster(seed: UInt64 = 1, slots: Int = 4, faults: [InMemoryCluster.Fault] = []) async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: 3, slots: slots, clock: .virtual, seed: seed, faults: faults)
        let clock = cluster.clock
        try await cluster.register(Ticks.self) { Ticks($0, clock: clock) }
        try await cluster.register(Tocks.self) { Tocks($0, clock: clock) }
        try await cluster.register(Nap.self) { Nap($0, clock: clock) }
        return cluster
    }

    @Test(arguments: [true, false]) func receiver_hearsOfEachElement_atTheMomentInWhichItIsSent(waits: Bool) async throws {
        let cluster = try await cluster()
        let (ticks, tocks) = (Ticks(4, waits: waits), Tocks())
        ticks.stream(to: tocks)
        let outcome = try await cluster.run(GroupOperation(ticks, tocks))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(outcome[tocks]?.value == ["1@1", "2@2", "3@3", "4@4"])
        #expect(cluster.clock.now.elapsed == .seconds(4))
    }

    @Test func receiverInTheOnlySlot_readsWhatWasKept() async throws {
        let cluster = try InMemoryCluster(workers: 1, slots: 1)
        try await cluster.register(Ticks.self) { [clock = cluster.clock] in Ticks($0, clock: clock) }
        let (ticks, tocks) = (Ticks(3), Tocks())
        ticks.stream(to: tocks)
        let outcome = try await cluster.run(GroupOperation(ticks, tocks))
        #expect(outcome[tocks]?.value?.map { $0.prefix(1) } == ["1", "2", "3"], "\(outcome.errors)")
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func whateverCrashes_receiversHaveAllElementsOfTheAttemptThatCounts(seed: UInt64) async throws {
        let cluster = try await cluster(seed: seed, faults: [.workerCrash(every: 12), .coordinatorCrash(every: 5)])
        let pairs = (1...4).map { (Ticks($0 * 2, waits: $0 % 2 == 0), Tocks()) }
        for (ticks, tocks) in pairs { ticks.stream(to: tocks) }
        let outcome = try await cluster.run(GroupOperation(pairs.flatMap { [$0.0, $0.1] as [AOperation] }))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        for (ticks, tocks) in pairs {
            let numbers = outcome[tocks]?.value?.compactMap { $0.split(separator: "@").first.flatMap { Int($0) } }
            #expect(numbers == Array(1...ticks.parameters.count))
        }
    }

    @Test func program_readsPartialResults() async throws {
        let cluster = try await cluster(faults: [.coordinatorCrash(every: 4)])
        let ticks = Ticks(6)
        let reading = Task {
            var numbers: [Int] = []
            for try await number in ticks.partialResults() { numbers.append(number) }
            return numbers
        }
        let outcome = try await cluster.run(ticks)
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(try await reading.value == [1, 2, 3, 4, 5, 6])
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func whatIsProducedUnderAnId_isThereOnce_whateverCrashes(seed: UInt64) async throws {
        let cluster = try await cluster(seed: seed, faults: seed == 1 ? [] : [.workerCrash(every: 8), .coordinatorCrash(every: 4)])
        try await cluster.register(Seeds.self)
        let seeds = [("one", "a"), ("one", "b"), ("two", "c")].map { Seeds(.init(id: $0.0, text: $0.1)) }
        let group = OrderedGroupOperation(seeds)
        let outcome = try await cluster.run(group)
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(group.operations.count == 5)
        #expect(group.operations.compactMap { ($0 as? AddedOperation)?.name }.sorted() == ["one", "two"])
    }

    @Test func whatIsPrinted_isKept() async throws {
        let cluster = try await cluster()
        let submission = try await cluster.queue.submit(try await registered(Prints(), cluster))
        #expect(try await submission.outcome().isSuccess)
        let page = try await cluster.queue.connection.readOutput(submission.id)
        #expect(page.records.map { String(decoding: $0.bytes, as: UTF8.self) } == ["hello"])
    }

    private func registered(_ prints: Prints, _ cluster: InMemoryCluster) async throws -> Prints {
        try await cluster.register(Prints.self)
        return prints
    }
}
