import AOperation
import Cluster
import ClusterTesting
import Foundation
import Testing

/// Naps, with a product that was cancelled before it was one, and a second one.
private final class Changes: VoidOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    let parameters: Parameters

    init(_ parameters: Parameters = Parameters()) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        for isCancelled in [true, false] {
            let nap = Nap("\(isCancelled)", seconds: 1)
            nap.name = isCancelled ? "cancelled" : "other"
            if isCancelled { nap.cancel() }
            produce(nap, id: nap.name ?? "")
        }
        finish()
    }
}

/// What was decided in the program that submitted, asked for by its key once more; and what was cancelled before it was added.
@Suite(.timeLimit(.minutes(2))) struct MemoryResubmissionTests {
    private struct Oops: Error {}

    /// Its first step fails, which does not matter.
    private final class Twice: OperationSequence, @unchecked Sendable {
        override func nextOperation(after previous: AOperation?) -> AOperation? {
            switch previous {
            case nil: MapOperationBlock<Void, String> { _, finish in finish(.failure(AOperationError(Oops()))) }
            case is Nap: nil
            default: Nap("second", seconds: 1)
            }
        }
    }

    /// What is added is cancelled before.
    private final class Cancelled: OperationSequence, @unchecked Sendable {
        override func nextOperation(after previous: AOperation?) -> AOperation? {
            guard let previous else {
                let step = Nap("never", seconds: 1)
                step.cancel()
                return step
            }
            return previous.isCancelled ? Nap("second", seconds: 1) : nil
        }
    }

    private func cluster() async throws -> InMemoryCluster {
        let cluster = try InMemoryCluster(workers: 2, seed: 7)
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }
        try await cluster.register(Changes.self)
        return cluster
    }

    /// Everything of which only the program knows what becomes.
    private struct Made {
        let wrapper = WrapperOperation<Void, String> { _ in Nap("made", seconds: 1) }
        let failing = WrapperOperation<Void, String> { _ in
            MapOperationBlock<Void, String> { _, finish in finish(.failure(AOperationError(Oops()))) }
        }
        /// What it makes has a receiver, whose value is not its own.
        let head = WrapperOperation<Void, String> { _ in
            let nap = Nap("head", seconds: 1)
            nap.deliver(to: MapOperationBlock<String, String> { _, finish in finish(.success("receiver")) })
            return nap
        }
        /// It has no value, and what it makes has children with one.
        let valueless = WrapperOperation<Void, Void> { _ in Twice() }
        let nested = WrapperOperation<Void, String> { _ in WrapperOperation<Void, String> { _ in Nap("inner", seconds: 1) } }
        let nestedFailing = WrapperOperation<Void, String> { _ in
            WrapperOperation<Void, String> { _ in
                MapOperationBlock<Void, String> { _, finish in finish(.failure(AOperationError(Oops()))) }
            }
        }
        let list = MapOperationBlock<Void, [String]> { _, finish in finish(.success(["a", "b"])) }
        let each: ForEachOperation<String, String>
        let sequence = Twice()

        init() {
            each = list.forEach { Nap($0, seconds: 1) }
        }

        var group: GroupOperation { GroupOperation(wrapper, failing, head, valueless, nested, nestedFailing, list, each, sequence) }
    }

    private func check(_ made: Made, _ outcome: SubmissionOutcome) {
        #expect(outcome[made.wrapper]?.value == "made")
        #expect(outcome[made.head]?.value == "head")
        #expect(made.valueless.outcome?.isSuccess == true, "\(made.valueless.publishedErrors)")
        #expect(outcome[made.nested]?.value == "inner")
        #expect(outcome[made.each]?.value == ["a", "b"])
        #expect(made.sequence.outcome?.isSuccess == true, "\(made.sequence.publishedErrors)")
        for failing in [made.failing, made.nestedFailing] {
            #expect(failing.isEnded && failing.publishedErrors.count == 1, "\(failing.publishedErrors)")
        }
        #expect(outcome.errors.count == 2, "\(outcome.errors)")
    }

    @Test func sameKeyAgain_hasTheOutcomesThatWereDecidedBefore() async throws {
        let cluster = try await cluster()
        for _ in 0..<2 {
            let made = Made()
            check(made, try await cluster.run(made.group, key: "same"))
        }
        await cluster.queue.close()
    }

    @Test func sameKeyWhileItRuns_hasTheOutcomesThatAreDecidedForTheFirst() async throws {
        let cluster = try await cluster()
        let (first, second) = (Made(), Made())
        let submitted = try await (
            cluster.queue.submit(first.group, key: "running"), cluster.queue.submit(second.group, key: "running")
        )
        #expect(submitted.1.isExisting)
        check(second, try await submitted.1.outcome())
        check(first, try await submitted.0.outcome())
        await cluster.queue.close()
    }

    @Test func whatWasCancelledBeforeItWasAdded_neverRuns_andTheRestGoesOn() async throws {
        let cluster = try await cluster()
        let (sequence, worker) = (Cancelled(), Changes())
        let outcome = try await cluster.run(GroupOperation(sequence, GroupOperation(worker)))
        #expect(sequence.operations.count == 2)
        #expect(sequence.operations.first?.isCancelled == true && sequence.outcome?.isSuccess == true, "\(sequence.publishedErrors)")
        #expect(worker.outcome?.isSuccess == true && !outcome.isSuccess, "\(outcome.errors)")
        let submission = try #require(try await cluster.queue.connection.list(limit: 1).first)
        var ends: [String] = []
        for try await page in cluster.queue.connection.operations(of: submission.id) {
            ends += page.map { "\($0.path): \($0.state), \($0.startedAt == 0 ? "never ran" : "ran")" }
        }
        #expect(ends.filter { $0.hasSuffix("cancelled, never ran") && !$0.contains("(decisions)") }.count == 2, "\(ends)")
        await cluster.queue.close()
    }
}
