import Foundation
import Testing

@testable import AOperation

/// Random nets with random failures, against a model of what a retry scope does.
@Suite(.timeLimit(.minutes(5)))
struct RetryScopeModelTests {
    /// A net whose paths all lead to its last operation.
    private struct Net {
        /// By operation: which ones deliver to it.
        var producers: [[Int]] = []
        /// How often it fails before it succeeds.
        var failures: [Int] = []
        /// Whether it succeeds although it received a failure.
        var handles: [Bool] = []
        var attempts = 1

        init(using random: inout some RandomNumberGenerator) {
            let count = Int.random(in: 2...7, using: &random)
            for index in 0..<count {
                let most = min(index, 3)
                producers.append(Array((0..<index).shuffled(using: &random).prefix(Int.random(in: 0...most, using: &random))).sorted())
                failures.append(Int.random(in: 0...3, using: &random) == 0 ? Int.random(in: 1...3, using: &random) : 0)
                handles.append(Int.random(in: 0...5, using: &random) == 0)
            }
            // What nobody receives from delivers to the last.
            let received = Set(producers.joined())
            producers[count - 1] = Array(Set(producers[count - 1]).union((0..<count - 1).filter { !received.contains($0) })).sorted()
            attempts = Int.random(in: 1...6, using: &random)
        }

        struct Expectation: Equatable {
            var runs: [Int]
            var succeeds: [Bool]
            var retries: Int
        }

        /// What becomes of it: round by round until the last one succeeds, or may not be tried again.
        var expectation: Expectation {
            var left = failures
            var expected = Expectation(
                runs: Array(repeating: 0, count: left.count), succeeds: Array(repeating: false, count: left.count), retries: 0)
            var isFinal = Array(repeating: false, count: left.count)
            while true {
                for index in left.indices where !isFinal[index] {
                    let receivesFailure = producers[index].contains { !expected.succeeds[$0] }
                    expected.runs[index] += 1
                    if receivesFailure, !handles[index] {
                        expected.succeeds[index] = false
                    } else if left[index] > 0 {
                        left[index] -= 1
                        expected.succeeds[index] = false
                    } else {
                        expected.succeeds[index] = true
                        isFinal[index] = producers[index].allSatisfy { isFinal[$0] }
                    }
                }
                if expected.succeeds[left.count - 1] || expected.retries + 1 >= attempts { return expected }
                expected.retries += 1
            }
        }
    }

    private final class Run: Sendable {
        let operations: [Scripted<[String]>]
        let hearings: [Hearing]
        let asked = Log<Int>()

        init(_ net: Net, seed: UInt64) {
            var operations: [Scripted<[String]>] = []
            for index in net.failures.indices {
                let left = Guarded(net.failures[index])
                let handles = net.handles[index]
                let random = Guarded(SeededGenerator(seed &+ UInt64(index)))
                let script = Script("\(index)") { run in
                    let end: @Sendable () -> Void = {
                        if let error = run.received, !handles { return run.operation.fail(error) }
                        let fails = left.withLock { left in
                            defer { left -= 1 }
                            return left > 0
                        }
                        fails ? run.fail() : run.succeed()
                    }
                    if random.withLock({ Bool.random(using: &$0) }) { DispatchQueue.global().async(execute: end) } else { end() }
                }
                let operation = Scripted<[String]>(script)
                if !net.producers[index].isEmpty { net.producers[index].map { operations[$0] }.deliver(to: operation) }
                operations.append(operation)
            }
            self.operations = operations
            hearings = operations.map { _ in Hearing() }
            for (operation, hearing) in zip(operations, hearings) { hearing.listen(to: operation) }
            operations[operations.count - 1].retryOnFailure { [asked] retries, _, retry in
                asked.append(retries)
                let again = retries + 1 < net.attempts
                retries.isMultiple(of: 2) ? retry(again) : DispatchQueue.global().async { retry(again) }
            }
        }
    }

    @Test(arguments: 0..<16)
    func randomNets_doWhatTheModelSays(part: Int) async {
        for seed in 0..<Stress.seeds.count {
            let seed = UInt64(part * 1_000 + seed)
            var random = SeededGenerator(seed)
            let net = Net(using: &random)
            let expected = net.expectation
            let run = Run(net, seed: seed)
            let queue = AOperationQueue()
            queue.maxConcurrentOperationCount = [1, 2, 3, -1].randomElement(using: &random) ?? -1
            let mode = Int.random(in: 0...5, using: &random)
            switch mode {
            case 0:
                GroupOperation(run.operations.shuffled(using: &random)).add(to: queue)
            case 1:
                // Several threads add the one net.
                let order = run.operations.shuffled(using: &random)
                await onThread { DispatchQueue.concurrentPerform(iterations: order.count) { order[$0].add(to: queue) } }
            case 2:
                let foundation = OperationQueue()
                for operation in run.operations.shuffled(using: &random) { foundation.addOperation(operation) }
            case 3:
                let order = run.operations.shuffled(using: &random)
                await onThread { DispatchQueue.concurrentPerform(iterations: order.count) { queue.addOperation(order[$0]) } }
            default:
                run.operations.randomElement(using: &random)?.add(to: queue)
            }
            for operation in run.operations { await operation.ended() }
            await callbacksDelivered()
            #expect(run.operations.map(\.script.runs) == expected.runs, "seed \(seed), mode \(mode): \(net)")
            #expect(run.operations.map { $0.outcome?.isSuccess } == expected.succeeds, "seed \(seed), mode \(mode): \(net)")
            #expect(run.hearings.allSatisfy { $0.heard("didFinish").count == 1 && $0.heard("observer finish").count == 1 }, "seed \(seed)")
            #expect(run.hearings.allSatisfy { $0.heard("observer start").count == 1 }, "seed \(seed)")
            await queue.idle()
        }
    }

