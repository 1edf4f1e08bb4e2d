/// Where an operation's progress is put up, and its readers look. Only the newest is kept.
final class ProgressBoard: Sendable {
    private let state = Guarded(State())

    private struct State {
        var latest: OperationProgress?
        /// How often something was put up.
        var version = 0
        var isClosed = false
        var readers: [CheckedContinuation<Void, Never>] = []

        mutating func takeReaders() -> [CheckedContinuation<Void, Never>] {
            defer { readers = [] }
            return readers
        }
    }

    var latest: OperationProgress? { state.withLock { $0.latest } }

    /// Puts it up; false when the operation has ended.
    func put(_ progress: OperationProgress) -> Bool {
        let woken = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            guard !state.isClosed else { return nil }
            state.latest = progress
            state.version += 1
            return state.takeReaders()
        }
        for reader in woken ?? [] { reader.resume() }
        return woken != nil
    }

    /// The operation has ended.
    func close() {
        let woken = state.withLock { state in
            state.isClosed = true
            return state.takeReaders()
        }
        for reader in woken { reader.resume() }
    }

    /// What a reader that has seen `version` finds.
    enum Reading {
        case news(OperationProgress, version: Int)
        case nothing
        case end
    }

    func read(after version: Int) -> Reading {
        state.withLock { state in
            if state.version > version, let latest = state.latest { return .news(latest, version: state.version) }
            return state.isClosed ? .end : .nothing
        }
    }

    /// Waits for something newer than `version`, the end, or the cancellation of the task.
    nonisolated(nonsending)
        func wait(after version: Int) async
    {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isPast = state.withLock { state in
                    if state.version > version || state.isClosed { return true }
                    state.readers.append(continuation)
                    return false
                }
                if isPast {
                    continuation.resume()
                } else if Task.isCancelled {
                    wakeAll()
                }
            }
        } onCancel: {
            wakeAll()
        }
    }

    /// Lets all readers look again: cancellations are few, and a reader that was not meant waits on.
    private func wakeAll() {
        for reader in state.withLock({ $0.takeReaders() }) { reader.resume() }
    }
}
