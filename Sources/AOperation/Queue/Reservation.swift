import Foundation

/// Operations that somebody is about to add to a queue. A group that starts meanwhile leaves them to that: it takes what nobody adds, and
/// not, by chance, what is added together with it.
struct Reservation {
    private let operations: [AOperation]

    /// What delivers to what comes into the queue and receives from it comes along, and is kept from groups, too: not what delivers to a
    /// child, in whose place its group is added. That is for the group to take.
    ///
    /// - Complexity: O(operations and their nets): who is in the net of one before brings no other.
    init(netsOf operations: some Sequence<Foundation.Operation>) {
        var known: Set<ObjectIdentifier> = []
        var members: [AOperation] = []
        for case let operation as AOperation in operations where !operation.isAlone && !known.contains(ObjectIdentifier(operation)) {
            if let entering = operation.standIn, !known.contains(ObjectIdentifier(entering)) {
                members += entering.deliveryNet().filter { known.insert(ObjectIdentifier($0)).inserted }
            }
            if known.insert(ObjectIdentifier(operation)).inserted { members.append(operation) }
        }
        self.init(members)
    }

    /// Those that nothing belongs to are left out: no group takes them.
    init(_ operations: some Sequence<Foundation.Operation>) {
        self.operations = operations.compactMap { operation in
            guard let operation = operation as? AOperation, !operation.isAlone else { return nil }
            let isNew = operation.core.withLock { core in
                guard !core.isReserved, core.isInNoQueue else { return false }
                core.isReserved = true
                return true
            }
            return isNew ? operation : nil
        }
    }

    /// They are in the queue.
    func end() {
        for operation in operations { operation.core.withLock { $0.isReserved = false } }
    }
}
