import Foundation

/// Operations that somebody is about to add to a queue. A group that starts meanwhile leaves them to that: it takes what nobody adds, and
/// not, by chance, what is added together with it.
struct Reservation {
    private let operations: [AOperation]

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
