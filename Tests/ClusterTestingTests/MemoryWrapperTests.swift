import AOperation
import ClusterTesting
import Foundation
import Synchronization
import Testing

/// Produces another operation, and has a value of its own.
private final class Plans: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var producesFailure = false
        var isAtOnce = false
    }

    let parameters: Parameters

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> String {
        let product: AOperation = parameters.producesFailure ? Breaks() : Nap("product", seconds: 0)
        if parameters.isAtOnce { produce(product, id: "product") } else { produce(product) }
        return "own"
    }
}

private final class Breaks: VoidOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init()
    }

    override func execute() { finish(with: .failure(AOperationError(CocoaError(.featureUnsupported)))) }
}

/// Takes a group for the `VoidOperation` that it is.
private final class After: AsyncOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters
    var receivedValue: Result<Void, AOperationError>?

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> String {
        try receivedValue?.get()
        return receivedValue == nil ? "nothing" : "after"
    }
}

/// Says what it receives.
private final class Echo: AsyncOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters
    var receivedValue: Result<String, AOperationError>?

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> String {
        switch receivedValue {
        case .success(let text)?: text
        case .failure(let error)?: "\(type(of: error.publishedError))"
        case nil: "nothing"
        }
    }
}

/// Executes in the program.
private final class Asks: AsyncOperation<String>, @unchecked Sendable {
    private let body: @Sendable () async throws -> String

    init(_ body: @escaping @Sendable () async throws -> String) {
        self.body = body
        super.init()
    }

    override func run() async throws -> String { try await body() }
}

/// One nap after the other, and what it was asked.
private final class Rounds: OperationSequence, @unchecked Sendable {
    let asked = Mutex<[String]>([])
    let hasBegun = AsyncStream.makeStream(of: Void.self)

    override func nextOperation(after previous: AOperation?) -> AOperation? {
        asked.withLock { $0.append(previous?.name ?? "begin") }
        let nap = Nap("nap", seconds: 3_600)
        nap.name = "step"
        nap.didStart { [hasBegun] in hasBegun.continuation.yield() }
        return nap
    }
}

