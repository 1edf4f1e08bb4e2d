import AOperation
import Cluster
import ClusterTesting
import Foundation
import Synchronization
import Testing
import Wire

/// Cancelling what is about to end by itself: the cluster decides, and everybody is told the same.
@Suite(.timeLimit(.minutes(5))) struct MemoryCancellationTests {
    /// Cancels the operation that it is asked about, and has nothing against it.
    private struct Cancels: AOperationCondition {
        func evaluateForOperation(_ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void) {
            operation.cancel()
            completion(.success)
        }
    }

    private struct Refuses: AOperationCondition {
        func evaluateForOperation(_ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void) {
            completion(.failure(AOperationError(CancellationError())))
        }
    }

    /// Executes in the program, until it is told to stop.
    private final class HostedNap: AsyncOperation<String>, @unchecked Sendable {
        private let clock: any Clock<Duration>

        init(clock: any Clock<Duration>) {
            self.clock = clock
            super.init()
        }

        override func run() async throws -> String {
            try await clock.sleep(for: .seconds(3_600))
            return "hosted"
        }
    }

    /// Executes in the program, and does not hear that it is told to stop.
    private final class Deaf: VoidOperation, @unchecked Sendable {
        let began = AsyncStream<Void>.makeStream()
        /// Until then it does not end.
        let told = AsyncStream<Void>.makeStream()
        private let (clock, log): (any Clock<Duration>, Log)

        init(clock: any Clock<Duration>, log: Log) {
            (self.clock, self.log) = (clock, log)
            super.init()
        }

        override func execute() {
            began.continuation.finish()
            Task {
                for await _ in told.stream {}
                try? await clock.sleep(for: .seconds(5))
                log.note("body ended", self)
                finish()
            }
        }
    }

    /// Produces something, and cancels it.
    private final class Regrets: VoidOperation, @unchecked Sendable {
        private let product: AOperation

        init(_ product: AOperation) {
            self.product = product
            super.init()
        }

        override func execute() {
            produce(product, id: "product")
            product.cancel()
            finish()
        }
    }

    /// What listeners are told of operations.
    private final class Log: Sendable {
        private let lines = Mutex<[ObjectIdentifier: [String]]>([:])

        func listen(to operation: AOperation) {
            operation.addObserver(
                BlockObserver(
                    cancelHandler: { [weak self] in self?.note("cancelled", $0) },
                    finishHandler: { [weak self] operation, errors in self?.note("finished", operation) }))
        }

        func note(_ line: String, _ operation: AOperation) {
            lines.withLock { $0[ObjectIdentifier(operation), default: []].append(line) }
        }

        func told(_ operation: AOperation) -> [String] { lines.withLock { $0[ObjectIdentifier(operation)] ?? [] } }
    }

    private func cluster(_ faults: [InMemoryCluster.Fault] = [], seed: UInt64 = 7) async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: 2, seed: seed, faults: faults)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        try await cluster.register(Put.self)
        return cluster
    }

    /// How the coordinator says that operations have ended, by their paths.
    private func states(of submission: ClusterSubmission, _ cluster: InMemoryCluster) async throws -> [String: WireOperationState] {
        var states: [String: WireOperationState] = [:]
        for try await page in cluster.queue.connection.operations(of: submission.id) {
            for view in page { states[view.path] = view.state }
        }
        return states
    }

    private func state<Output>(_ operation: ResultableOperation<Output>) -> WireOperationState? {
        switch operation.outcome {
        case .success?: .succeeded
        case .failure?: .failed
        case .cancelled?: .cancelled
        case nil: nil
        }
    }

    /// In one process listeners are told at once; on a cluster cancelled means that nothing runs any more.
    @Test func listenersAreToldOfACancellation_whenTheBodyHasEnded() async throws {
        let (cluster, log) = (try await cluster(), Log())
        let deaf = Deaf(clock: cluster.clock, log: log)
        log.listen(to: deaf)
        let submission = try await cluster.queue.submit(deaf)
        for await _ in deaf.began.stream {}
        deaf.cancel()
        deaf.told.continuation.finish()
        let outcome = try await submission.outcome()
        #expect(log.told(deaf) == ["body ended", "cancelled", "finished"])
        #expect(!outcome.isSuccess && state(deaf) == .cancelled)
        #expect(cluster.clock.now.elapsed >= .seconds(5))
    }

    /// Values are made, received and cancelled at moments of their own.
    @Test(
        arguments: [[], [.coordinatorCrash(every: 3)], [.workerCrash(every: 4), .coordinatorCrash(every: 5)]] as [[InMemoryCluster.Fault]])
    func cancelAtAnyMoment_theProgramIsTold_whatTheClusterHas_andReceiversGet(faults: [InMemoryCluster.Fault]) async throws {
        let cluster = try await cluster(faults)
        var seen: Set<WireOperationState> = []
        for round in 0..<60 {
            let (a, b, put, log) = (Nap("a", seconds: 0), Nap("b", seconds: 0), Put(), Log())
            let hosted = MapOperationBlock<String, String> { received, finish in finish((received ?? .success("")).map { $0 + "!" }) }
            [a, b].deliver(to: put)
            a.deliver(to: hosted)
            hosted.name = "hosted"
            let group = GroupOperation(a, b, put, hosted)
            for operation in [a, b, put, hosted, group] as [AOperation] { log.listen(to: operation) }
            let submission = try await cluster.queue.submit(group)
            for _ in 0..<Int.random(in: 0..<300) { await Task.yield() }
            switch round % 3 {
            case 0: a.cancel()
            case 1: group.cancel()
            default: cluster.queue.cancelAllOperations()
            }
            _ = try await submission.outcome()
            let states = try await states(of: submission, cluster)
            let told = [state(a), state(b), state(put), state(hosted), state(group)]
            let had = ["Nap", "Nap-2", "Put", "hosted", ""].map { states[$0] }
            #expect(told == had, "\(states)")
            #expect(hosted.outcome?.value == nil || a.outcome?.value == "a")
            #expect(put.outcome?.value == nil || put.outcome?.value == "a+b" && a.outcome?.isSuccess == true)
            for operation in [a, b, put, hosted, group] as [AOperation] {
                #expect(log.told(operation) == (operation.isCancelled ? ["cancelled", "finished"] : ["finished"]))
            }
            seen.formUnion(told.compactMap(\.self))
        }
        #expect(seen.contains(.cancelled))
        await cluster.queue.close()
    }

    @Test func conditionOfTheProgram_thatCancels_cancels_andNothingBegins() async throws {
        let cluster = try await cluster()
        let (nap, inside, after) = (Nap("a", seconds: 1), Nap("b", seconds: 1), Put())
        nap.addCondition(Cancels())
        let group = GroupOperation(inside)
        group.addCondition(Cancels())
        [nap].deliver(to: after)
        let submission = try await cluster.queue.submit(GroupOperation(nap, group, after))
        _ = try await submission.outcome()
        #expect(nap.outcome?.isCancelled == true && group.outcome?.isCancelled == true && inside.outcome?.isCancelled == true)
        #expect(after.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
        #expect(cluster.attempts(of: "Nap") == 0 && cluster.attempts(of: "group/Nap") == 0)
        let states = try await states(of: submission, cluster)
        #expect(states["Nap"] == .cancelled && states["group"] == .cancelled && states["Put"] == .failed, "\(states)")
        await cluster.queue.close()
    }

    @Test func ignoredCondition_ofTheProgram_cancels_forTheProgramAndForTheCluster() async throws {
        let cluster = try await cluster()
        let (nap, log) = (Nap("a", seconds: 1), Log())
        log.listen(to: nap)
        nap.addCondition(IgnoredCondition(Refuses()))
        let submission = try await cluster.queue.submit(nap)
        nap.cancel()
        _ = try await submission.outcome()
        #expect(nap.outcome?.isCancelled == true && log.told(nap) == ["cancelled", "finished"])
        #expect(try await states(of: submission, cluster)["Nap"] == .cancelled)
        await cluster.queue.close()
    }

    @Test func bodyOfTheProgram_isToldToStopAtOnce_andIsCancelledWhereverItIsAskedFor() async throws {
        let cluster = try await cluster([.coordinatorCrash(every: 3)])
        let (hosted, after) = (HostedNap(clock: cluster.clock), Put())
        let receiver = MapOperationBlock<String, String> { received, finish in finish(received ?? .success("")) }
        hosted.deliver(to: receiver)
        hosted.didStart { hosted.cancel() }
        [receiver].deliver(to: after)
        let submission = try await cluster.queue.submit(GroupOperation(hosted, receiver, after))
        _ = try await submission.outcome()
        #expect(hosted.outcome?.isCancelled == true)
        #expect(after.publishedErrors.first?.publishedError is AOperationError.IsCancelled, "\(after.publishedErrors)")
        #expect(cluster.clock.now.elapsed < .seconds(3_600))
        #expect(try await states(of: submission, cluster)["HostedNap"] == .cancelled)
        await cluster.queue.close()
    }

    /// It is part of the graph in the moment in which the coordinator has it, of which the program hears later.
    @Test func whatIsProduced_andCancelledAtOnce_isCancelledThere() async throws {
        let cluster = try await cluster()
        let produced = Nap("a", seconds: 3_600)
        _ = try await cluster.run(Regrets(produced))
        await withCheckedContinuation { continuation in produced.whenOver { continuation.resume() } }
        #expect(produced.outcome?.isCancelled == true)
        #expect(cluster.clock.now.elapsed < .seconds(3_600))
        await cluster.queue.close()
    }
}
