import Foundation

/// Operations that somebody is about to add to a queue. A group that starts meanwhile leaves them to that: it takes what nobody adds, and
/// not, by chance, what is added together with it.
struct Reservation {
    private let operations: [AOperation]

    /// What delivers to these and receives from them comes along with them, and is kept from groups, too.
    ///
    /// - Complexity: O(operations and their nets): who is in the net of one before brings no other.
    init(netsOf operations: some Sequence<Foundation.Operation>) {
        var known: Set<ObjectIdentifier> = []
        var members: [AOperation] = []
        for case let operation as AOperation in operations where !operation.isAlone && !known.contains(ObjectIdentifier(operation)) {
            members += operation.deliveryNet().filter { known.insert(ObjectIdentifier($0)).inserted }
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