/// What is in a program and what comes to it from workers goes together as on a queue.
@Suite struct MemoryWrapperTests {
    private func cluster() async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: 2, clock: .virtual)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        try await cluster.register(Plans.self)
        try await cluster.register(Breaks.self)
        try await cluster.register(After.self)
        try await cluster.register(Echo.self)
        try await cluster.register(Naps.self)
        return cluster
    }

    private func end(of operation: AOperation) async {
        await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } }
    }

    private func wrapper(_ parameters: Plans.Parameters) -> WrapperOperation<Void, String> { WrapperOperation { _ in Plans(parameters) } }

    @Test(arguments: [false, true], [false, true])
    func whatAWrappersOperationProduces_saysNothingOfTheWrapper(fails: Bool, isAtOnce: Bool) async throws {
        let cluster = try await cluster()
        let parameters = Plans.Parameters(producesFailure: fails, isAtOnce: isAtOnce)
        let alone = wrapper(parameters)
        _ = try await cluster.run(alone)
        #expect(alone.outcome == .success("own"))
        let (inside, echo) = (wrapper(parameters), Echo())
        inside.deliver(to: echo)
        let nested = WrapperOperation<Void, String> { _ in wrapper(parameters) }
        let group = GroupOperation(inside, echo, nested)
        let outcome = try await cluster.run(group)
        #expect(inside.outcome == .success("own") && nested.outcome == .success("own"))
        #expect(echo.outcome == .success("own"))
        // It belongs to the group around the wrapper.
        #expect(group.operations.count == (isAtOnce ? 4 : 5), "an id is there once")
        #expect(outcome.isSuccess == !fails)
    }

    @Test func valuesOfWhatWasMadeThere_reachCodeOfThisProcess() async throws {
        let cluster = try await cluster()
        let naps = Naps(.init(count: 2))
        let joined = MapOperationBlock<[String], String> { texts, finish in
            finish(texts.map { $0.map { $0.joined(separator: ",") } } ?? .success("nothing"))
        }
        naps.deliver(to: joined)
        let outcome = try await cluster.run(GroupOperation(naps, joined))
        #expect(outcome.isSuccess, "\(outcome.errors)")
        #expect(joined.outcome == .success("1,2,1+2"))
        #expect(naps.operations.last.flatMap { ($0 as? AOperation)?.value(as: String.self) } == "1+2")
        #expect(naps.operations.last.flatMap { ($0 as? AOperation)?.value(as: Int.self) } == nil)
    }

    @Test func groupDeliversItsSuccess_toWhoTakesNoValue() async throws {
        let cluster = try await cluster()
        let (group, after) = (GroupOperation(Nap("a", seconds: 1), Plans()), After())
        group.deliver(to: after)
        let (failing, never) = (GroupOperation(Breaks()), After())
        failing.deliver(to: never)
        _ = try await cluster.run(GroupOperation(group, after, failing, never))
        #expect(after.outcome == .success("after"))
        #expect(never.outcome?.isFailure == true)
    }

    @Test(arguments: [false, true]) func cancelledProducer_isNoObstacle_whereverItsReceiverIsAdded(isGroup: Bool) async throws {
        let cluster = try await cluster()
        let (cancelled, echo) = (Nap("never", seconds: 1), Echo())
        if isGroup { _ = GroupOperation(cancelled) }
        cancelled.cancel()
        cancelled.deliver(to: echo)
        if isGroup { cluster.queue.addOperation(echo) } else { echo.add(to: cluster.queue) }
        await end(of: echo)
        #expect(echo.outcome == .success("IsCancelled"))
    }

    @Test func errorOfAnotherSubmission_keepsItsPublisher() async throws {
        let cluster = try await cluster()
        let bad = Breaks()
        bad.name = "bad"
        let asks = Asks { [queue = cluster.queue] in
            let result = await withCheckedContinuation { continuation in
                bad.didFinish { continuation.resume(returning: $0) }
                bad.add(to: queue)
            }
            try result.get()
            return "fine"
        }
        let echo = Echo()
        asks.deliver(to: echo)
        let group = GroupOperation(asks, echo)
        _ = try await cluster.run(group)
        #expect(bad.publishedErrors.first?.publisher == "bad")
        #expect(asks.publishedErrors.map(\.publisher) == ["bad"])
        #expect(group.publishedErrors.map(\.publisher) == ["bad"])
    }

    @Test func whatIsAddedTooLate_isToldWhereItsGroupsCallbacksAre() async throws {
        let cluster = try await cluster()
        let (callbacks, key) = (DispatchQueue(label: "callbacks"), DispatchSpecificKey<Bool>())
        callbacks.setSpecific(key: key, value: true)
        cluster.queue.callbackQueue = callbacks
        let nap = Nap("long", seconds: 3_600)
        let group = GroupOperation(nap)
        let hasBegun = AsyncStream.makeStream(of: Void.self)
        nap.didStart { hasBegun.continuation.yield() }
        cluster.queue.addOperation(group)
        for await _ in hasBegun.stream { break }
        let late = Nap("late", seconds: 1)
        let isThere = await withCheckedContinuation { continuation in
            late.didFinish { _ in continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true) }
            group.addOperation(late)
        }
        #expect(isThere)
        group.cancel()
        await end(of: group)
    }

    @Test func whatIsProducedAtOnce_isToldBehindItsProducersStart() async throws {
        let cluster = try await cluster()
        for _ in 0..<20 {
            let told = Mutex<[String]>([])
            let plans = Plans(.init(isAtOnce: true))
            plans.didStart { told.withLock { $0.append("start") } }
            plans.didProduce { _ in told.withLock { $0.append("product") } }
            _ = try await cluster.run(GroupOperation(plans))
            #expect(told.withLock { $0 } == ["start", "product"])
        }
    }

    /// What its end says of it comes before its own.
    @Test func sequenceThatIsCancelled_isAskedNothingMore() async throws {
        let cluster = try await cluster()
        let rounds = Rounds()
        cluster.queue.addOperation(rounds)
        for await _ in rounds.hasBegun.stream { break }
        rounds.cancel()
        await end(of: rounds)
        #expect(rounds.asked.withLock { $0 } == ["begin"])
    }
}
