import Logging

/// How long an operation spent where: see ``AOperation/timings``. A span that was not reached, or is not over yet, is
/// nil.
public struct OperationTimings: Sendable, Hashable {
    /// In a queue or group, until its dependencies had ended.
    public var waiting: Duration?
    /// Until its conditions held and its locks were its own, or it failed because of them; nil without conditions and locks.
    public var conditions: Duration?
    /// The rest, until it was executed: waiting for a slot, before its conditions were looked at and after that.
    public var queued: Duration?
    /// From there until its outcome was decided and told.
    public var executing: Duration?
    /// From its execution until its body was over; longer than ``executing`` if it was cancelled and went on for a
    /// while.
    public var body: Duration?

    /// From the queue to the outcome.
    public var total: Duration? {
        let spans = [waiting, conditions, queued, executing].compactMap(\.self)
        return executing == nil ? nil : spans.reduce(.zero, +)
    }

    var metadata: Logger.Metadata {
        let spans: [(String, Duration?)] = [
            ("waiting", waiting), ("conditions", conditions), ("queued", queued), ("executing", executing), ("body", body),
        ]
        var metadata: Logger.Metadata = [:]
        for case (let key, let duration?) in spans { metadata["\(key)Milliseconds"] = "\(duration.milliseconds)" }
        return metadata
    }
}

extension AOperation {
    /// How long the operation spent where, as far as it has come; nil unless the debugger has a logger, takes or
    /// records timings (see ``Debugger``). An attempt of a retried operation has its own.
    ///
    /// ```swift
    /// AOperation.Debugger.recordsTimings = true
    /// operation.observers(BlockObserver(finishHandler: { operation, _ in print(operation.timings?.queued ?? .zero) }))
    /// ```
    public final var timings: OperationTimings? {
        attachment(\.trace)?.timings
    }
}

extension Duration {
    /// With three places after the point.
    fileprivate var milliseconds: Double {
        (interval * 1_000_000).rounded() / 1_000
    }
}
