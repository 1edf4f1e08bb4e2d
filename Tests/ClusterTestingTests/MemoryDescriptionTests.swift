import AOperation
import ClusterTesting
import Foundation
import Synchronization
import Testing

/// Says of itself, in its initializer, what it waits for, when, and who listens.
private final class Describes: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var text: String
    }

    static let heard = Mutex<[String]>([])

    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
        let text = parameters.text
        conditions(
            BlockCondition { answer in
                Self.heard.withLock { $0.append("\(text) asked") }
                answer(.success)
            })
        delay(.seconds(60))
        didStart { Self.heard.withLock { $0.append("\(text) started") } }
        didFinish { _ in Self.heard.withLock { $0.append("\(text) finished") } }
    }

    override func run() async throws -> String { parameters.text }
}

/// There is one at a time. Its body takes wall time: the clock of the cluster stands still while it executes, whatever the
/// program does meanwhile.
private final class Only: AsyncOperation<String>, ClusterOperation, UniqueOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var seconds: Double
    }

    let parameters: Parameters
    let uniqueId = "only"

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> String {
        try await Task.sleep(for: .seconds(parameters.seconds))
        return "alone"
    }
}

/// What it does when its first child has ended.
private final class Asked: GroupOperation, @unchecked Sendable {
    private let decide: (Asked) -> Void
    private let first = AOperationBlock { $0() }

    init(_ decide: @escaping (Asked) -> Void) {
        self.decide = decide
        super.init([first])
    }

    override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        if operation === first { decide(self) }
    }
}

/// Decides, on a worker, what only a program can do.
private final class Oversteps: GroupOperation, ClusterGroup, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var cancels: Bool
    }

    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init([Nap("first", seconds: 0)])
    }

    override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        if parameters.cancels { cancel() } else { onFailure = .stop }
    }
}

/// Has something done first.
private struct Needs: AOperationCondition {
    let dependent: AOperation

    var dependentOperation: AOperation? { dependent }
}

/// What operations and groups say of themselves and of each other, where that is told to a cluster.
@Suite(.timeLimit(.minutes(2))) struct MemoryDescriptionTests {
    private func cluster() async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: 1, clock: .virtual)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        try await cluster.register(Only.self)
        try await cluster.register(Describes.self)
        return cluster
    }

    /// Worker and program are one process here: what both did would be heard twice.
    @Test func whatAnInitializerSays_countsOnce() async throws {
        let cluster = try await cluster()
        let (operation, begun) = (Describes(.init(text: "once")), cluster.date)
        let (isTold, tell) = AsyncStream<Never>.makeStream()
        operation.didFinish { _ in tell.finish() }  // behind what the initializer says, on the same queue
        _ = try await cluster.run(GroupOperation(operation))
        for await _ in isTold {}
        #expect(operation.outcome?.value == "once")
        #expect(Describes.heard.withLock { $0.filter { $0.hasPrefix("once") } } == ["once asked", "once started", "once finished"])
        #expect(cluster.date.timeIntervalSince(begun) < 120)
    }

    @Test func duplicateThatIsAdded_isToldWithItsError() async throws {
        let cluster = try await cluster()
        let (holder, duplicate) = (Only(.init(seconds: 3_600)), Only(.init(seconds: 1)))
        let asked = Asked { $0.addOperation(duplicate) }
        holder.didStart { [queue = cluster.queue] in queue.addOperation(asked) }
        cluster.queue.addOperation(GroupOperation(holder))
        let errors = await withCheckedContinuation { continuation in
            asked.whenOver { continuation.resume(returning: asked.publishedErrors) }
        }
        #expect(duplicate.publishedErrors.first?.publishedError is AOperationError.IgnoredDuplicate, "\(duplicate.publishedErrors)")
        #expect(errors.count == 1, "\(errors)")
        holder.cancel()
        await withCheckedContinuation { continuation in holder.whenOver { continuation.resume() } }
    }

    @Test(arguments: [true, false]) func groupThatOverstepsWhenItDecides_failsWithWhatToDo(cancels: Bool) async throws {
        let cluster = try await cluster()
        try await cluster.register(Oversteps.self)
        let group = Oversteps(.init(cancels: cancels))
        let outcome = try await cluster.run(GroupOperation(group))
        #expect(!outcome.isSuccess)
        let text = group.publishedErrors.map(\.localizedDescription).joined()
        #expect(text.contains(cancels ? "cancels itself when it decides" : "sets `onFailure` when it decides"), "\(text)")
    }

    @Test(arguments: [true, false]) func whatADependentOperationWaitsFor_comesAlong(isInside: Bool) async throws {
        let cluster = try await cluster()
        let (first, second, last) = (Nap("first", seconds: 5), Nap("second", seconds: 5), Nap("last", seconds: 5))
        second.addDependency(first)
        last.conditions(Needs(dependent: isInside ? GroupOperation(second) : second))
        _ = try await cluster.run(GroupOperation(last))
        #expect(first.outcome?.value == "first" && second.outcome?.value == "second" && last.outcome?.value == "last")
    }

    @Test func whatIsAddedAndCancelledInADecision_isToldWhereItsGroupsCallbacksAre() async throws {
        let cluster = try await cluster()
        let (callbacks, key) = (DispatchQueue(label: "callbacks"), DispatchSpecificKey<Bool>())
        callbacks.setSpecific(key: key, value: true)
        cluster.queue.callbackQueue = callbacks
        let (places, tell) = AsyncStream<Bool>.makeStream()
        let asked = Asked { group in
            let nap = Nap("never", seconds: 5)
            nap.didFinish { _ in tell.yield(DispatchQueue.getSpecific(key: key) == true) }
            group.addOperation(nap)
            nap.cancel()
        }
        _ = try await cluster.run(GroupOperation(asked))
        #expect(await places.first { _ in true } == true)
    }
}
