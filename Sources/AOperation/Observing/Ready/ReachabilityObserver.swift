import Foundation

/// Tells how an operation's connection changes while it is executed.
///
/// ```swift
/// download.didChangeReachability { operation, connection in
///     if connection == .none { operation.cancel() }
/// }
/// ```
/// The handler is told the state at the start, once, and then each change; it is never called after the operation has
/// finished. It is looked once a second. An observer may be added to several operations.
public struct ReachabilityObserver: AOperationObserver, Sendable {
    private let watches: ReachabilityWatches

    /// - Parameters:
    ///   - url: what is to be reached, see ``Reachability``; nil, the default, for the network.
    ///   - handler: called on any thread, one call at a time for each operation. The end of the operation waits for a
    ///     call that is under way: return soon.
    public init(
        url: URL? = nil, handler: @escaping @Sendable (_ operation: AOperation, _ connection: Connection) -> Void
    ) {
        self.init(Reachability(url: url), handler: handler)
    }

    init(
        _ reachability: Reachability, every interval: Duration = .seconds(1),
        handler: @escaping @Sendable (AOperation, Connection) -> Void
    ) {
        watches = ReachabilityWatches(reachability, every: interval, handler: handler)
    }

    public func operationDidStart(_ operation: AOperation) {
        watches.begin(operation)
    }

    public func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) {
        watches.end(operation)
    }
}

extension AOperation {
    /// Calls `handler` with the connection at the start of the operation, and whenever it changes until the operation
    /// has finished. See ``ReachabilityObserver``.
    ///
    /// - Parameter url: what is to be reached; nil, the default, for the network.
    @discardableResult
    public final func didChangeReachability(
        of url: URL? = nil, handler: @escaping @Sendable (_ operation: AOperation, _ connection: Connection) -> Void
    ) -> Self {
        observers(ReachabilityObserver(url: url, handler: handler))
    }
}
