import Foundation

/// What an operation does for those that receive what it sends.
extension AOperation {
    /// The attempt of this operation, or the one that this is an attempt of, begins.
    final func beginStreams() {
        let operation = logical
        let (links, attempt) = operation.core.withLock { ($0.attachments?.streams ?? [], $0.retries) }
        for link in links { link.begin(attempt) }
    }

    /// It is about to be tried again.
    final func voidStreams() {
        let (links, attempt) = core.withLock { ($0.attachments?.streams ?? [], $0.retries) }
        for link in links { link.void(attempt) }
    }

    /// Its outcome is decided, and whoever reads has been told.
    final func closeStreams() {
        let (links, received) = core.withLock { core -> ([StreamLink], StreamLink?) in
            guard let attachments = core.attachments else { return ([], nil) }
            defer { attachments.streams = [] }
            return (attachments.streams, attachments.stream)
        }
        received?.endReading()
        for link in links { link.close() }
    }
}

/// What a receiver of a stream does.
extension AOperation {
    /// Where it receives from. A mirror's body receives elsewhere.
    final var receivedStream: StreamLink? { attachment(\.stream) }

    final var streamProducer: AOperation? { receivedStream?.producer }

    /// The same, for the operation that decides about the end of an attempt.
    private var judgingStream: StreamLink? {
        core.withLock { core in core.isAttempt || core.attachments?.remote != nil ? nil : core.attachments?.stream }
    }

    /// Whether the stream is a reason not to take an attempt's ending for the outcome.
    final func isStreamOpen(after ending: Ending) -> Bool { judgingStream?.isOpen(after: ending) ?? false }

    final func judgeStream(_ ending: Ending) -> StreamLink.Judgement { judgingStream?.judge(ending) ?? .counts }

    /// A slot is free for an operation that receives a stream.
    final func beginWithStream() -> OperationCore.Start {
        if let stream = receivedStream, !isMirror, !stream.beginReading() {
            waitForStream()
            return .nothing
        }
        return core.withLock { $0.begin(isContainer: isContainer) }
    }

    /// Whether nothing that may take its time is between the operation and its body.
    final var isAboutToExecute: Bool {
        let (isNext, membership) = core.withLock { core in
            switch core.state {
            case .ready: (core.conditions.isEmpty && core.timeLimits.start == nil && !isContainer, core.membership)
            case .executing: (true, nil)
            case .initialized, .waiting, .preparing, .deliberating, .retrying, .provisional, .holding, .telling, .finished, .ended:
                (false, nil)
            }
        }
        guard isNext, let membership else { return isNext }
        return membership.lane.runsAllReady && !membership.lane.hasBarrier(before: membership.epoch)
    }

    /// Waits again, before its start, for the begin of its producer.
    final func waitForStream() {
        guard let link = receivedStream else { return }
        let step = core.withLock { $0.waitOnceMore() }
        guard case .wait(let request) = step else { return }
        if let request { LockTable.shared.release(request) }
        if !link.hold(self) { dependencyEnded() }
        dependencyEnded()
    }

    /// The attempt that is under way is to be given up, because what it receives is void.
    final func giveUpStreamAttempt(_ producer: String) {
        let attempt = core.withLock { $0.attempt } ?? self
        attempt.waitForStream()
        guard attempt.core.withLock({ $0.state.isExecuting }) else { return }
        let error = AOperationError(AOperationError.StreamVoided(producer: producer), state: .execution, publisher: publisherName)
        if attempt === self {
            timeOut(attempt: core.withLock { $0.retries }, with: error)
        } else {
            attempt.timeOut(with: error) { if case .executing = $0 { true } else { false } }
        }
    }
}

extension OperationCore {
    /// Whether it may send to, or receive from, others while it runs. Asked of every operation: most have no attachments.
    var mayStream: Bool {
        guard let attachments else { return isAttempt }
        return isAttempt || attachments.stream != nil || !attachments.streams.isEmpty
    }

    /// One thing more to wait for, unless it is too late: as with another dependency.
    mutating func waitOnceMore() -> Dependence {
        switch state {
        case .waiting(let unmet):
            state = .waiting(unmet: unmet + 2)
            return .wait(nil)
        case .ready, .preparing:
            guard parts.isEmpty else { return .noted }
            state = .waiting(unmet: 2)
            return .wait(giveUpPreparation())
        case .initialized, .executing, .deliberating, .retrying, .provisional, .holding, .telling, .finished, .ended:
            return .noted
        }
    }
}
