/// Walks from one operation to all that belong with it, and puts them into the order in which they are admitted.
enum AdmissionOrder {
    struct Neighbours {
        /// What an operation waits for.
        var before: [AOperation]
        /// What waits for it.
        var after: [AOperation]
    }

    /// `first`, and all operations that can be reached from it and are in no queue, each after those it waits for
    /// (circles aside). `stand` says which operation stands for a neighbour, e.g. its group; nil leaves it out.
    static func collect(
        from first: AOperation, standingFor stand: (AOperation) -> AOperation?,
        neighbours: (AOperation) -> Neighbours
    ) -> [AOperation] {
        var order: [AOperation] = []
        var seen: Set<ObjectIdentifier> = []
        var pending: [Step] = [.visit(first)]
        while let step = pending.popLast() {
            switch step {
            case .visit(let operation):
                guard operation.isInitialized || operation === first else { continue }
                guard seen.insert(ObjectIdentifier(operation)).inserted else { continue }
                let near = neighbours(operation)
                pending.append(contentsOf: near.after.compactMap(stand).map { .visit($0) })
                pending.append(.leave(operation))
                pending.append(contentsOf: near.before.reversed().compactMap(stand).map { .visit($0) })
            case .leave(let operation):
                order.append(operation)
            }
        }
        return order
    }

    private enum Step {
        case visit(AOperation)
        case leave(AOperation)
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
