import Foundation
import Testing

@testable import AOperation

/// Groups in groups, with limits of their own, on queues of few slots, with dependencies across them.
@Suite(.timeLimit(Load.patience))
struct NestedLimitStressTests {
    /// Ends on another thread; the first attempt may fail.
    private final class Leaf: VoidOperation, RetryableOperation, @unchecked Sendable {
        let fails: Bool

        required init(fails: Bool) {
            self.fails = fails
            super.init()
        }

        override func execute() {
            DispatchQueue.global().async { [self] in
                finish(with: fails ? .failure(AOperationError(Failed(text: "again"))) : .success(()))
            }
        }

        func new() -> Self { Self(fails: false) }
    }

    /// Each depends only on what was made before it, and before what is inside of it: there are no circles.
    private struct Maker {
        var random: SeededGenerator
        var made: [AOperation] = []

        mutating func make(depth: Int) -> AOperation {
            let others = made.count
            let operation = depth > 0 && Int.random(in: 0..<3, using: &random) > 0 ? group(depth: depth) : leaf()
            if others > 0, Int.random(in: 0..<3, using: &random) == 0 {
                operation.addDependency(made[Int.random(in: 0..<others, using: &random)])
            }
            made.append(operation)
            return operation
        }

        private mutating func leaf() -> AOperation {
            return Leaf(fails: Bool.random(using: &random)).retry(RetryPolicy(attempts: 2))
        }

        private mutating func group(depth: Int) -> AOperation {
            let children = (0..<Int.random(in: 1...4, using: &random)).map { _ in make(depth: depth - 1) }
            let group = GroupOperation(children)
            group.maxConcurrentOperationCount = Int.random(in: 1...3, using: &random)
            return group
        }
    }

    @Test(arguments: Stress.seeds)
    func nestedGroupsWithLimits_end(seed: UInt64) async {
        var maker = Maker(random: SeededGenerator(seed))
        for _ in 0..<8 {
            maker.made = []
            let queue = AOperationQueue(slots: Int.random(in: 1...3, using: &maker.random))
            for _ in 0..<4 { queue.addOperation(maker.make(depth: 4)) }
            await queue.idle()
            let errors = maker.made.flatMap { $0.publishedErrors }
            let open = maker.made.filter { !$0.isEnded }.count
            #expect(errors == [] && open == 0, "seed \(seed)")
        }
    }
}
