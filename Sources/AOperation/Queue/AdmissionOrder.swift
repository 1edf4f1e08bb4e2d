/// Walks from one operation to all that belong with it, and puts them into the order in which they are admitted.
enum AdmissionOrder {
    struct Neighbours {
        /// What an operation waits for.
        var before: [AOperation]
        /// What waits for it.
        var after: [AOperation]
    }

    /// `first`, and all operations that can be reached from it and are in no queue, each after those it waits for (circles
    /// aside); those that were cancelled before they were in any queue, too. `stand` says which operation stands for a
    /// neighbour, e.g. its group; nil leaves it out.
    ///
    /// - Complexity: O(operations and their neighbours); iterative, as chains are as long as a program makes them.
    static func collect(
        from first: AOperation, standingFor stand: (AOperation) -> AOperation?,
        neighbours: (AOperation) -> Neighbours
    ) -> [AOperation] {
        var found: [AOperation] = []
        var before: [ObjectIdentifier: [AOperation]] = [:]
        walk(from: [first]) { operation in
            guard operation === first || operation.core.withLock(\.isInNoQueue) else { return nil }
            let near = neighbours(operation)
            let waitsFor = near.before.compactMap(stand)
            before[ObjectIdentifier(operation)] = waitsFor
            return Neighbours(before: waitsFor, after: near.after.compactMap(stand))
        } leave: {
            found.append($0)
        }
        guard found.count > 2 else { return found }
        // On the way to one operation others were left that wait for it: now only along what they wait for.
        var order: [AOperation] = []
        walk(from: found) { operation in
            before[ObjectIdentifier(operation)].map { Neighbours(before: $0, after: []) }
        } leave: {
            order.append($0)
        }
        return order
    }

    private enum Step {
        case visit(AOperation)
        case leave(AOperation)
    }

    /// Visits each operation once, and leaves it when all that it waits for and that has not been visited is left.
    private static func walk(
        from start: [AOperation], neighbours: (AOperation) -> Neighbours?, leave: (AOperation) -> Void
    ) {
        var seen: Set<ObjectIdentifier> = []
        var pending: [Step] = start.reversed().map { .visit($0) }
        while let step = pending.popLast() {
            switch step {
            case .visit(let operation):
                guard !seen.contains(ObjectIdentifier(operation)), let near = neighbours(operation) else { continue }
                seen.insert(ObjectIdentifier(operation))
                pending.append(contentsOf: near.after.map { .visit($0) })
                pending.append(.leave(operation))
                pending.append(contentsOf: near.before.reversed().map { .visit($0) })
            case .leave(let operation):
                leave(operation)
            }
        }
    }
}

extension AOperation {
    /// The outermost group that the operation is in, or the operation itself when it is in none.
    var outermost: AOperation {
        var operation = self
        while let group = operation.core.withLock({ $0.group }) { operation = group }
        return operation
    }
}
