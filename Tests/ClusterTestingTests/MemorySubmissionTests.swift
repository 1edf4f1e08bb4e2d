import AOperation
import Cluster
import ClusterTesting
import Testing

/// What a program does with a submission, whether it is its own or was found by its id: the same, and it means the same.
@Suite(.timeLimit(.minutes(5))) struct MemorySubmissionTests {
    /// Executes in the program until it is let go, or told to stop.
    private final class Held: AsyncOperation<String>, @unchecked Sendable {
        let began = AsyncStream<Void>.makeStream()
        let go = AsyncStream<Void>.makeStream()

        override func run() async throws -> String {
            began.continuation.finish()
            for await _ in go.stream {}
            try Task.checkCancellation()
            return "held"
        }
    }

    private struct Oops: Error {}

    private final class Fails: AsyncOperation<String>, @unchecked Sendable {
        override func run() async throws -> String { throw Oops() }
    }

    private func remote(_ submission: ClusterSubmission, _ cluster: InMemoryCluster) async throws -> RemoteSubmission {
        try await cluster.queue.connection.submission(submission.id)
    }

    /// How it has ended, for the program that has submitted it and for any other.
    private func ends(_ submission: ClusterSubmission, _ cluster: InMemoryCluster) async throws -> [OutcomeState] {
        [try await submission.outcome().state, try await remote(submission, cluster).outcome().state]
    }

    @Test func waiterThatIsCancelled_waitsNoLonger_andTheWorkGoesOn() async throws {
        let (cluster, held) = (try InMemoryCluster(), Held())
        let submission = try await cluster.queue.submit(held)
        let remote = try await remote(submission, cluster)
        for await _ in held.began.stream {}
        let waiters: [Task<Void, any Error>] = [
            Task { _ = try await submission.outcome() },
            Task { _ = try await remote.outcome() },
            Task { for try await _ in submission.events {} },
            Task { for try await _ in remote.events {} },
        ]
        for _ in 0..<1_000 { await Task.yield() }
        for waiter in waiters {
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
        }
        #expect(!held.isCancelled && held.outcome == nil)
        held.go.continuation.finish()
        #expect(try await submission.outcome()[held]?.value == "held")
        #expect(try await ends(submission, cluster) == [.succeeded, .succeeded])
        await cluster.queue.close()
    }

    @Test func twoLoopsAtOnce_theSecondHasAnError_andTheFirstGoesOn() async throws {
        let (cluster, held) = (try InMemoryCluster(), Held())
        let submission = try await cluster.queue.submit(held)
        for await _ in held.began.stream {}
        let events = submission.events
        let reading = Task { for try await _ in events {} }
        for _ in 0..<1_000 { await Task.yield() }
        let error = await #expect(throws: ClusterError.self) { for try await _ in events {} }
        #expect(error?.code == .alreadyRead)
        held.go.continuation.finish()
        try await reading.value
        await cluster.queue.close()
    }

    @Test func submissionsThatWaitForEachOther_areRefused_whereNoOperationWaitsForItself() async throws {
        let cluster = try InMemoryCluster()
        let (a1, a2, b1, b2) = (Held(), Held(), Held(), Held())
        a1.addDependency(b1)
        b2.addDependency(a2)
        cluster.queue.addOperations([a1, a2], waitUntilFinished: false)
        cluster.queue.addOperations([b1, b2], waitUntilFinished: false)
        for refused in [b1, b2] {
            await withCheckedContinuation { continuation in refused.whenOver { continuation.resume() } }
            let error = refused.publishedErrors.first?.publishedError as? ClusterError
            #expect(error?.code == .refused && error?.message.contains("add both at once") == true, "\(refused.publishedErrors)")
        }
        for held in [a1, a2] {
            held.go.continuation.finish()
            await withCheckedContinuation { continuation in held.whenOver { continuation.resume() } }
            #expect(held.outcome?.value == "held")
        }
        // One after the other is no circle.
        let (c1, d1) = (Held(), Held())
        d1.addDependency(c1)
        for held in [c1, d1] {
            held.go.continuation.finish()
            cluster.queue.addOperation(held)
        }
        await withCheckedContinuation { continuation in d1.whenOver { continuation.resume() } }
        #expect(d1.outcome?.value == "held")
        await cluster.queue.close()
    }

    @Test func memberCancelledBeforeItWasAdded_endsAsCancelled_andTheOthersRun() async throws {
        let (cluster, cancelled, held) = (try InMemoryCluster(), Held(), Held())
        cancelled.cancel()
        held.go.continuation.finish()
        let submission = try await cluster.queue.submit(GroupOperation(cancelled, held))
        let outcome = try await submission.outcome()
        #expect(outcome[cancelled]?.isCancelled == true && outcome[held]?.value == "held")
        await cluster.queue.close()
    }

    @Test func events_areReadByOneLoop_andOthersAskForThemAnew() async throws {
        let (cluster, held) = (try InMemoryCluster(), Held())
        let submission = try await cluster.queue.submit(held)
        let remote = try await remote(submission, cluster)
        for events in [submission.events, remote.events] {
            let reading = Task { for try await _ in events {} }
            for _ in 0..<1_000 { await Task.yield() }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            do {
                for try await _ in events {}
                Issue.record("a loop that has seen no end ended without an error")
            } catch let error as ClusterError {
                #expect(error.code == .alreadyRead)
            }
        }
        held.go.continuation.finish()
        for try await _ in submission.events {}
        for try await _ in remote.events {}
        #expect(try await submission.outcome()[held]?.value == "held")
        await cluster.queue.close()
    }

    @Test(arguments: ["nowhere", "", "http://host:7600"]) func addressThatIsNone_isAnErrorThatQuotesIt(_ url: String) async throws {
        do {
            _ = try await ClusterQueue.connect(url)
            Issue.record("connected to \(url)")
        } catch let error as ClusterError {
            #expect(error.code == .address && error.message.contains("`\(url)`"))
        }
    }

    @Test func submitThatIsCancelled_waitsNoLonger_andTheOperationRuns() async throws {
        let (cluster, held) = (try InMemoryCluster(), Held())
        cluster.queue.isSuspended = true
        let submitting = Task { _ = try await cluster.queue.submit(held, key: "held") }
        while cluster.queue.operations.isEmpty { await Task.yield() }
        submitting.cancel()
        await #expect(throws: CancellationError.self) { try await submitting.value }
        cluster.queue.isSuspended = false
        for await _ in held.began.stream {}
        held.go.continuation.finish()
        #expect(try await cluster.queue.connection.submission(key: "held").outcome().isSuccess)
        await cluster.queue.close()
    }

    private func end(of operation: AOperation) async {
        await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } }
    }

    @Test func memberThatIsAddedAfterItsGroup_isAddedOnce_andTheGroupEnds() async throws {
        let (cluster, first, second) = (try InMemoryCluster(), Held(), Held())
        let inner = GroupOperation(second)
        let group = OrderedGroupOperation(operations: [first, inner])
        cluster.queue.addOperation(group)
        for await _ in first.began.stream {}
        for member in [inner, second] {
            cluster.queue.addOperation(member)
            cluster.queue.addOperations([member, member], waitUntilFinished: false)
            let error = await #expect(throws: ClusterError.self) { _ = try await cluster.queue.submit(member) }
            #expect(error?.code == .refused && error?.message.contains("is in a queue already") == true)
        }
        for held in [first, second] { held.go.continuation.finish() }
        await end(of: group)
        #expect(
            group.outcome?.isSuccess == true && inner.outcome?.isSuccess == true && second.outcome?.value == "held",
            "\(group.publishedErrors)")
        #expect(try await cluster.queue.connection.list().count == 1)
        await cluster.queue.close()
    }

    @Test func operationThatIsAddedByManyAtOnce_runsOnce_andNobodyTakesItFromTheOthers() async throws {
        let clusters = [try InMemoryCluster(), try InMemoryCluster()]
        for _ in 0..<50 {
            let held = Held()
            held.go.continuation.finish()
            let group = GroupOperation(GroupOperation(held))
            await withTaskGroup(of: Void.self) { tasks in
                for number in 0..<4 { tasks.addTask { clusters[number % 2].queue.addOperation(group) } }
            }
            await end(of: group)
            #expect(group.outcome?.isSuccess == true && held.outcome?.value == "held", "\(group.publishedErrors) \(held.publishedErrors)")
        }
        for cluster in clusters { await cluster.queue.close() }
    }

    @Test func suspendedQueue_handsOverNothing_alsoOfWhatHasWaitedForOthers() async throws {
        let (cluster, held, awaited) = (try InMemoryCluster(), Held(), Held())
        held.addDependency(awaited)
        held.go.continuation.finish()
        cluster.queue.addOperation(held)
        awaited.add(to: AOperationQueue())
        for await _ in awaited.began.stream {}
        cluster.queue.isSuspended = true
        awaited.go.continuation.finish()
        await end(of: awaited)
        for _ in 0..<1_000 { await Task.yield() }
        #expect(held.outcome == nil)
        #expect(try await cluster.queue.connection.list().isEmpty)
        cluster.queue.isSuspended = false
        await end(of: held)
        #expect(held.outcome?.value == "held")
        await cluster.queue.close()
    }

    @Test func cancelledOnASuspendedQueue_itsSubmitReturns() async throws {
        let (cluster, held) = (try InMemoryCluster(), Held())
        cluster.queue.isSuspended = true
        let submitting = Task { _ = try await cluster.queue.submit(held) }
        while cluster.queue.operations.isEmpty { await Task.yield() }
        held.cancel()
        let error = await #expect(throws: ClusterError.self) { try await submitting.value }
        #expect(error?.message.contains("cancelled before it was submitted") == true && held.outcome?.isCancelled == true)
        cluster.queue.isSuspended = false
        #expect(try await cluster.queue.connection.list().isEmpty)
        await cluster.queue.close()
    }

    @Test func barriersAmongAdditionsOfManyThreads_waitForNobodyWhoWaitsForThem() async throws {
        let cluster = try InMemoryCluster()
        for _ in 0..<100 {
            let many = (0..<4).map { _ in Held() }
            for held in many { held.go.continuation.finish() }
            await withTaskGroup(of: Void.self) { tasks in
                for held in many {
                    tasks.addTask { cluster.queue.addOperation(held) }
                    tasks.addTask { await withCheckedContinuation { done in cluster.queue.addBarrierBlock { done.resume() } } }
                }
            }
            for held in many {
                await end(of: held)
                #expect(held.outcome?.value == "held", "\(held.publishedErrors)")
            }
        }
        await cluster.queue.close()
    }

    @Test func state_tellsASuccessFromAFailure_andWhatFailedIsNamed() async throws {
        let cluster = try InMemoryCluster()
        let fine = try await cluster.queue.submit(AOperationBlock { finish in finish() })
        #expect(try await ends(fine, cluster) == [.succeeded, .succeeded])
        let bad = Fails()
        bad.name = "bad"
        let failed = try await cluster.queue.submit(GroupOperation(GroupOperation(bad), AOperationBlock { finish in finish() }))
        #expect(try await ends(failed, cluster) == [.failed, .failed])
        let outcome = try await remote(failed, cluster).outcome()
        let names = outcome.failures.map { $0.path.split(separator: "/").last.map(String.init) ?? "" }
        #expect(outcome.id == failed.id && names == ["bad"])
        #expect(outcome.errors.count == 1 && !outcome.isSuccess)
        await cluster.queue.close()
    }

    @Test(arguments: [false, true]) func cancel_endsIt_andItsStateSaysSo(isFound: Bool) async throws {
        let (cluster, held) = (try InMemoryCluster(), Held())
        let submission = try await cluster.queue.submit(held)
        let remote = try await remote(submission, cluster)
        for await _ in held.began.stream {}
        let hadNotEnded = try await (isFound ? remote.cancel(reason: "enough") : submission.cancel(reason: "enough"))
        #expect(hadNotEnded)
        #expect(try await ends(submission, cluster) == [.cancelled, .cancelled])
        #expect(held.outcome?.isCancelled == true)
        var last: SubmissionStatus?
        for try await case .status(let status) in remote.events { last = status }
        #expect(last?.state == .cancelled && last?.cancelReason == "enough" && last?.finishedAt != nil)
        let again = [try await remote.cancel(), try await submission.cancel()]
        #expect(again == [false, false])
        await cluster.queue.close()
    }

    @Test(arguments: [false, true]) func pause_holdsBackWhatHasNotBegun_untilItIsResumed(isFound: Bool) async throws {
        let (cluster, held) = (try InMemoryCluster(), Held())
        let next = AOperationBlock { finish in finish() }
        next.addDependency(held)
        let submission = try await cluster.queue.submit(GroupOperation(held, next))
        let remote = try await remote(submission, cluster)
        for await _ in held.began.stream {}
        let paused = try await (isFound ? remote.pause() : submission.pause())
        #expect(paused.isChange && !paused.alreadyEnded)
        held.go.continuation.finish()
        var first: SubmissionStatus?
        for try await case .status(let status) in remote.events {
            first = status
            break
        }
        #expect(first?.state == .paused)
        let resumed = try await (isFound ? submission.resume() : remote.resume())
        #expect(resumed.isChange && resumed.pausedBy == nil)
        #expect(try await ends(submission, cluster) == [.succeeded, .succeeded])
        await cluster.queue.close()
    }

    @Test func pathThatThereIsNot_isNotFound_throughBoth() async throws {
        let (cluster, held) = (try InMemoryCluster(), Held())
        let submission = try await cluster.queue.submit(held)
        let remote = try await remote(submission, cluster)
        for ask in [
            { @Sendable in _ = try await submission.cancel(path: "x") }, { @Sendable in _ = try await remote.cancel(path: "x") },
            { @Sendable in _ = try await submission.pause(path: "x") }, { @Sendable in _ = try await remote.resume(path: "x") },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: ClusterError.self) { try await ask() }
            #expect(error?.code == .notFound)
        }
        held.go.continuation.finish()
        #expect(try await submission.outcome().isSuccess)
        await cluster.queue.close()
    }

    /// Conditions on dependencies look at all of them, wherever they are.
    @Test func dependenciesOutsideOfTheSubmission_countForConditions() async throws {
        let cluster = try InMemoryCluster(seed: 3)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        let (failing, cancelled, fine) = (Nap("f", seconds: 60).timeout(.seconds(1)), Nap("c", seconds: 1), Nap("s", seconds: 1))
        (failing.name, cancelled.name) = ("failing", "cancelled")
        cancelled.cancel()
        for operation in [failing, fine] { _ = try await cluster.run(operation) }
        func guarded(_ conditions: any AOperationCondition...) -> Nap {
            let nap = Nap("guarded", seconds: 1)
            for dependency in [failing, cancelled, fine] { nap.addDependency(dependency) }
            for condition in conditions { nap.conditions(condition) }
            return nap
        }
        let (all, uncancelled, negated, free) = (
            guarded(NoFailedDependencies()), guarded(NoCancelledDependencies()), guarded(NegatedCondition(NoFailedDependencies())),
            guarded()
        )
        _ = try await cluster.run(GroupOperation(all, uncancelled, GroupOperation(negated), free))
        #expect(
            all.publishedErrors.first?.publishedError as? NoFailedDependencies.Error
                == .init(failedDependencies: ["failing"], canceledDependencies: ["cancelled"]), "\(all.publishedErrors)")
        #expect(
            uncancelled.publishedErrors.first?.publishedError as? NoCancelledDependencies.Error
                == .init(canceledDependencies: ["cancelled"]), "\(uncancelled.publishedErrors)")
        #expect(negated.outcome?.isSuccess == true && free.outcome?.isSuccess == true)
        await cluster.queue.close()
    }
}
