/// Counts the operations that use the network, for an indicator that shows whether any does.
///
/// ```swift
/// NetworkObserver.indicator = { isActive in led.set(isActive) }
/// download.addObserver(NetworkObserver())
/// ```
/// The indicator goes on when the first operation with this observer starts, and off one second after the last has
/// finished, so that it does not flicker between two. The count is of the whole process.
public struct NetworkObserver: AOperationObserver, Sendable {
    /// Is told whether operations use the network, on a queue of its own, in order. Nil by default. One that is set
    /// while operations use the network is told so at once.
    public static var indicator: (@Sendable (_ isActive: Bool) -> Void)? {
        get { NetworkActivity.shared.indicator }
        set { NetworkActivity.shared.indicator = newValue }
    }

    private let activity: NetworkActivity

    public init() {
        self.init(activity: .shared)
    }

    init(activity: NetworkActivity) {
        self.activity = activity
    }

    public func operationDidStart(_ operation: AOperation) {
        activity.begin(operation)
        // Cancelled on another thread while the start is told, its end may have been told before this.
        if operation.ending != nil { activity.end(operation) }
    }

    public func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) {
        activity.end(operation)
    }
}
