import Foundation
import Testing

@testable import AOperation

/// Locks and conditions under load, with many seeds.
@Suite(.timeLimit(.minutes(10)))
struct LockStressTests {
    @Test(arguments: Stress.seeds)
    func invertedDependenciesUnderOneLock_endAll(seed: UInt64) async {
        let queue = AOperationQueue()
        let key = "inverted \(seed)"
        let gauge = Gauge()
        for _ in 0..<20 {
            let first = held(gauge).exclusive(key)
            let second = held(gauge).exclusive(key)
            second.addDependency(first)
            queue.addOperation(second)
            queue.addOperation(first)
        }
        await queue.idle()
        #expect(gauge.most == 1)
    }

    @Test(arguments: Stress.seeds)
    func setsOfKeys_inAnyOrder_excludeEachOther_andEnd(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queues = (0..<3).map { _ in AOperationQueue() }
        let keys = ["A", "B", "C"].map { "\($0) \(seed)" }
        let gauges = keys.map { _ in Gauge() }
        for _ in 0..<Load.rounds(100) {
            let chosen = keys.indices.shuffled(using: &random).prefix(.random(in: 1...3, using: &random))
            let operation = Step {
                for key in chosen { gauges[key].enter() }
                for key in chosen { gauges[key].leave() }
            }
            for key in chosen { operation.exclusive(keys[key]) }
            queues[.random(in: 0..<3, using: &random)].addOperation(operation)
        }
        for queue in queues { await queue.idle() }
        for gauge in gauges { #expect(gauge.most <= 1) }
    }

    @Test(arguments: Stress.seeds)
    func cancelledHoldersAndWaiters_leaveNothingLocked(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = .random(in: 1...4, using: &random)
        let keys = ["A", "B", "C", "D"].map { "cancel \($0) \(seed)" }
        var operations: [VoidOperation] = []
        for _ in 0..<60 {
            let operation: VoidOperation =
                switch Int.random(in: 0...2, using: &random) {
                case 0: GroupOperation(Step().exclusive(keys[0]), Step().exclusive(keys.randomElement(using: &random) ?? ""))
                case 1: Step().condition { completion in DispatchQueue.global().async { completion(.success) } }
                default: Step()
                }
            for key in keys.shuffled(using: &random).prefix(2) { operation.exclusive(key) }
            operations.append(operation)
            queue.addOperation(operation)
            await jitter(.random(in: 0...3, using: &random))
            if Bool.random(using: &random) { operations.randomElement(using: &random)?.cancel() }
        }
        await queue.idle()
        let last = keys.reduce(Step()) { $0.exclusive($1) }
        queue.addOperation(last)
        await last.ended()
        #expect(last.outcome?.isSuccess == true)
    }

    @Test func twentyThousandOperations_withAsynchronousConditions_endAll() async {
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = 2
        let runs = Gauge()
        for number in 0..<Load.count(20_000) {
            let operation = Step { runs.enter() }
            operation.condition { completion in DispatchQueue.global().async { completion(.success) } }
            if number.isMultiple(of: 100) { operation.exclusive("twenty thousand") }
            queue.addOperation(operation)
        }
        await queue.idle()
        #expect(runs.most == Load.count(20_000))
    }

    @Test(arguments: Stress.seeds)
    func groupThatNeverStarts_holdsNothingOfItsChildren(seed: UInt64) async {
        let key = "never \(seed)"
        let queue = AOperationQueue()
        let never = AOperationQueue()
        never.isSuspended = true
        let suspended = GroupOperation((0..<5).map { _ in Step().exclusive(key) })
        never.addOperation(suspended)
        do { _ = GroupOperation((0..<5).map { _ in Step().exclusive(key) }) }
        let operation = Step().exclusive(key)
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
        never.cancelAllOperations()
        await never.idle()
        #expect(suspended.outcome?.isCancelled == true)
    }

    private func held(_ gauge: Gauge) -> Step {
        Step {
            gauge.enter()
            gauge.leave()
        }
    }
}
