// CompositeOperations, "Parallel composition", in Swift.
//
// translated: COCompositeOperation with operations is a GroupOperation that stops at the first failure and runs four
// children at once; its `result` and `error` arrays are `outcomes`, in the order of the operations.

import AOperation
import Foundation
import Testing

private typealias Child = ResultableOperation<Int>

// swift-format-ignore
private enum Document {
    static func parallel(_ operation1: Child, _ operation2: Child, _ operation3: Child, _ heard: Heard) -> GroupOperation {
        let operations = [ operation1, operation2, operation3 ]  // each operation is an AOperation

        let parallelOperation = GroupOperation(operations).onFailure(.stop)
        parallelOperation.maxConcurrentOperationCount = 4

        parallelOperation.didFinish { _ in
            switch parallelOperation.outcome {
            case .success:
                // handle results
                let results = parallelOperation.outcomes.map { $0.value }
                heard("results \(results.compactMap { $0 as? Int })")  // +

            case .failure:
                // handle errors
                let errors = parallelOperation.outcomes.map { $0.errors.first }
                heard("errors \(errors.map { $0?.localizedDescription })")  // +

            case .cancelled, nil:
                // handle cancellation: operation was cancelled from outside
                heard("cancelled")  // +
            }
        }

        OperationQueue.main.addOperation(parallelOperation)
        return parallelOperation  // +
    }
}

private final class Answer: ResultableOperation<Int>, @unchecked Sendable {
    let value: Int

    init(_ value: Int) {
        self.value = value
        super.init()
    }

    override func execute() { finish(with: .success(value)) }
}

private final class Refusal: ResultableOperation<Int>, @unchecked Sendable {
    override func execute() { finish(with: .failure(AOperationError(Refused()))) }
}

/// Ends only when it is cancelled.
private final class Endless: ResultableOperation<Int>, @unchecked Sendable {
    override func execute() {}

    override func cancel() {
        super.cancel()
        finish(with: .success(0))
    }
}

@Suite("CompositeOperations: Parallel composition", .timeLimit(.minutes(1)))
struct ParallelCompositionSnippets {
    let heard = Heard()

    @Test func results_standInTheOrderOfTheOperations() async {
        _ = Document.parallel(Answer(1), Answer(2), Answer(3), heard)
        await heard.wait(for: "results [1, 2, 3]")
    }

    @Test func failedOperation_cancelsTheOthers() async {
        let parallel = Document.parallel(Endless(), Refusal(), Endless(), heard)
        await heard.wait(for: "errors [nil, Optional(\"refused\"), nil]")
        #expect(parallel.outcomes.map(\.isCancelled) == [true, false, true])
    }

    @Test func cancellation_reachesEveryOperation() async {
        let parallel = Document.parallel(Endless(), Endless(), Endless(), heard)
        parallel.cancel()
        await heard.wait(for: "cancelled")
        #expect(parallel.operations.allSatisfy { $0.isCancelled && $0.isFinished })
    }
}
