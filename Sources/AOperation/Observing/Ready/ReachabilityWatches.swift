/// The notifiers of the operations that one observer observes.
final class ReachabilityWatches: Sendable {
    private let notifiers = Guarded<[ObjectIdentifier: ReachabilityNotifier]>([:])
    private let reachability: Reachability
    private let interval: Duration
    private let handler: @Sendable (AOperation, Connection) -> Void

    init(
        _ reachability: Reachability, every interval: Duration,
        handler: @escaping @Sendable (AOperation, Connection) -> Void
    ) {
        self.reachability = reachability
        self.interval = interval
        self.handler = handler
    }

    /// How many operations are watched.
    var count: Int { notifiers.withLock { $0.count } }

    func begin(_ operation: AOperation) {
        let notifier = ReachabilityNotifier(reachability, every: interval) { [weak operation] in
            operation.map { $0.ending == nil } ?? false
        } handler: { [weak operation, handler] connection in
            if let operation { handler(operation, connection) }
        }
        let isNew = notifiers.withLock { notifiers in
            guard notifiers[ObjectIdentifier(operation)] == nil else { return false }
            notifiers[ObjectIdentifier(operation)] = notifier
            return true
        }
        guard isNew else { return }
        // Cancelled on another thread while the start is told, its end may have been told before this.
        if operation.ending != nil { return end(operation) }
        notifier.start()
    }

    func end(_ operation: AOperation) {
        notifiers.withLock { $0.removeValue(forKey: ObjectIdentifier(operation)) }?.stop()
    }
}
