import Foundation

/// One reader of an operation's partial results, from before its first element until it is let go.
final class PartialResultReader<Element: Sendable>: Sendable {
    /// What the reader has to do with the operation besides reading.
    enum Role: Sendable {
        /// It only reads.
        case listener
        /// It adds the operation to the queue when it begins to read, and cancels it when it goes.
        case owner(AOperationQueue)
    }

    private let operation: AOperation
    private let role: Role
    private let channel: PartialResultChannel<Element>
    private let id: PartialResultChannel<Element>.ReaderID
    private let hasBegun = Guarded(false)
    private let remote = Guarded(Remote.unknown)

    /// Where the elements come from if the operation runs elsewhere.
    private enum Remote: Sendable {
        /// It has not come to that, as far as is known.
        case unknown
        case open(any RemotePartialResultCursor)
        /// All that was sent there has been read.
        case over
    }

    init(of operation: AOperation, _ channel: PartialResultChannel<Element>, as role: Role) {
        self.operation = operation
        self.channel = channel
        self.role = role
        id = channel.join()
    }

    deinit {
        channel.leave(id)
        switch role {
        case .listener: break
        // Whoever left the loop early is the one who wanted the work.
        case .owner: if hasBegun.withLock({ $0 }), operation.ending == nil { operation.cancel() }
        }
    }

    /// The next event; nil at the end of a success.
    nonisolated(nonsending)
        func next() async throws(AOperationError) -> PartialResultEvent<Element>?
    {
        let reading = await withTaskCancellationHandler {
            begin()
            return await read()
        } onCancel: {
            switch role {
            case .owner: operation.cancel()
            case .listener: channel.wake(id)
            }
        }
        switch reading {
        case .event(let event): return event
        case .end(nil): return nil
        case .end(let error?): throw error
        case .nothing: throw AOperationError(CancellationError())
        }
    }

    var operationName: String { operation.publisherName }

    private func begin() {
        guard case .owner(let queue) = role else { return }
        let isFirst = hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
        if isFirst { operation.add(to: queue) }
    }

    /// Reads, and waits for something to read; `.nothing` only for a listener whose task is cancelled.
    nonisolated(nonsending)
        private func read() async -> PartialResultSpool<Element>.Reading
    {
        while true {
            if let cursor = remoteCursor() {
                if let reading = await read(cursor) { return reading }
                continue
            }
            let reading = channel.read(id)
            guard case .nothing = reading else { return reading }
            switch role {
            case .owner:
                // Its cancelled task has cancelled the operation: the end will come.
                await channel.wait(id, .forMore)
            case .listener:
                if Task.isCancelled { return .nothing }
                await channel.wait(id, .forMoreOrCancellation)
            }
        }
    }
}

/// Operations that run elsewhere.
extension PartialResultReader {
    /// Nil: the elements are here, or all those from there have been read.
    private func remoteCursor() -> (any RemotePartialResultCursor)? {
        switch remote.withLock({ $0 }) {
        case .open(let cursor): return cursor
        case .over: return nil
        case .unknown: break
        }
        guard let cursor = operation.openRemotePartialResults() else { return nil }
        remote.withLock { $0 = .open(cursor) }
        // A reader that leaves early takes its cursor, and what that has read, with it.
        operation.onSettled { [weak cursor] operation, _ in cursor?.operationEnded(operation.publishedErrors.first) }
        return cursor
    }

    /// The next one from there; nil: there is none any more, and the end will be told here.
    nonisolated(nonsending)
        private func read(_ cursor: any RemotePartialResultCursor) async -> PartialResultSpool<Element>.Reading?
    {
        do {
            while true {
                switch cursor.take() {
                case nil: try await cursor.fill()
                case .restarted(let attempt): return .event(.restarted(attempt: attempt))
                case .missed(let count): return .event(.missed(count: count))
                case .element(let value, let attempt, let index):
                    return .event(.element(try value.decoded(), attempt: attempt, index: index))
                case .ended:
                    remote.withLock { $0 = .over }
                    return nil
                }
            }
        } catch {
            if case .listener = role, Task.isCancelled { return .nothing }
            remote.withLock { $0 = .over }
            // Its own error says more, if it has come to its end; so it does when its reader was cancelled.
            if operation.ending != nil || Task.isCancelled { return nil }
            return .end(AOperationError(error, state: .execution, publisher: operation.publisherName))
        }
    }
}

/// The reader that a sequence keeps for its first iterator: the elements sent before that one begins are kept for it.
final class FirstReader<Element: Sendable>: Sendable {
    private let operation: AOperation
    private let channel: PartialResultChannel<Element>
    private let role: PartialResultReader<Element>.Role
    private let first: Guarded<PartialResultReader<Element>?>

    init(of operation: AOperation, _ channel: PartialResultChannel<Element>, as role: PartialResultReader<Element>.Role) {
        self.operation = operation
        self.channel = channel
        self.role = role
        first = Guarded(PartialResultReader(of: operation, channel, as: role))
    }

    /// That reader for the first who asks, a late one for others.
    func take() -> PartialResultReader<Element> {
        let kept = first.withLock { first in
            defer { first = nil }
            return first
        }
        return kept ?? PartialResultReader(of: operation, channel, as: role)
    }
}
