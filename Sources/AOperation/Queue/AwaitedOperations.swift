import Foundation

/// Finds the AOperations that operations wait for: those that they name, that plain ones of these name, and that operations
/// inside of a group name.
///
/// Beyond what an operation names itself, what a Foundation queue has asked about is left to that: it may be given none that
/// is in another queue.
struct AwaitedOperations {
    /// The plain ones that have been looked at.
    private var plain: Set<ObjectIdentifier> = []

    /// What an operation waits for, or has lost when it was cancelled; of a group also what those inside of it wait for.
    mutating func reached(fromAllOf operation: AOperation) -> [AOperation] {
        let (dependencies, lost) = operation.core.withLock { core in
            (core.dependencies.all, core.attachments?.lostNet?.dependencies ?? [])
        }
        let awaited = reached(from: dependencies) + lost
        guard let group = operation as? GroupOperation else { return awaited }
        return awaited + reached(fromInside: group)
    }

    /// In the order of declaration. Plain operations in between are looked through once.
    mutating func reached(from dependencies: [Foundation.Operation]) -> [AOperation] {
        var found: [AOperation] = []
        for dependency in dependencies {
            if let operation = dependency as? AOperation {
                found.append(operation)
            } else {
                found += reached(fromPlain: dependency)
            }
        }
        return found
    }

    /// What operations inside of a group that has not started wait for outside of it. What becomes a child with its start is
    /// inside.
    ///
    /// - Complexity: O(operations inside, and their delivery nets).
    mutating func reached(fromInside group: GroupOperation) -> [AOperation] {
        var inside: Set<ObjectIdentifier> = [ObjectIdentifier(group)]
        var awaited: [Foundation.Operation] = []
        var pending = [group]
        while let group = pending.popLast() {
            guard group.roster.withLock({ $0.isGathering && !$0.isMirrored }) else { continue }
            for child in group.operations where !inside.contains(ObjectIdentifier(child)) {
                let members: [Foundation.Operation] = (child as? AOperation).map { group.candidates(near: $0) } ?? [child]
                for member in members {
                    guard inside.insert(ObjectIdentifier(member)).inserted else { continue }
                    awaited += member.dependencies
                    if let group = member as? GroupOperation { pending.append(group) }
                }
            }
        }
        let outside = awaited.filter { !inside.contains(ObjectIdentifier($0)) }
        return reached(from: outside).filter(\.canBeAdded)
    }

    private mutating func reached(fromPlain operation: Foundation.Operation) -> [AOperation] {
        var found: [AOperation] = []
        var pending = [operation]
        while let operation = pending.popLast() {
            if let operation = operation as? AOperation {
                if operation.canBeAdded { found.append(operation) }
            } else if !operation.isFinished, plain.insert(ObjectIdentifier(operation)).inserted {
                pending += operation.dependencies.reversed()
            }
        }
        return found
    }
}

extension AOperation {
    /// Whether neither one of our queues has it nor one of Foundation's has asked about it.
    package final var isInNoKnownQueue: Bool { core.withLock { $0.isInNoQueue && !$0.wasAsked } }

    /// Whether that is so of it and of what it is inside of, which is added in its place.
    fileprivate var canBeAdded: Bool { isInNoKnownQueue && outermost.isInNoKnownQueue }
}
