import Foundation
import Testing

@testable import AOperation

/// Conditions made of others, answered at once or on other threads, with dependent operations and cancellations, with many seeds.
@Suite(.timeLimit(.minutes(10)))
struct ConditionStressTests {
    /// A condition, and whether it holds.
    private struct Case {
        let condition: any AOperationCondition
        let holds: Bool
    }

    /// Answers `holds`, by itself or by its dependent operation.
    private struct Leaf: AOperationCondition, Sendable {
        let holds: Bool
        let isLate: Bool
        let isPrepared: Bool

        private var answer: OperationConditionResult {
            holds ? .success : .failure(AOperationError(Failed(text: "no")))
        }

        func dependencyForOperation(_ operation: AOperation) -> AOperation? {
            guard isPrepared else { return nil }
            return holds ? Step() : Failing<Void>("no")
        }

        func evaluateForOperation(
            _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) {
            if isLate { DispatchQueue.global().async { completion(answer) } } else { completion(answer) }
        }
    }

    private func make(depth: Int, _ random: inout SeededGenerator) -> Case {
        switch depth > 0 ? Int.random(in: 0...4, using: &random) : 0 {
        case 1:
            let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in make(depth: depth - 1, &random) }
            return Case(condition: AndCondition(parts.map(\.condition)), holds: parts.allSatisfy(\.holds))
        case 2:
            let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in make(depth: depth - 1, &random) }
            return Case(condition: OrCondition(parts.map(\.condition)), holds: parts.contains(where: \.holds))
        case 3:
            let part = make(depth: depth - 1, &random)
            return Case(condition: NegatedCondition(AndCondition(part.condition)), holds: !part.holds)
        default:
            let holds = Bool.random(using: &random)
            return Case(
                condition: Leaf(
                    holds: holds, isLate: .random(using: &random), isPrepared: Int.random(in: 0...3, using: &random) == 0),
                holds: holds)
        }
    }

    @Test(arguments: Stress.seeds)
    func trees_comeToWhatTheirPartsSay(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = .random(in: 1...3, using: &random)
        var expected: [(operation: Step, ears: Ears, holds: Bool)] = []
        for _ in 0..<40 {
            let cases = (0..<Int.random(in: 1...3, using: &random)).map { _ in make(depth: 3, &random) }
            let operation = Step().conditions(cases.map(\.condition))
            if Bool.random(using: &random) { operation.exclusive("ConditionStressTests \(seed)", limit: 2) }
            if let before = expected.randomElement(using: &random)?.operation { operation.addDependency(before) }
            expected.append((operation, Ears.on(operation), cases.allSatisfy(\.holds)))
            queue.addOperation(operation)
        }
        await queue.idle()
        await callbacksDelivered()
        for (operation, ears, holds) in expected {
            #expect(operation.outcome?.isSuccess == holds, "seed \(seed)")
            #expect(operation.publishedErrors.allSatisfy { $0.state == .condition }, "seed \(seed)")
            #expect(ears.wereToldOnce, "\(ears.summary), seed \(seed)")
        }
    }

    @Test(arguments: Stress.seeds)
    func cancellations_atEveryMoment_tellEverybodyOnce(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = .random(in: 1...3, using: &random)
        var made: [(operation: Step, ears: Ears)] = []
        for _ in 0..<60 {
            let operation = Step().conditions([make(depth: 2, &random).condition])
            made.append((operation, Ears.on(operation)))
            queue.addOperation(operation)
            await jitter(.random(in: 0...3, using: &random))
            if Bool.random(using: &random) { made.randomElement(using: &random)?.operation.cancel() }
        }
        await queue.idle()
        await callbacksDelivered()
        for (operation, ears) in made {
            #expect(operation.isEnded && ears.wereToldOnce, "\(ears.summary), seed \(seed)")
        }
    }
}
