import Foundation

/// In front of which barriers operations come that something in front of a barrier waits for.
extension AOperationQueue {
    /// A barrier that comes in this moment is before a whole net or behind it: those that are tried again together would wait for each
    /// other through it. One that came before does not wait for the net that somebody before it waits for.
    final func epoch(forNetOf operation: AOperation) -> UInt64? {
        guard operation.hasDeliveryNet else { return nil }
        let last = lane.lastEpoch
        guard lane.hasBarrier(before: last) else { return last }
        return operation.deliveryNet().compactMap { epochOfReceivers(of: $0) }.min() ?? last
    }

    /// Adds operations that are in no queue, each after those it waits for. What a net waits for that comes in front of a
    /// barrier comes in front of it, too.
    ///
    /// - Complexity: O(operations, and their dependencies).
    final func add(inOrder operations: [AOperation]) {
        let early = epochsOfEarly(among: operations)
        RetryScope.foresee(operations)
        let reservation = Reservation(operations.count > 1 ? operations : [])
        defer { reservation.end() }
        for operation in operations {
            if let epoch = early[ObjectIdentifier(operation)] {
                add(operation, epoch: epoch)
            } else {
                addOperation(operation)
            }
        }
    }

    private func epochsOfEarly(among operations: [AOperation]) -> [ObjectIdentifier: UInt64] {
        guard operations.count > 1, lane.hasBarrier(before: lane.lastEpoch) else { return [:] }
        let added = Set(operations.map(ObjectIdentifier.init))
        var early: [ObjectIdentifier: UInt64] = [:]
        let nets = operations.compactMap { operation in epochOfReceivers(of: operation).map { (operation, $0) } }
        for (first, epoch) in nets.sorted(by: { $0.1 < $1.1 }) {
            var pending = [first]
            while let operation = pending.popLast() {
                let id = ObjectIdentifier(operation)
                guard added.contains(id), early[id] == nil else { continue }
                early[id] = epoch
                var awaited = AwaitedOperations()
                let net = operation.neighboursInNet
                pending += (awaited.reached(fromAllOf: operation) + net.before + net.after).map(\.outermost)
            }
        }
        return early
    }

    /// Behind which of this queue's barriers the first receiver of an operation is, or the group around that; nil if none is in
    /// the queue.
    private func epochOfReceivers(of operation: AOperation) -> UInt64? {
        operation.neighboursInNet.after.compactMap { receiver in
            guard let place = receiver.outermost.core.withLock({ $0.membership }), place.lane === lane else { return nil }
            return place.epoch
        }.min()
    }
}
