import Foundation

/// An operation that ends no sooner than a time after it was made, with what it received: what comes before it may use
/// up that time.
///
/// ```swift
/// fetch.deliver(to: RemainedDelayOperation<Data>(2))      // shows the progress for two seconds at least
/// ```
/// It waits for what is left of the time when it is executed, if anything is; otherwise it is a ``DelayOperation``.
public final class RemainedDelayOperation<Output>: DelayOperation<Output>, @unchecked Sendable {
    /// Ends `timeOut` seconds from now, or when it is executed if that is later.
    public init(timeOut: TimeInterval) {
        super.init(delay: .remainder(of: timeOut, since: .now))
    }

    /// Ends `timeOut` seconds from now, or when it is executed if that is later.
    public override convenience init(_ timeOut: TimeInterval) {
        self.init(timeOut: timeOut)
    }
}
