/// An observer that may hold an operation's end back until it is done, now or later: the asynchronous event before the end.
///
/// ```swift
/// struct Flush: HoldingObserver {
///     func operation(
///         _ operation: AOperation, willFinishWith errors: [AOperationError], finish: @escaping @Sendable () -> Void
///     ) {
///         journal.flush { finish() }
///     }
/// }
/// ```
/// It is told of the ending that the body proposes, before anybody else hears of it, as
/// ``ResultableOperation/willFinish(_:)`` is: not of an operation that was cancelled, whose conditions failed, or that is tried
/// again after this attempt. The end waits for all of them, and for that closure. A cancellation, a timeout or a deadline
/// meanwhile ends the operation without them.
public protocol HoldingObserver: AOperationObserver {
    /// The operation is about to end.
    ///
    /// - Parameters:
    ///   - errors: with which it is to fail; empty on success. The first leads.
    ///   - finish: lets the end go; on any thread, only the first call counts. Without it the operation does not end.
    func operation(
        _ operation: AOperation, willFinishWith errors: [AOperationError], finish: @escaping @Sendable () -> Void)
}

/// What one of those that hold an end back is told with.
typealias HoldListener = (_ finish: @escaping @Sendable () -> Void) -> Void

/// Waits for several that hold an end back.
final class Holds: Sendable {
    private let open: Guarded<Set<Int>>
    private let letGo: @Sendable () -> Void

    private init(_ count: Int, letGo: @escaping @Sendable () -> Void) {
        open = Guarded(Set(0..<count))
        self.letGo = letGo
    }

    /// Tells all of them, in order, and calls `letGo` when each of them has let go: at once if there are none.
    static func tell(_ listeners: [HoldListener], letGo: @escaping @Sendable () -> Void) {
        guard !listeners.isEmpty else { return letGo() }
        let holds = Holds(listeners.count, letGo: letGo)
        for (number, listener) in listeners.enumerated() { listener { holds.end(number) } }
    }

    private func end(_ number: Int) {
        let isLast = open.withLock { $0.remove(number) != nil && $0.isEmpty }
        if isLast { letGo() }
    }
}