    /// The same, with operations cancelled at some moment: everything ends, and tells so once.
    @Test(arguments: 0..<16)
    func randomNets_cancelledAtAnyMoment_end(part: Int) async {
        for seed in 0..<Stress.seeds.count {
            let seed = UInt64(100_000 + part * 1_000 + seed)
            var random = SeededGenerator(seed)
            let net = Net(using: &random)
            let run = Run(net, seed: seed)
            let queue = AOperationQueue()
            queue.maxConcurrentOperationCount = [1, 2, -1].randomElement(using: &random) ?? -1
            let isInGroup = Bool.random(using: &random)
            let group = isInGroup ? GroupOperation(run.operations) : nil
            let key = "net \(seed)"
            for operation in run.operations where Int.random(in: 0...3, using: &random) == 0 { operation.exclusive(key) }
            (group ?? run.operations[0]).add(to: queue)
            let victims = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in run.operations.randomElement(using: &random) }
            let wait = Int.random(in: 0...6_000, using: &random)
            let cancelsAll = Int.random(in: 0...9, using: &random) == 0
            await onThread {
                for _ in 0..<wait where victims[0].isFinished { break }
                for victim in victims { victim.cancel() }
                if cancelsAll { group?.cancel() ?? queue.cancelAllOperations() }
            }
            for operation in run.operations { await operation.ended() }
            await callbacksDelivered()
            for (operation, hearing) in zip(run.operations, run.hearings) {
                let lines = hearing.lines.entries
                #expect(hearing.heard("didFinish").count == 1, "seed \(seed): \(lines)")
                #expect(hearing.heard("observer finish").count == 1, "seed \(seed): \(lines)")
                #expect(hearing.heard("observer start").count <= 1, "seed \(seed): \(lines)")
                #expect(operation.outcome?.isCancelled == operation.isCancelled, "seed \(seed): \(lines)")
            }
            await queue.idle()
            let witness = Step().exclusive(key)
            await witness.add(to: queue).ended()
        }
    }

    /// The same, with plain operations that wait for some and that later ones wait for, in queues of both kinds, from the start or
    /// since some moment: everything ends.
    @Test(arguments: 0..<16)
    func randomNets_besidePlainOperations_end(part: Int) async {
        for seed in 0..<Stress.seeds.count {
            let seed = UInt64(200_000 + part * 1_000 + seed)
            var random = SeededGenerator(seed)
            let net = Net(using: &random)
            let run = Run(net, seed: seed)
            let (queue, plainQueue) = (AOperationQueue(), OperationQueue())
            queue.maxConcurrentOperationCount = [1, 2, -1].randomElement(using: &random) ?? -1
            let detours = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                Detour(of: run.operations, in: queue, plainQueue, using: &random)
            }
            for detour in detours where !detour.isLate { detour.begin() }
            let late = detours.filter(\.isLate)
            let wait = Int.random(in: 0...6_000, using: &random)
            await onThread {
                DispatchQueue.concurrentPerform(iterations: 2) { thread in
                    guard thread == 1 else {
                        run.operations[0].add(to: queue)
                        return
                    }
                    for _ in 0..<wait where run.operations[0].isFinished { break }
                    for detour in late { detour.begin() }
                }
            }
            for operation in run.operations { await operation.ended() }
            await callbacksDelivered()
            #expect(run.hearings.allSatisfy { $0.heard("didFinish").count == 1 && $0.heard("observer start").count == 1 }, "seed \(seed)")
            await queue.idle()
            await plainQueue.idle()
            #expect(detours.allSatisfy { $0.plain.isFinished }, "seed \(seed)")
        }
    }

    /// A later operation of a net waits for a plain one, which waits for an earlier one.
    private final class Detour: Sendable {
        let plain = BlockOperation {}
        let isLate: Bool
        private let first: AOperation
        private let last: AOperation
        private let between: Step?
        private let queue: AOperationQueue
        private let plainQueue: OperationQueue?

        /// - Parameter plainQueue: where half of them are.
        init(
            of net: [AOperation], in queue: AOperationQueue, _ plainQueue: OperationQueue, using random: inout some RandomNumberGenerator
        ) {
            let last = Int.random(in: 1..<net.count, using: &random)
            (first, self.last) = (net[Int.random(in: 0..<last, using: &random)], net[last])
            isLate = Bool.random(using: &random)
            between = Bool.random(using: &random) ? Step() : nil
            self.queue = queue
            self.plainQueue = Int.random(in: 0...3, using: &random) > 0 ? plainQueue : nil
        }

        func begin() {
            plain.addDependency(first)
            if let between {
                between.addDependency(plain)
                last.addDependency(between)
                queue.addOperation(between)
            } else {
                last.addDependency(plain)
            }
            if let plainQueue { plainQueue.addOperation(plain) } else { queue.addOperation(plain) }
        }
    }
}
