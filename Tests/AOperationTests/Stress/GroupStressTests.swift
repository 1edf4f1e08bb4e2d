import Foundation
import Testing

@testable import AOperation

/// Groups under cancellation, branching and retries, with many seeds.
@Suite(.timeLimit(.minutes(10)))
struct GroupStressTests {
    @Test(arguments: Stress.seeds)
    func cancellingAGroup_atEveryMoment_tellsEverybodyOnce(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = .random(in: 1...4, using: &random)
        for _ in 0..<20 {
            var ears: [Ears] = []
            let group = tree(depth: 3, &random) { ears.append(Ears.on($0)) }
            ears.append(Ears.on(group))
            let hops = Int.random(in: 0...40, using: &random)
            if hops == 0 { group.cancel() }
            queue.addOperation(group)
            await jitter(hops)
            group.cancel()
            await group.ended()
            await callbacksDelivered()
            #expect(group.outcome?.isCancelled == true || group.outcome?.isSuccess == true)
            for ear in ears { #expect(ear.wereToldOnce, "\(ear.summary), seed \(seed)") }
        }
        await queue.idle()
    }

    @Test(arguments: Stress.seeds)
    func branchingFourLevelsDeep_withTwoAtOnce_endsAfterAll(seed: UInt64) async {
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = Int(seed % 5) + 1
        let group = Branching(depth: 4)
        let ears = Ears.on(group)
        group.add(to: queue)
        await group.ended()
        await callbacksDelivered()
        #expect(group.outcome?.isSuccess == true)
        #expect(group.operations.count == 31)
        #expect(group.outcomes.filter(\.isSuccess).count == 31)
        #expect(ears.wereToldOnce)
    }

    @Test(arguments: Stress.seeds)
    func retriesInOrderedGroups_keepTheOrder(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = .random(in: 1...3, using: &random)
        let log = Log<Int>()
        let children = (0..<12).map { number in
            let failures = Int.random(in: 0...3, using: &random)
            return Flaky(failures: Guarded(failures)) { log.append(number) }.retry(RetryPolicy(attempts: 4))
        }
        let ears = children.map { Ears.on($0) }
        let group = OrderedGroupOperation(children, onFailure: .stop)
        group.add(to: queue)
        await group.ended()
        await callbacksDelivered()
        #expect(group.outcome?.isSuccess == true)
        #expect(log.entries == Array(0..<12))
        for ear in ears { #expect(ear.wereToldOnce, "\(ear.summary), seed \(seed)") }
        await queue.idle()
    }

    @Test(arguments: Stress.seeds)
    func finishingFromManyThreads_endsOnce(seed: UInt64) async {
        let queue = AOperationQueue()
        for _ in 0..<50 {
            let operation = Many()
            let ears = Ears.on(operation)
            queue.addOperation(operation)
            if seed.isMultiple(of: 2) { DispatchQueue.global().async { operation.cancel() } }
            if seed.isMultiple(of: 3) {
                DispatchQueue.global().async { operation.timeOut(with: AOperationError(Failed(text: "late"))) }
            }
            await operation.ended()
            await callbacksDelivered()
            #expect(ears.wereToldOnce, "\(ears.summary), seed \(seed)")
        }
        await queue.idle()
    }

    /// A group of operations, plain ones and groups.
    private func tree(
        depth: Int, _ random: inout SeededGenerator, _ listen: (ResultableOperation<Void>) -> Void
    ) -> GroupOperation {
        var children: [Foundation.Operation] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            switch Int.random(in: 0...4, using: &random) {
            case 0 where depth > 0:
                let group = tree(depth: depth - 1, &random, listen)
                listen(group)
                children.append(group)
            case 1:
                children.append(BlockOperation {})
            case 2:
                let step = Step().exclusive("GroupStressTests", limit: 2).condition { completion in
                    DispatchQueue.global().async { completion(.success) }
                }
                listen(step)
                children.append(step)
            default:
                let step = Step()
                listen(step)
                if let last = children.last { step.addDependency(last) }
                children.append(step)
            }
        }
        return Bool.random(using: &random) ? OrderedGroupOperation(children) : GroupOperation(children)
    }

    /// Adds two children for each that ends, down to a depth.
    private final class Branching: GroupOperation, @unchecked Sendable {
        init(depth: Int) { super.init([Level(depth)]) }

        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            guard let level = operation as? Level, level.depth > 0 else { return }
            addOperations([Level(level.depth - 1), Level(level.depth - 1)])
        }

        private final class Level: VoidOperation, @unchecked Sendable {
            let depth: Int
            init(_ depth: Int) {
                self.depth = depth
                super.init()
            }
            override func execute() { DispatchQueue.global().async { self.finish() } }
        }
    }

    /// Is finished by eight threads at once.
    private final class Many: VoidOperation, @unchecked Sendable {
        override func execute() {
            for thread in 0..<8 {
                DispatchQueue.global().async {
                    thread.isMultiple(of: 2) ? self.finish() : self.finish(AOperationError(Failed(text: "\(thread)")))
                }
            }
        }
    }
}

/// Fails a number of times, over all attempts, then succeeds.
final class Flaky: VoidOperation, RetryableOperation, @unchecked Sendable {
    private let failures: Shared
    private let body: @Sendable () -> Void

    private final class Shared: Sendable {
        let count: Guarded<Int>
        init(_ count: consuming Guarded<Int>) { self.count = count }
    }

    init(failures: consuming Guarded<Int>, _ body: @escaping @Sendable () -> Void = {}) {
        self.failures = Shared(failures)
        self.body = body
        super.init()
    }

    private init(sharing other: Flaky) {
        failures = other.failures
        body = other.body
        super.init()
    }

    func new() -> Self { Self(sharing: self) }

    override func execute() {
        let fails = failures.count.withLock { count in
            defer { count -= 1 }
            return count > 0
        }
        if fails { return finish(AOperationError(Failed(text: "not yet"))) }
        body()
        finish()
    }
}
