import AOperation
import Executing
import Foundation
import Testing
import TrialOperations
import Wire

@testable import Cluster

/// What a graph of operations may not hold if it is to go to the cluster.
@Suite struct GraphBuilderRefusalTests {
    private typealias Wrapper = GraphBuilderTests.Wrapper
    typealias Raw = GraphBuilderTests.Raw
    private typealias BlockedBy = GraphBuilderTests.BlockedBy

    private func graph(_ operations: AOperation...) -> OperationGraph { GraphBuilder.graph(of: operations) }

    final class Unique: ResultableOperation<Int>, ClusterOperation, UniqueOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable {}
        let parameters = Parameters()
        let uniqueId: String
        var onDuplicate: DuplicatePolicy { uniqueId == "joined" ? .join : .ignore }
        convenience init(_ parameters: Parameters) { self.init("one") }
        init(_ id: String) {
            uniqueId = id
            super.init()
        }
    }

    final class Opaque: ResultableOperation<any Error>, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable {}
        let parameters = Parameters()
        init(_ parameters: Parameters) { super.init() }
    }

    /// Sends what has no wire form.
    final class Leak: VoidOperation, PartialResultOperation, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable {}
        typealias PartialResult = any Error
        let parameters = Parameters()
        init(_ parameters: Parameters) { super.init() }

        /// With somebody who reads it.
        static func read() -> Leak {
            let leak = Leak(.init())
            _ = leak.partialResults()
            return leak
        }
    }

    /// Receives what only the process that submits it has.
    final class Review: VoidOperation, ReceiverOperation, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable {}
        let parameters: Parameters
        var receivedValue: Result<GroupOutcomes, AOperationError>?

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }
    }

    final class UniqueHere: ResultableOperation<Raw>, UniqueOperation, @unchecked Sendable {
        var uniqueId: String { "here" }
    }

    private static let refused: [(String, @Sendable () -> AOperation)] = [
        ("is no RetryableOperation", { AOperationBlock { finish in finish() }.retry(RetryPolicy(attempts: 2)) }),
        ("requires something of a worker, but executes", { AOperationBlock { finish in finish() }.requires(cpus: 1) }),
        ("makes the operation that it runs and has a RetryPolicy", { Wrapper().retry(RetryPolicy(attempts: 2)) }),
        ("has a unique id and delivers Raw, which has no codec", { UniqueHere() }),
        ("plain operation `", { GroupOperation(BlockOperation {}) }),
        (
            "makes the operation that it runs and has a `retryOnFailure` closure",
            { Wrapper().retryOnFailure { _, _, retry in retry(false) } }
        ),
        ("has a `retryOnFailure` closure and executes in", { AOperationBlock { $0() }.retryOnFailure { _, _, retry in retry(false) } }),
        ("is a group and has a `retryOnFailure` closure", { GroupOperation(Emit("a")).retryOnFailure { _, _, retry in retry(false) } }),
        (
            "is a group and has a RetryPolicy that this process decides",
            { GroupOperation { [Emit("a")] }.retry(RetryPolicy(attempts: 2) { _ in true }) }
        ),
        (
            "executes in this process (AOperationBlock), and is, or is in, a group with a RetryPolicy",
            { GroupOperation(Emit("a"), GroupOperation(AOperationBlock { $0() })).retry(RetryPolicy(attempts: 2)) }
        ),
        (
            "has a `willFinish` closure, and is, or is in, a group with a RetryPolicy",
            { GroupOperation(Emit("a")).retry(RetryPolicy(attempts: 2)).willFinish { _, finish in finish() } }
        ),
        ("ignores cancellations", { Emit("a").conditions(NoFailedDependencies(ignoreCancellations: true)) }),
        (
            "is the dependent operation of two conditions",
            {
                let one = Emit("b")
                return Emit("a").conditions(OrCondition(BlockedBy { one }, BlockedBy { one }))
            }
        ),
        ("unique id of more than 256 bytes", { Unique(String(repeating: "x", count: 257)) }),
        ("cannot leave the process", { Opaque(.init()) }),
        ("partial results, which have no wire form", { Leak.read() }),
        (
            "is a group with a queue priority",
            {
                let group = GroupOperation(Emit("a"))
                group.queuePriority = .high
                return group
            }
        ),
        (
            "receives what only this process can put together (a group's outcomes, a pair)",
            { GroupOperation(Emit("a")).deliver(to: Review(.init())) }
        ),
        ("injected result", { Emit("a").injectResult(from: Emit("b")) { _, _, _ in } }),
    ]

    @Test(arguments: refused.map(\.0))
    func codeOfThisProcess_isRefusedByName(_ what: String) throws {
        let make = try #require(Self.refused.first { $0.0 == what }?.1)
        let faults = graph(make()).faults
        #expect(faults.contains { $0.message.contains(what) }, "\(faults)")
    }

    @Test func everythingWrongIsTold_eachByItsOperation() {
        let group = GroupOperation(
            Unique(String(repeating: "x", count: 300)), Emit("a").injectResult(from: Emit("b")) { _, _, _ in }, Emit("fine"))
        let faults = graph(group).faults
        #expect(faults.map(\.path) == ["Unique", "Emit"])
        #expect(faults.allSatisfy { $0.message.contains("`") && $0.message.contains(";") })
    }

    @Test func valuesThatDoNotFit_areRefused() {
        let (a, shout) = (Emit("a"), Shout())
        shout.accept(a)
        #expect(graph(a, shout).faults.isEmpty)
        let (text, bad) = (Join(), Join())
        bad.accept(text)
        #expect(graph(text, bad).faults.contains { $0.message.contains("receives Array<String> from `Join`, which delivers String") })
        let (nested, all) = (GroupOperation(Emit("a"), GroupOperation(Emit("b"))), Join())
        nested.deliver(to: all)
        #expect(graph(nested, all).faults.contains { $0.message.contains("not all of that type") })
    }

    @Test func receiverOfWhatWasSubmittedBefore_isRefused_andToldWhatToDo() {
        let (a, shout) = (Emit("a"), Shout())
        #expect(graph(a).faults.isEmpty)
        a.deliver(to: shout)
        let text =
            "receives from `Emit`, which was submitted before, was cancelled, or is in another queue; add both to this one, together, or in one group"
        #expect(graph(shout).faults.map(\.message) == ["`Shout` \(text)"])
    }

    @Test func closureThatDecidesAtTheEndOfANet_isRefused_butNotWhereItIsItsOwnAlone() {
        let (a, shout) = (Emit("a"), Shout().retryOnFailure { _, _, retry in retry(false) })
        a.deliver(to: shout)
        #expect(graph(a, shout).faults.contains { $0.message.contains("tries its producers again") })
        let (b, loud, quiet) = (Emit("b"), Shout().retryOnFailure { _, _, retry in retry(false) }, Shout())
        b.deliver(to: loud)
        b.deliver(to: quiet)
        #expect(graph(b, loud, quiet).faults.isEmpty)
    }
}
