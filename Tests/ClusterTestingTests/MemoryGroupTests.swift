import AOperation
import ClusterTesting
import Foundation
import Testing

/// Goes on napping, one nap after the other, and remembers them.
final class Naps: GroupOperation, ClusterGroup, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var count: Int
    }

    struct State: Codable, Sendable {
        var texts: [String] = []
    }

    let parameters: Parameters
    var state = State()

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init([Nap("1", seconds: 5)])
    }

    override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        guard let nap = operation as? Nap, let text = try? nap.result?.get(), let number = Int(text) else { return }
        state.texts.append(text)
        addOperation(Nap(number < parameters.count ? "\(number + 1)" : state.texts.joined(separator: "+"), seconds: 5))
    }
}

/// Counts what a group has delivered.
final class Count: AsyncOperation<Int>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters
    var receivedValue: Result<[String], AOperationError>?

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> Int { try receivedValue?.get().count ?? 0 }
}

/// Cancels itself.
final class Quits: VoidOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        cancel()
        finish()
    }
}

/// Says, by the texts of naps, how its children have ended: one that was cancelled, and a group of which something was.
final class Judges: GroupOperation, ClusterGroup, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init([Quits(), GroupOperation(Quits())])
    }

    override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        if let one = operation as? Quits {
            addOperation(Nap("operation \(one.outcome?.isCancelled == true ? "cancelled" : "failed")", seconds: 0))
        } else if let other = operation as? EndedOperation, other.operationType.isEmpty {
            addOperation(Nap("group \(other.outcome?.isCancelled == true ? "cancelled" : "failed")", seconds: 0))
        }
    }
}

/// Naps one after the other, each an hour after the one before; every second one has too little time, which does not matter.
final class NapAgain: OperationSequence, ClusterGroup, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var count: Int
    }

    struct State: Codable, Sendable {
        var texts: [String] = []
    }

    let parameters: Parameters
    var state = State()

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init(wait: .constant(3_600))
    }

    override func nextOperation(after previous: AOperation?) -> AOperation? {
        if let previous { state.texts.append(previous.value(as: String.self) ?? "failed") }
        let number = state.texts.count + 1
        guard number <= parameters.count else { return nil }
        let nap = Nap(number < parameters.count ? "\(number)" : state.texts.joined(separator: "+"), seconds: 5)
        return number % 2 == 0 ? nap.timeout(.seconds(1)) : nap
    }
}

/// Naps, and is followed by a sequence of which something fails, which matters to nobody else.
final class NapsOn: GroupOperation, ClusterGroup, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init([Nap("first", seconds: 1)])
    }

    override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        if operation is Nap { addOperation(NapAgain(.init(count: 3))) }
    }
}

/// Groups on a cluster in memory.
@Suite struct MemoryGroupTests {
    @Test(arguments: 0..<8)
    func groupThatDecides_endsAlike_whateverCrashes(seed: Int) async throws {
        let cluster = try InMemoryCluster(
            workers: 3, clock: .virtual, seed: UInt64(seed),
            faults: seed == 0 ? [] : [.workerCrash(every: 12), .coordinatorCrash(every: 6)])
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        let naps = Naps(.init(count: 5))
        let outcome = try await cluster.run(GroupOperation(naps))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(naps.operations.count == 6)
        #expect(cluster.attempts(of: "Naps/Nap") >= 1)
        let last = try #require(naps.outcomes.last?.value as? EncodedValue)
        #expect(try last.decoded(as: String.self) == "1+2+3+4+5")
    }

    /// What it came to is known where it was made.
    @Test func sequenceThatADecisionAdded_forgivesItsSteps() async throws {
        let cluster = try InMemoryCluster(workers: 2, clock: .virtual)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        try await cluster.register(NapAgain.self)
        let group = NapsOn()
        let outcome = try await cluster.run(GroupOperation(group))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(group.publishedErrors.isEmpty)
        let sequence = try #require(group.operations.last as? GroupOperation)
        #expect(sequence.operations.count == 3 && sequence.publishedErrors.isEmpty)
        #expect(sequence.outcomes.map { $0.value == nil } == [false, true, false])
    }

    @Test func groupOfWhichSomethingWasCancelled_hasFailed_forWhoDecidesToo() async throws {
        let cluster = try InMemoryCluster(workers: 1)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        try await cluster.register(Quits.self)
        cluster.queue.requireRemote = true
        let judges = Judges()
        let outcome = try await cluster.run(GroupOperation(judges))
        #expect(!outcome.isSuccess)
        let said = judges.outcomes.compactMap { ($0.value as? EncodedValue).flatMap { try? $0.decoded(as: String.self) } }
        #expect(said.sorted() == ["group failed", "operation cancelled"], "\(judges.publishedErrors)")
    }

    /// In an ordered group the retry is the receiver's alone, and so the group before it is told its end like any other.
    @Test func groupBeforeARetriedReceiver_inAnOrderedGroup_endsWithItsHold() async throws {
        let cluster = try InMemoryCluster(workers: 1)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        try await cluster.register(Count.self)
        let (naps, count) = (GroupOperation(Nap("1", seconds: 1), Nap("2", seconds: 1)), Count())
        naps.willFinish { _, finish in finish() }
        naps.deliver(to: count)
        count.retry(RetryPolicy(attempts: 2))
        let outcome = try await cluster.run(OrderedGroupOperation(naps, count))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(count.outcome?.value == 2)
    }

    /// Before anything is added, or while the one before it runs: that one ends first.
    @Test(arguments: [false, true], [false, true])
    func memberCancelledBeforeItsTurn_stopsTheOrderInItsTurn_onAQueueAndOnACluster(onACluster: Bool, isEarly: Bool) async throws {
        let cluster = try InMemoryCluster(workers: 1)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        let (second, third) = (Nap("2", seconds: 0), Nap("3", seconds: 0))
        let first = AOperationBlock { finish in
            second.cancel()
            // There it ends at once, here in its turn.
            if onACluster { second.whenOver(finish) } else { finish() }
        }
        let (group, queue) = (OrderedGroupOperation(first, second, third, onFailure: .stop), AOperationQueue())
        if isEarly { second.cancel() }
        if onACluster {
            _ = try await cluster.run(group)
        } else {
            _ = await group.result(on: queue)
        }
        #expect(first.outcome?.isSuccess == true)
        #expect(second.outcome?.isCancelled == true && third.outcome?.isCancelled == true)
        #expect(group.outcome?.isSuccess == false && group.outcome?.isCancelled == false)
        #expect(group.publishedErrors.count == 1, "what its own stop cancelled is none of its errors: \(group.publishedErrors)")
        await cluster.queue.close()
    }

    @Test(arguments: 0..<8)
    func sequence_endsAlike_whateverCrashes(seed: Int) async throws {
        let cluster = try InMemoryCluster(
            workers: 3, clock: .virtual, seed: UInt64(seed),
            faults: seed == 0 ? [] : [.workerCrash(every: 12), .coordinatorCrash(every: 6)])
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        cluster.queue.requireRemote = true
        let naps = NapAgain(.init(count: 5))
        let outcome = try await cluster.run(GroupOperation(naps))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(naps.outcomes.map(\.isSuccess) == [true, false, true, false, true])
        let last = try #require(naps.outcomes.last?.value as? EncodedValue)
        #expect(try last.decoded(as: String.self) == "1+failed+3+failed")
        #expect(cluster.clock.now.elapsed >= .seconds(4 * 3_600))
    }
}
