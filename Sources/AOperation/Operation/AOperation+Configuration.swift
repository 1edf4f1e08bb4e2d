import Foundation

extension AOperation {
    /// Declares that the operation starts after `operations` have ended, however they end.
    @discardableResult
    public final func dependencies(_ operations: [Foundation.Operation]) -> Self {
        for operation in operations { addDependency(operation) }
        return self
    }

    /// Adds the operation to `queue`, together with its delivery net and with the dependencies, direct and further
    /// ones, that are in no queue yet. What is in a queue already is left there. A group, or an operation that was made of
    /// another one, brings what those inside of it depend on.
    ///
    /// Plain operations are not added, as none tells whether it is in a queue: add those yourself. What they depend on is.
    /// Each call looks through them anew.
    ///
    /// - Complexity: O(operations that are looked at, and their dependencies).
    ///
    /// For a child of a group it is the outermost group around it that is added, which starts the child in its turn. One
    /// whose group is in a queue already is left to that.
    @discardableResult
    public final func add(to queue: AOperationQueue) -> Self {
        guard let first = standIn else { return self }
        if let intake = queue.intake {
            intake(queue, first.unqueuedDependencies().filter { $0 === first || $0.isInitialized || $0.hasEndedAsCancelled })
        } else {
            queue.add(inOrder: first.unqueuedDependencies())
        }
        return self
    }

    /// Whether it is inside of nothing and has no delivery net: nothing comes into a queue with it, or in place of it.
    final var isAlone: Bool {
        !isContainer && core.withLock { $0.group == nil && $0.whole == nil && !$0.hasNet }
    }

    /// What comes into a queue when this operation is added: itself; or the outermost of the operations it is inside of, as
    /// only that one starts it. Nil when that is in a queue already.
    final var standIn: AOperation? {
        guard core.withLock({ ($0.group != nil || $0.whole != nil) && $0.isInNoQueue }), let around = enclosingOperations.last else {
            return self
        }
        return around.isInNoKnownQueue ? around : nil
    }

    /// `operation` may come to no queue: its closures are called where this one's are.
    package final func lendCallbackQueue(to operation: Foundation.Operation) {
        guard let operation = operation as? AOperation,
            let queue = core.withLock({ $0.membership?.lane })?.callbackQueue ?? enclosingCallbackQueue
        else { return }
        operation.withAttachments { $0.callbackQueue = queue }
    }

    /// The callback queue of the queue that has one of the operations around this one; nil: of none, or it names none.
    final var enclosingCallbackQueue: DispatchQueue? {
        attachment(\.callbackQueue)
            ?? enclosingOperations.lazy.compactMap { around in around.core.withLock { $0.membership?.lane }?.callbackQueue }.first
    }

    /// What is added so that this operation comes, for one that waits for it: itself, or the outermost of the operations it is
    /// inside of. Nil when one of Foundation's queues has that.
    private var standInOfDependency: AOperation? {
        let around = outermost
        return around.isInNoKnownQueue ? around : nil
    }

    /// The operation, its delivery net, and all AOperations they wait for that are in no queue, each after what it
    /// waits for. Iterative: chains are as long as a program makes them.
    final func unqueuedDependencies() -> [AOperation] {
        var awaited = AwaitedOperations()
        return AdmissionOrder.collect(from: self, standingFor: \.standInOfDependency) { operation in
            AdmissionOrder.Neighbours(
                before: awaited.reached(fromAllOf: operation), after: operation.core.withLock(\.net.after))
        }
    }

    /// The operation and all that deliver to it or receive from it, directly or further on, and are in no queue;
    /// producers come before their receivers.
    final func deliveryNet() -> [AOperation] {
        guard hasDeliveryNet || core.withLock({ $0.group != nil }) else { return [self] }
        return AdmissionOrder.collect(from: self, standingFor: \.outermost) { $0.neighboursInNet }
    }

    /// The ``deliveryNet()``, which is about to be added, with its retry scopes, and whether there are any.
    final func netToAdd() -> (members: [AOperation], isScoped: Bool) {
        let net = deliveryNet()
        return (net, RetryScope.assign(to: net.filter(\.isInitialized)))
    }

    /// Gives a fresh operation other settings. What the program had given it goes away when the lock is free.
    final func replaceSettings(_ change: (inout OperationCore) -> Void) {
        let before = core.withLock { $0 }
        core.withLock(change)
        withExtendedLifetime(before) {}
    }

    /// A cancelled operation whose net has been added holds nothing of it.
    final func forgetNet() {
        let lost = core.withLock { core in
            defer { core.attachments?.lostNet = nil }
            return core.attachments?.lostNet
        }
        var held = (lost?.producers ?? []) + (lost?.dependencies ?? [])
        Trampoline.release(&held)
    }

    /// Calls `enter` for each of the ``deliveryNet()``, which puts it into `lane`. A queue of ours leaves alone what one of
    /// Foundation's has.
    ///
    /// A group takes what belongs to its children with it when it starts, or is cancelled in a queue. One that is cancelled
    /// in the moment in which it comes into a queue does not: what belongs to them is entered, too.
    final func enterNet(into lane: Lane, _ enter: (AOperation) -> Void) {
        let (net, isScoped) = netToAdd()
        let groups = net.filter { $0 is GroupOperation && !$0.isAbandonedGroup }
        let mayEnter: (AOperation) -> Bool = { [self] in lane.root === Lane.outside || $0 === self || $0.isInNoKnownQueue }
        let reservation = Reservation(net.count > 1 && !groups.isEmpty ? net : [])
        defer { reservation.end() }
        // Who waits for whom in retry scopes is known of members alone: what fails before that is known would be taken for what nobody waits
        // for.
        lane.enterTogether(isScoped) {
            for member in net where mayEnter(member) { enter(member) }
        }
        for group in groups where group.isAbandonedGroup {
            for member in group.netToAdd().members where member !== group && mayEnter(member) { enter(member) }
        }
    }

    /// Whether something delivers to this operation, or receives from it.
    final var hasDeliveryNet: Bool { isAbandonedGroup || core.withLock(\.hasNet) }

    /// What delivers to it or receives from it. Of a group that was cancelled before it was in any queue: to and from its
    /// children.
    final var neighboursInNet: AdmissionOrder.Neighbours {
        var net = core.withLock(\.net)
        var pending = isAbandonedGroup ? (self as? GroupOperation)?.operations ?? [] : []
        while let child = pending.popLast() {
            guard let child = child as? AOperation else { continue }
            let near = child.core.withLock(\.net)
            net.before += near.before
            net.after += near.after
            if child.isAbandonedGroup, let group = child as? GroupOperation { pending += group.operations }
        }
        return net
    }

    /// Whether it is a group that has ended, or is about to because it was cancelled.
    fileprivate var isAbandonedGroup: Bool {
        self is GroupOperation && core.withLock { $0.state.isEnded || $0.isCancelRequested }
    }
}

extension Foundation.Operation {
    /// Adds `block` to what is called when the operation has finished, after the completion block it has.
    public func addCompletionBlock(_ block: @escaping @Sendable () -> Void) {
        guard let existing = completionBlock else {
            completionBlock = block
            return
        }
        completionBlock = {
            existing()
            block()
        }
    }

    /// Adds several dependencies.
    public func addDependencies(_ dependencies: [Foundation.Operation]) {
        for dependency in dependencies { addDependency(dependency) }
    }
}
