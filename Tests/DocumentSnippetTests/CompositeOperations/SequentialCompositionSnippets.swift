// CompositeOperations, "Sequential composition", in Swift.
//
// translated: a class that conforms to COSequence, and the COCompositeOperation that is made with it, are one thing: a
// subclass of OperationSequence.

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    class SimpleSequence: OperationSequence {
        let repository: OperationsRepository
        init(repository: OperationsRepository) {  // +
            self.repository = repository  // +
            super.init()  // +
        }  // +

        override func nextOperation(after previousOperationOrNil: AOperation?) -> AOperation? {

            // Nothing behind - it will be the first operation in sequence
            if previousOperationOrNil == nil {
                return self.repository.operation1() // returns created operation1
            }

            // Operation2 follows after Operation1 if that was successful
            if let operation1 = previousOperationOrNil as? Operation1,
                case .success(let resultOfOperation1) = operation1.result {

                return self.repository.operation2(forResultOfOperation1: resultOfOperation1) // returns created operation2
            }

            // Returning nil tells composite operation that we are done
            return nil
        }
    }

    static func sequence(_ repository: OperationsRepository, _ heard: Heard) -> OperationSequence {
        let sequentialOperation = SimpleSequence(repository: repository)

        sequentialOperation.didFinish { _ in
            switch sequentialOperation.outcome {
            case .success:
                // handle results
                heard("results \(sequentialOperation.outcomes.compactMap { $0.value as? Int })")  // +

            case .failure(let errors):
                // handle errors
                heard("errors \(errors.map(\.localizedDescription))")  // +

            case .cancelled, nil:
                // handle cancellation
                heard("cancelled")  // +
            }
        }

        OperationQueue.main.addOperation(sequentialOperation)
        return sequentialOperation  // +
    }
}

private final class OperationsRepository {
    let isRefusing: Bool

    init(isRefusing: Bool = false) {
        self.isRefusing = isRefusing
    }

    func operation1() -> AOperation { Operation1(isRefusing: isRefusing) }

    func operation2(forResultOfOperation1 result: Int) -> AOperation { Operation2(result) }
}

private final class Operation1: ResultableOperation<Int>, @unchecked Sendable {
    let isRefusing: Bool

    init(isRefusing: Bool) {
        self.isRefusing = isRefusing
        super.init()
    }

    override func execute() { finish(with: isRefusing ? .failure(AOperationError(Refused())) : .success(20)) }
}

private final class Operation2: ResultableOperation<Int>, @unchecked Sendable {
    let input: Int

    init(_ input: Int) {
        self.input = input
        super.init()
    }

    override func execute() { finish(with: .success(input + 1)) }
}

@Suite("CompositeOperations: Sequential composition", .timeLimit(.minutes(1)))
struct SequentialCompositionSnippets {
    let heard = Heard()

    @Test func nextOperation_isMadeFromThePreviousResult() async {
        _ = Document.sequence(OperationsRepository(), heard)
        await heard.wait(for: "results [20, 21]")
    }

    @Test func failedOperation_isTheLast_whenTheSequenceSaysSo() async {
        _ = Document.sequence(OperationsRepository(isRefusing: true), heard)
        await heard.wait(for: "errors [\"refused\"]")
    }
}
