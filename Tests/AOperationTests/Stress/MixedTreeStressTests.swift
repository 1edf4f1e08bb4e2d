import Foundation
import Testing

@testable import AOperation

/// Trees of groups, wrappers, sequences and groups that are tried again, with ``Fickle`` operations and chains of them as leaves, under
/// limits, conditions and locks, while some are cancelled: as ``MixedChainStressTests``.
@Suite(.timeLimit(.minutes(10)))
struct MixedTreeStressTests {
    @Test(arguments: Stress.seeds, [false, true])
    func trees_endAsAWhole(seed: UInt64, isPlainQueue: Bool) async {
        for round in 0..<UInt64(Load.rounds(10)) {
            let made = await run(SeededGenerator(seed &* 1_000 &+ round), isPlainQueue, "seed \(seed), round \(round)")
            await until { made.allSatisfy { $0.object == nil } }
        }
    }

    private func run(_ random: SeededGenerator, _ isPlainQueue: Bool, _ title: String) async -> [Weak<AOperation>] {
        let world = World()
        defer { world.known.withLock { $0 = [] } }  // what makes operations knows the world
        var tree = Tree(world: world, random: random)
        let roots = (0..<Int.random(in: 1...2, using: &tree.random)).map { tree.node("\($0)", depth: 3, isKnown: true) }
        let known = world.known.withLock { $0 }
        let queue = isPlainQueue ? OperationQueue() : AOperationQueue()
        if tree.chance(2) { queue.maxConcurrentOperationCount = Int.random(in: 1...3, using: &tree.random) }
        let cancelled = tree.chance(2) ? [] : known.shuffled(using: &tree.random).prefix(2)
        let (hops, isToggled) = (Int.random(in: 0...60, using: &tree.random), tree.chance(3))
        await withTaskGroup(of: Void.self) { tasks in
            for root in roots { tasks.addTask { queue.addOperation(root) } }
            tasks.addTask {
                await jitter(hops)
                for operation in cancelled { operation.cancel() }
            }
            guard isToggled else { return }
            tasks.addTask {
                for turn in 1...6 {
                    queue.isSuspended = !turn.isMultiple(of: 2)
                    await jitter(hops)
                }
            }
        }
        for operation in known { await operation.ended() }
        await queue.idle()
        await callbacksDelivered()
        for (path, ear) in world.ears.entries { #expect(ear.wereToldOnce, "\(path): \(ear.summary), \(title)") }
        #expect(world.problems.entries.isEmpty, "\(title)")
        let after = Step("after").exclusive(world.keys[0]).exclusive(world.keys[1])
        await AOperationQueue().run(all: [after])
        return world.made.entries + world.whims.entries.flatMap(\.made.entries)
    }

    /// What is known of one tree.
    private final class World: Sendable {
        let keys = [freshKey("a"), freshKey("b")]
        let problems = Log<String>()
        let whims = Log<Whims>()
        let made = Log<Weak<AOperation>>()
        let ears = Log<(String, Ears)>()
        /// What is there from the beginning: it ends, whatever happens.
        let known = Guarded<[AOperation]>([])
    }

    private struct Tree: Sendable {
        let world: World
        var random: SeededGenerator

        mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

        mutating func leaf(_ path: String) -> Fickle {
            let whims = Whims("\(world.keys[0]).\(path)", problems: world.problems, by: &random)
            world.whims.append(whims)
            let leaf = chance(6) ? UniqueFickle(whims) : Fickle(whims)
            leaf.timeout(.milliseconds(Int.random(in: 0...5, using: &random)))
            if chance(2) { leaf.retry(RetryPolicy(attempts: 3, backoff: .constant(.milliseconds(chance(2) ? 0 : 1)))) }
            if chance(5) { leaf.willFinish { _, finish in DispatchQueue.global().async { finish() } } }
            return leaf
        }

        mutating func node(_ path: String, depth: Int, isKnown: Bool) -> AOperation {
            let node = bareNode(path, depth: depth, isKnown: isKnown)
            world.made.append(Weak(node))
            let key = world.keys[chance(2) ? 0 : 1]
            if chance(4) { node.exclusive(key) }
            if chance(8) { node.deadline(.milliseconds(Int.random(in: 0...15, using: &random))) }
            if chance(8) { node.timeout(.milliseconds(Int.random(in: 0...8, using: &random))) }
            if chance(10) { node.queueTimeout(.milliseconds(Int.random(in: 0...5, using: &random))) }
            if chance(10) {
                node.conditions(Rule { _, answer in DispatchQueue.global().async { for _ in 0..<2 { answer(.success) } } })
            }
            if chance(12) { node.conditions(Rule(.failed("no"))) }
            if chance(10) { node.conditions(Rule(after: { Step("dependent").exclusive(key) })) }
            guard isKnown else { return node }
            world.known.withLock { $0.append(node) }
            if let node = node as? VoidOperation { world.ears.append((path, Ears.on(node))) }
            if let node = node as? Fickle { world.ears.append((path, Ears.on(node))) }
            return node
        }

        private mutating func children(_ path: String, depth: Int, isKnown: Bool) -> [AOperation] {
            var children: [AOperation] = []
            for number in 0..<Int.random(in: 0...3, using: &random) {
                let child = node("\(path).\(number)", depth: depth - 1, isKnown: isKnown)
                if let before = children.last, chance(3) { child.addDependency(before) }
                children.append(child)
            }
            if chance(3) {
                let (head, tail) = (leaf("\(path).head"), leaf("\(path).tail"))
                tail.whims.mustReceive = true
                head.deliver(to: tail)
                children.append(chance(2) ? head : tail)
            }
            return children
        }

        /// What is made later, for the `number`th time.
        private mutating func later(_ path: String) -> @Sendable (_ number: UInt64) -> (tree: Tree, path: String) {
            let (world, seed) = (world, random.next())
            return { number in (Tree(world: world, random: SeededGenerator(seed &+ number)), "\(path).\(number)") }
        }

        private mutating func bareNode(_ path: String, depth: Int, isKnown: Bool) -> AOperation {
            guard depth > 0, !chance(8) else { return leaf(path) }
            switch Int.random(in: 0...6, using: &random) {
            case 0, 1:
                let group = GroupOperation(children(path, depth: depth, isKnown: isKnown))
                if chance(2) { group.onFailure = .stop }
                if chance(3) { group.maxConcurrentOperationCount = 1 }
                return group
            case 2:
                let group = OrderedGroupOperation(children(path, depth: depth, isKnown: isKnown))
                if chance(2) { group.onFailure = .stop }
                return group
            case 3:
                let (later, makesNothing) = (later(path), chance(6))
                return WrapperOperation<Void, Void> { _ in
                    guard !makesNothing else { return nil }
                    var (tree, path) = later(0)
                    return GroupOperation(tree.children(path, depth: depth, isKnown: false))
                }
            case 4:
                let (later, count, steps) = (later(path), Int.random(in: 0...3, using: &random), Log<Int>())
                let sequence = OperationSequence { _ in
                    steps.append(1)
                    guard steps.count <= count else { return nil }
                    var (tree, path) = later(UInt64(steps.count))
                    return tree.node(path, depth: depth - 1, isKnown: false)
                }
                if chance(3) { sequence.onFailure = .stop }
                return sequence
            case 5:
                let (later, attempts) = (later(path), Log<Int>())
                let group = GroupOperation {
                    attempts.append(1)
                    var (tree, path) = later(UInt64(attempts.count))
                    return tree.children(path, depth: depth, isKnown: false)
                }
                return group.retry(RetryPolicy(attempts: 3, backoff: .constant(.milliseconds(chance(2) ? 0 : 1))))
            default:
                let later = later(path)
                return Value(Array(0..<Int.random(in: 0...3, using: &random)))
                    .forEach(maxConcurrent: chance(2) ? 1 : -1, onFailure: chance(2) ? .stop : .continue) { number in
                        var (tree, path) = later(UInt64(number))
                        return tree.leaf(path) as ResultableOperation<Int>
                    }
                    .retry(.times(2))
            }
        }
    }
}
