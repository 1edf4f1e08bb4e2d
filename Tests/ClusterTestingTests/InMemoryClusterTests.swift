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

@Suite struct InMemoryClusterTests {
    private func cluster(faults: [InMemoryCluster.Fault] = []) async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: 3, clock: .virtual, seed: 42, faults: faults)
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

    @Test func coordinatorCrash_losesNothing_andRunsNothingTwice() async throws {
        let cluster = try await cluster(faults: [.coordinatorCrash(every: 5)])
        let naps = (0..<8).map { Nap("\($0)", seconds: Double($0)) }
        let outcome = try await cluster.run(OrderedGroupOperation(naps))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(cluster.crashes.coordinators > 0)
        #expect((["Nap"] + (2...8).map { "Nap-\($0)" }).allSatisfy { cluster.attempts(of: $0) == 1 })
    }

    @Test func codeOfTheSubmitter_isRefusedByName() async throws {
        let cluster = try await cluster()
        let block = AOperationBlock { finish in finish() }
        block.name = "closure"
        await #expect(throws: ClusterError.self) { _ = try await cluster.run(GroupOperation(Nap("a", seconds: 1), block)) }
        #expect(block.publishedErrors.first?.localizedDescription.contains("closure") == true)
    }
}
