import AOperation
import Cluster
import ClusterTesting
import Foundation
import Synchronization
import Testing

/// What executed, and where.
private final class Places: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0.sorted() } }

    func note(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Says where it executes.
private final class Says: AsyncOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var text: String
    }

    let parameters: Parameters
    var receivedValue: Result<[String], AOperationError>?
    private let (places, place): (Places, String)

    init(_ parameters: Parameters, _ places: Places, place: String = "here") {
        (self.parameters, self.places, self.place) = (parameters, places, place)
        super.init()
    }

    convenience init(_ text: String, _ places: Places) { self.init(Parameters(text: text), places) }

    convenience init(_ parameters: Parameters) { self.init(parameters, Places()) }

    override func run() async throws -> String {
        places.note("\(parameters.text), \(place)")
        return (try receivedValue?.get() ?? []).joined() + parameters.text
    }
}

private struct Wants: AOperationCondition {
    let dependentOperation: AOperation?

    func evaluateForOperation(_ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void) {
        completion(.success)
    }
}

/// What comes to a queue with what else, and what does not.
@Suite(.timeLimit(.minutes(5))) struct MemoryAdditionTests {
    private let places = Places()

    private func cluster() async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(clock: .virtual)
        try await cluster.register(Says.self) { [places] in Says($0, places, place: "on a worker") }
        return cluster
    }

    private func end(of operations: [AOperation]) async {
        for operation in operations { await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } } }
    }

    /// What receives from it, what else delivers to that, and what was added beside it are the cluster's as ever.
    @Test(arguments: [false, true], [false, true])
    func whatWasCancelledBefore_takesNobodyAlong(comesFirst: Bool, isOnlyItselfAdded: Bool) async throws {
        let cluster = try await cluster()
        cluster.queue.requireRemote = true
        cluster.queue.isSuspended = true
        let (gone, other, hears, beside) = (Says("gone", places), Says("other", places), Says("hears", places), Says("beside", places))
        [gone, other].deliver(to: hears)
        gone.cancel()
        let net = comesFirst ? [gone, hears, other] : [hears, gone, other]
        if isOnlyItselfAdded {
            cluster.queue.addOperation(comesFirst ? gone : hears)
            cluster.queue.addOperation(beside)
        } else {
            cluster.queue.addOperations(net + [beside], waitUntilFinished: false)
        }
        #expect(places.all.isEmpty && !hears.isEnded && !beside.isEnded)
        cluster.queue.isSuspended = false
        await end(of: net + [beside])
        #expect(places.all == ["beside, on a worker", "hears, on a worker", "other, on a worker"])
        #expect(gone.isCancelled && other.outcome?.value == "other" && beside.outcome?.value == "beside", "\(beside.publishedErrors)")
        #expect(hears.publishedErrors.first?.publishedError is AOperationError.IsCancelled, "\(hears.publishedErrors)")
        await cluster.queue.close()
    }

    @Test func whatDeliversToWhatARefusedConditionWants_doesNotExecute() async throws {
        let cluster = try await cluster()
        let (source, wanted, operation) = (Says("source", places), Says("wanted", places), Says("operation", places))
        [source].deliver(to: wanted)
        operation.addCondition(Wants(dependentOperation: wanted))
        await #expect(throws: ClusterError.self) { try await cluster.queue.submit(operation) }
        let after = Says("after", places)
        #expect(try await cluster.run(GroupOperation(after)).isSuccess)
        #expect(operation.isEnded && places.all == ["after, on a worker"])
        await cluster.queue.close()
    }
}
