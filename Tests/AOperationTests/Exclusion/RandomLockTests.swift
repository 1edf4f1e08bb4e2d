import Foundation
import Testing

@testable import AOperation

/// Locks that are asked for at random; what fails names its seed.
@Suite(.timeLimit(Load.patience))
struct RandomLockTests {
    /// Whatever asks for whatever at run time: everything ends, and no two hold one key.
    @Test(arguments: 0..<12)
    func randomGroups_thatAskAtRunTime_allEnd(seed: Int) async {
        var random = SeededGenerator(UInt64(seed))
        let keys = (0..<4).map { freshKey("\($0)") }
        let gauges = keys.map { _ in Gauge() }
        let queues = [AOperationQueue(), AOperationQueue(slots: 2)]
        var all: [AOperation] = []
        // What may be waited for: what is added to a queue, or inside of something that is.
        var known: [AOperation] = []
        for _ in 0..<30 {
            let held = Int.random(in: 0..<4, using: &random)
            let group = AsksLater()
            group.exclusive(keys[held])
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let index = Int.random(in: 0..<4, using: &random)
                let child = index == held ? Step().exclusive(keys[index]) : LockTests.worker(gauges[index], keys[index])
                if let other = known.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0 {
                    child.addDependency(other)
                }
                group.later.append(child)
                all.append(child)
            }
            if let other = known.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0 {
                group.addDependency(other)
            }
            let single = Int.random(in: 0..<4, using: &random)
            let operation = LockTests.worker(gauges[single], keys[single])
            known += [group, group.first, operation]
            queues[Int.random(in: 0..<2, using: &random)].addOperation(group)
            queues[Int.random(in: 0..<2, using: &random)].addOperation(operation)
        }
        all += known
        for queue in queues { await queue.idle() }
        for operation in all { await operation.ended() }
        #expect(gauges.allSatisfy { $0.most <= 1 })
        #expect(keys.allSatisfy { !LockTable.shared.knows($0) })
    }

    /// Adds its children when it runs, so that their keys are not known before.
    final class AsksLater: GroupOperation, @unchecked Sendable {
        // Invariant: filled before it is added to a queue.
        var later: [AOperation] = []
        let first = Step("first")
        init() { super.init([first]) }
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            if operation === first { addOperations(later) }
        }
    }
}
