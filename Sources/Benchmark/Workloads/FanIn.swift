import AOperation
import Foundation

/// L3: operations with a value, and one that adds all values up.
enum FanIn {
    static func sample(_ engine: Engine, _ variant: Variant, _ count: Int) throws -> Sample {
        let queue = engine.queue(limit: variant.limit)
        let (sample, sum) =
            switch engine {
            case .ours: ours(queue, count)
            case .foundation: foundation(queue, count)
            }
        let expected = (count - 1) * count / 2
        guard sum == expected else {
            throw WrongResult(description: "a fan-in of \(count) gave \(sum.map { "\($0)" } ?? "nothing"), not \(expected)")
        }
        return sample
    }

    private static func ours(_ queue: OperationQueue, _ count: Int) -> (Sample, Int?) {
        let sum = Sum()
        let probe = Probe()
        (0..<count).map { Number($0) }.deliver(to: sum)
        queue.addOperation(sum)
        queue.waitUntilAllOperationsAreFinished()
        return (probe.sample(operations: count + 1), sum.outcome?.value)
    }

    private static func foundation(_ queue: OperationQueue, _ count: Int) -> (Sample, Int?) {
        let probe = Probe()
        let numbers = (0..<count).map { FoundationNumber($0) }
        let sum = FoundationSum(of: numbers)
        for number in numbers { sum.addDependency(number) }
        // In one call: Foundation's queue loses an operation whose dependencies end while it is added.
        queue.addOperations(numbers + [sum], waitUntilFinished: false)
        queue.waitUntilAllOperationsAreFinished()
        return (probe.sample(operations: count + 1), sum.value)
    }
}

private final class Number: ResultableOperation<Int>, @unchecked Sendable {
    private let number: Int

    init(_ number: Int) {
        self.number = number
        super.init()
    }

    override func execute() { finish(with: .success(number)) }
}

/// Invariant behind `@unchecked Sendable`: `receivedValue` is set before the operation runs and read while it does.
private final class Sum: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<[Int], AOperationError>?

    override func execute() {
        finish(with: receivedValue?.map { $0.reduce(0, +) } ?? .failure(.receivedValueIsNil(in: self)))
    }
}

/// Invariant behind `@unchecked Sendable`: `value` is set while the operation runs, and read by who depends on it.
private final class FoundationNumber: Foundation.Operation, @unchecked Sendable {
    private let number: Int
    private(set) var value: Int?

    init(_ number: Int) { self.number = number }

    override func main() { value = number }
}

/// Invariant behind `@unchecked Sendable`: `value` is set while the operation runs, and read after it.
private final class FoundationSum: Foundation.Operation, @unchecked Sendable {
    private let numbers: [FoundationNumber]
    private(set) var value: Int?

    init(of numbers: [FoundationNumber]) { self.numbers = numbers }

    override func main() { value = numbers.compactMap(\.value).reduce(0, +) }
}
