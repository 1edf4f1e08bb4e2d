import Foundation

extension AOperation {
    /// The locks that the operation must hold before it goes on; nil when it needs none, or has them already.
    ///
    /// - Parameter isFirst: whether it goes before those who wait already.
    final func lockRequest(isFirst: Bool, granted: @escaping @Sendable (LockRequest) -> Void) -> LockRequest? {
        guard core.withLock({ $0.lockRequest == nil }) else { return nil }
        var exclusions = exclusions
        guard !exclusions.isEmpty else { return nil }
        let union = core.withLock({ $0.retryScope })?.exclusionsToTake
        if let union { exclusions += union }
        var limits: [String: Int] = [:]
        for exclusion in exclusions { limits[exclusion.key] = min(exclusion.limit, limits[exclusion.key] ?? .max) }
        var locks: [LockID: Int] = [:]
        var lenders: [LockRequest] = []
        for (name, limit) in limits {
            let lender = lender(of: name)
            locks[LockID(scope: lender?.id, name: name)] = lender == nil ? limit : 1
            if let lender, !lenders.contains(where: { $0 === lender }) { lenders.append(lender) }
        }
        return LockRequest(
            by: self, locks: locks, lenders: lenders, isForScope: union != nil, isFirst: isFirst, granted: granted)
    }

    /// The locks that the operation and those inside of it name.
    final var exclusions: [MutualExclusion] {
        var exclusions: [MutualExclusion] = []
        collectExclusions(into: &exclusions)
        return exclusions
    }

    private func collectExclusions(into exclusions: inout [MutualExclusion]) {
        var pending: [AOperation] = [self]
        var listed: Set<ObjectIdentifier> = []
        let number = LockScan.newNumber()
        var scanned: [AOperation] = []
        var isBare = true
        while let operation = pending.popLast() {
            if operation.isContainer {
                guard operation.core.withLock({ $0.lockScan.begin(number) }) else { continue }
                scanned.append(operation)
            }
            let (hasConditions, hasNet) = operation.core.withLock { core in
                (!core.conditions.isEmpty, !core.producers.isEmpty || !core.receivers.isEmpty)
            }
            if hasConditions || hasNet { isBare = false }
            if hasConditions {
                let preparation = operation.makePreparation()
                exclusions += preparation.tree.exclusions
                for dependent in preparation.dependentOperations { pending += dependent.deliveryNet() }
            }
            if hasNet, operation !== self, listed.insert(ObjectIdentifier(operation)).inserted {
                pending += operation.futureSiblings.filter { listed.insert(ObjectIdentifier($0)).inserted }
            }
            if operation.isContainer { pending += operation.unstartedMembers }
        }
        guard isBare else { return }
        for group in scanned { group.core.withLock { $0.lockScan.end(number) } }
    }

    /// Whether `request`, made a moment ago, asks for what others have begun, or ceased, to lend since.
    final func isOutdated(_ request: LockRequest) -> Bool {
        request.locks.keys.contains { lender(of: $0.name)?.id != $0.scope }
    }

    /// Whether somebody lends this operation by now what `request` asks of others: an operation that it has come to be
    /// inside of, its retry scope, or retry scopes that wait for it and keep what it waits for.
    final func findsLender(for request: LockRequest) -> Bool {
        let keepers = LockTable.shared.keepers(before: request).filter { keeper in
            keeper.operation.map { WaitForGraph.leads(from: $0, to: self) } ?? false
        }
        core.withLock { core in
            core.lenders += keepers.filter { keeper in !core.lenders.contains { $0 === keeper } }
        }
        return isOutdated(request)
    }

    /// What may come to be in the same group as this child of one that has not started, because it delivers to it or
    /// receives from it.
    private var futureSiblings: [AOperation] {
        core.withLock { $0.group }?.candidates(near: self) ?? []
    }

    /// Who holds the lock `name` and lends it to this operation: the nearest operation that it is inside of, its retry
    /// scope, or one that waits for it.
    private func lender(of name: String) -> LockRequest? {
        var next: AOperation? = self
        while let operation = next {
            let (scope, lenders, enclosing) = operation.core.withLock { ($0.retryScope, $0.lenders, $0.whole ?? $0.group) }
            let held = lenders.filter { $0.names.contains(name) && LockTable.shared.isHeld($0) }
            // What was lent on is newer than what it was lent from.
            if let request = ((scope?.keepers(of: name) ?? []) + held).max(by: { $0.id < $1.id }) { return request }
            if let request = enclosing?.core.withLock({ $0.lockRequest }), request.names.contains(name),
                LockTable.shared.isHeld(request)
            {
                return request
            }
            next = enclosing
        }
        return nil
    }
}

extension AOperationError {
    /// A lock was asked for that would only come free after the operation that asks for it has ended.
    public struct LockCycle: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation that asked.
        public package(set) var operation: String
        /// The keys in the circle.
        public let keys: [String]
        /// The names of the operations that hold them.
        public package(set) var holders: [String]

        init(_ operation: AOperation, _ circle: WaitForGraph.Circle) {
            self.operation = operation.publisherName
            keys = circle.keys
            holders = circle.holders.map { $0.operation?.publisherName ?? "an operation that has ended" }
        }

        public var errorDescription: String? {
            "The Operation \(operation) would wait for itself: \(keys.joined(separator: ", ")) is held by "
                + "\(holders.joined(separator: ", ")), which waits for it. Name the key on the group around it, or take it outside"
        }
    }
}
