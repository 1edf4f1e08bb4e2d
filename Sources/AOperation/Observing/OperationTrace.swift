import Foundation

/// When an operation reached its stages.
struct OperationTrace {
    /// The name of the queue it is in, if that has one.
    private(set) var queueName: String?
    private var added: ContinuousClock.Instant?
    /// Its dependencies had ended.
    private var unblocked: ContinuousClock.Instant?
    private var evaluating: ContinuousClock.Instant?
    private var ready: ContinuousClock.Instant?
    private var executed: ContinuousClock.Instant?
    private var finished: ContinuousClock.Instant?
    private var ended: ContinuousClock.Instant?

    /// Notes a stage. Conditions may be evaluated, and slots waited for, several times: from the first time on it is
    /// the conditions' time, until the operation is ready for the last time, or fails because of them.
    mutating func note(_ stage: AOperation.Debugger.Stage, at now: ContinuousClock.Instant, queueName: String?) {
        switch stage {
        case .added: added = now
        case .evaluating: if evaluating == nil { evaluating = now }
        case .ready:
            if unblocked == nil { unblocked = now }
            ready = now
        case .executed: executed = now
        case .finished: finished = now
        case .ended: ended = now
        case .cancelled, .ignored, .withoutBody, .deinitialized: break
        }
        if self.queueName == nil { self.queueName = queueName }
    }

    var timings: OperationTimings {
        var timings = OperationTimings()
        if let added, let unblocked { timings.waiting = unblocked - added }
        if let evaluating {
            let prepared = ready.flatMap { $0 >= evaluating ? $0 : nil } ?? (executed == nil ? finished : nil)
            timings.conditions = prepared.map { $0 - evaluating }
        }
        if let unblocked, let executed { timings.queued = executed - unblocked - (timings.conditions ?? .zero) }
        if let executed, let finished { timings.executing = finished - executed }
        if let executed, let ended { timings.body = ended - executed }
        return timings
    }
}

extension AOperation {
    /// Notes a stage, and returns all that are known by now.
    final func trace(_ stage: Debugger.Stage) -> OperationTrace? {
        if case .deinitialized = stage { return attachment(\.trace) }
        let now = ContinuousClock.now
        let queueName = attachment(\.trace)?.queueName ?? queueName
        return withAttachments { attachments in
            var trace = attachments.trace ?? OperationTrace()
            trace.note(stage, at: now, queueName: queueName)
            attachments.trace = trace
            return trace
        }
    }

    /// The name of the `AOperationQueue` in whose slots the operation runs.
    private var queueName: String? {
        var host = core.withLock { $0.membership?.host }
        while let current = host {
            if let queue = current as? AOperationQueue { return queue.name }
            host = current.outerHost
        }
        return nil
    }
}

extension LaneHost {
    /// The host of an operation that is a host itself.
    fileprivate var outerHost: (any LaneHost)? {
        let operation = self as? AOperation ?? (self as? OperationParts)?.whole
        return operation?.core.withLock { $0.membership?.host }
    }
}
