import Foundation
import Testing

@testable import AOperation

/// Chains of operations with everything at once: attempts, locks, conditions, unique ids, limits of every kind and `willFinish`, in
/// queues that are suspended and have barriers, while some are cancelled. Each ends, each listener is told once, who receives is given
/// something, locks exclude and are free in the end, and nothing is left in memory.
@Suite(.timeLimit(.minutes(10)))
struct MixedChainStressTests {
    enum Place: UInt64, CaseIterable { case oneQueue, severalQueues, plainQueue, group, orderedGroup, groupsInAGroup }

    @Test(arguments: Stress.seeds, Place.allCases)
    func chains_endAsAWhole(seed: UInt64, place: Place) async {
        var random = SeededGenerator(seed &* 16 &+ place.rawValue)
        for round in 0..<Load.rounds(10) {
            let made = await Run(&random, place, "seed \(seed), \(place), round \(round)").run(&random)
            await until { made.allSatisfy { $0.object == nil } }
        }
    }

    private struct Run {
        let place: Place
        let title: String
        let names = freshKey("chain")
        let keys = [freshKey("a"), freshKey("b")]
        let gauges = [Gauge(), Gauge()]
        let problems = Log<String>()
        var operations: [Fickle] = []
        var ears: [Ears] = []

        init(_ random: inout SeededGenerator, _ place: Place, _ title: String) {
            (self.place, self.title) = (place, title)
            var ends: [Fickle] = []
            for chain in 0..<Int.random(in: 1...3, using: &random) {
                var before: Fickle?
                for place in 0..<Int.random(in: 1...3, using: &random) {
                    let operation = operation("\(names).\(chain).\(place)", &random)
                    if let before {
                        operation.whims.mustReceive = true
                        before.deliver(to: operation)
                    }
                    before = operation
                }
                if let before { ends.append(before) }
            }
            if ends.count > 1, Bool.random(using: &random) { ends[1].addDependency(ends[0]) }
            for case let unique as UniqueFickle in operations {
                let second = UniqueFickle(unique.whims)
                second.receivedValue = .success(0)
                add(second.deadline(.milliseconds(50)))
            }
        }

        private mutating func add(_ operation: Fickle) {
            operations.append(operation)
            ears.append(Ears.on(operation))
        }

        private mutating func operation(_ name: String, _ random: inout SeededGenerator) -> Fickle {
            let lock = Int.random(in: 0...3, using: &random)
            let whims = Whims(name, gauge: lock < 2 ? gauges[lock] : nil, problems: problems, by: &random)
            let operation = Int.random(in: 0...5, using: &random) == 0 ? UniqueFickle(whims) : Fickle(whims)
            if lock < 2 { operation.exclusive(keys[lock]) }
            operation.deadline(.milliseconds([5, 20, 50].randomElement(using: &random) ?? 5))
            if Int.random(in: 0...3, using: &random) > 0 {
                let wait = Duration.milliseconds(Int.random(in: 0...2, using: &random))
                operation.retry(RetryPolicy(attempts: Int.random(in: 1...4, using: &random), backoff: .constant(wait)))
            }
            if Bool.random(using: &random) { operation.timeout(.milliseconds(Int.random(in: 0...4, using: &random))) }
            if Int.random(in: 0...3, using: &random) == 0 { operation.queueTimeout(.milliseconds(Int.random(in: 0...4, using: &random))) }
            switch Int.random(in: 0...5, using: &random) {
            case 0: operation.willFinish { _, finish in finish() }
            case 1: operation.willFinish { _, finish in for _ in 0..<3 { DispatchQueue.global().async { finish() } } }
            case 2: operation.willFinish { _, _ in }
            default: break
            }
            let key = keys[0]
            switch Int.random(in: 0...7, using: &random) {
            case 0: operation.conditions(Rule { _, answer in for _ in 0..<3 { DispatchQueue.global().async { answer(.success) } } })
            case 1: operation.conditions(Rule { _, _ in })
            case 2: operation.conditions(Rule(after: { Step("dependent").exclusive(key) }))
            case 3: operation.conditions(Rule(after: { Gate("dependent") }))
            default: break
            }
            add(operation)
            return operation
        }

        /// What is added to queues.
        private mutating func roots(_ random: inout SeededGenerator) -> [AOperation] {
            let group: GroupOperation
            switch place {
            case .oneQueue, .severalQueues, .plainQueue: return operations.shuffled(using: &random)
            case .group: group = GroupOperation(operations.shuffled(using: &random))
            case .orderedGroup: group = OrderedGroupOperation(operations)
            case .groupsInAGroup:
                let (first, second) = (operations.prefix(operations.count / 2), operations.dropFirst(operations.count / 2))
                group = GroupOperation(GroupOperation(Array(first)), OrderedGroupOperation(Array(second)))
            }
            if Bool.random(using: &random) { group.onFailure = .stop }
            if Bool.random(using: &random) { group.maxConcurrentOperationCount = Int.random(in: 1...2, using: &random) }
            if Bool.random(using: &random) { group.exclusive(keys[0]) }
            ears.append(Ears.on(group))
            return [group]
        }

        private func queues(_ random: inout SeededGenerator) -> [OperationQueue] {
            let slots = Int.random(in: 1...3, using: &random)
            switch place {
            case .severalQueues: return [AOperationQueue(slots: slots), AOperationQueue(), AOperationQueue(slots: 1)]
            case .oneQueue, .group, .orderedGroup, .groupsInAGroup: return [AOperationQueue(slots: slots)]
            case .plainQueue:
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = slots
                return [queue]
            }
        }

        /// - Returns: all that was made, to go away.
        consuming func run(_ random: inout SeededGenerator) async -> [Weak<AOperation>] {
            let roots = roots(&random)
            let queues = queues(&random)
            let additions = roots.map { ($0, queues[Int.random(in: queues.indices, using: &random)]) }
            let cancelled = Bool.random(using: &random) ? (operations + roots).shuffled(using: &random).prefix(2) : []
            let (hops, isToggled) = (Int.random(in: 0...30, using: &random), Bool.random(using: &random))
            // A barrier of Foundation that is cancelled while something before it runs is one that it goes on to use.
            let hasBarrier = Int.random(in: 0...3, using: &random) == 0 && place != .plainQueue
            await withTaskGroup(of: Void.self) { tasks in
                for (operation, queue) in additions { tasks.addTask { queue.addOperation(operation) } }
                tasks.addTask {
                    await jitter(hops)
                    if hasBarrier { queues[0].addBarrierBlock {} }
                    for operation in cancelled { operation.cancel() }
                }
                guard isToggled else { return }
                tasks.addTask {
                    for turn in 1...6 {
                        for queue in queues { queue.isSuspended = !turn.isMultiple(of: 2) }
                        await jitter(hops)
                    }
                }
            }
            for operation in operations + roots { await operation.ended() }
            for queue in queues { await queue.idle() }
            await callbacksDelivered()
            for ear in ears { #expect(ear.wereToldOnce, "\(ear.summary), \(title)") }
            #expect(problems.entries.isEmpty, "\(title)")
            #expect(gauges.allSatisfy { $0.most <= 1 }, "\(title)")
            let after = Step("after").exclusive(keys[0]).exclusive(keys[1])
            await AOperationQueue().run(all: [after])
            return operations.flatMap(\.whims.made.entries)
        }
    }
}
