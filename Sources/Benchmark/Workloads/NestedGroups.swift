import AOperation
import Foundation

/// L4: a group of groups, about as many groups as each has children.
enum NestedGroups {
    static func sample(_ engine: Engine, _ variant: Variant, _ count: Int) throws -> Sample {
        let queue = engine.queue(limit: variant.limit)
        return switch engine {
        case .ours: try ours(queue, variant.kind, count)
        case .foundation: try foundation(queue, variant.kind, count)
        }
    }

    private static func ours(_ queue: OperationQueue, _ kind: Variant.Kind, _ count: Int) throws -> Sample {
        let probe = Probe()
        let groups = sizes(count).map { size in GroupOperation((0..<size).map { _ in Engine.ours.operation(kind) }) }
        let root = GroupOperation(groups)
        queue.addOperation(root)
        queue.waitUntilAllOperationsAreFinished()
        let sample = probe.sample(operations: count + groups.count + 1)
        let ended = groups.reduce(0) { $0 + $1.outcomes.count }
        guard root.outcome?.isSuccess == true, ended == count else {
            throw WrongResult(description: "\(ended) of \(count) children ended in a group of groups, which \(root.errors)")
        }
        return sample
    }

    /// The end of each group is an operation that depends on its members.
    private static func foundation(_ queue: OperationQueue, _ kind: Variant.Kind, _ count: Int) throws -> Sample {
        let probe = Probe()
        let root = Engine.foundation.operation(kind)
        let groups = sizes(count).map { size in
            let end = Engine.foundation.operation(kind)
            let children = (0..<size).map { _ in Engine.foundation.operation(kind) }
            for child in children { end.addDependency(child) }
            root.addDependency(end)
            return children + [end]
        }
        // In one call: Foundation's queue loses an operation whose dependencies end while it is added.
        queue.addOperations(groups.joined() + [root], waitUntilFinished: false)
        queue.waitUntilAllOperationsAreFinished()
        let sample = probe.sample(operations: count + groups.count + 1)
        try (groups.joined() + [root]).checkFinished("a group of groups")
        return sample
    }

    /// How many children each group has: `count` in all.
    static func sizes(_ count: Int) -> [Int] {
        let groups = max(1, Int(Double(count).squareRoot()))
        return (0..<groups).map { count / groups + ($0 < count % groups ? 1 : 0) }
    }
}
