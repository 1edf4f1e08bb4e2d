/// Where an operation's partial results go and its readers find them: a ``PartialResultSpool`` under a lock, with the
/// tasks that wait for it.
final class PartialResultChannel<Element: Sendable>: Sendable {
    typealias ReaderID = PartialResultSpool<Element>.ReaderID

    private let state: Guarded<State>

    fileprivate struct State {
        var spool: PartialResultSpool<Element>
        /// Readers that have read everything there is.
        var readers: [ReaderID: CheckedContinuation<Void, Never>] = [:]
        /// Senders that wait for room, in the order in which they came.
        var senders: [Sender] = []
        var lastSender = 0
    }

    fileprivate struct Sender {
        let id: Int
        let element: Element
        let attempt: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    /// How a reader waits.
    enum Waiting {
        /// Until there is something to read.
        case forMore
        /// The same, or until its task is cancelled and `wake(_:)` is called.
        case forMoreOrCancellation
    }

    init(capacity: Int, keepsRead: Bool = true) {
        state = Guarded(State(spool: PartialResultSpool(capacity: capacity, keepsRead: keepsRead)))
    }

    /// Changes the state, and wakes those for whom the change makes a difference.
    @discardableResult
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = body(&state)
            return (result, state.takeWoken())
        }
        for continuation in woken { continuation.resume() }
        return result
    }

    // MARK: Sending

    /// Sends and does not wait.
    func send(_ element: Element, attempt: Int) {
        change { _ = $0.send(element, attempt: attempt, isForced: true) }
    }

    /// Sends, and waits for room if readers are behind.
    nonisolated(nonsending)
        func sendWaiting(_ element: Element, attempt: Int) async
    {
        if change({ $0.senders.isEmpty && $0.send(element, attempt: attempt, isForced: false) }) { return }
        let id = state.withLock { state in
            state.lastSender += 1
            return state.lastSender
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let sender = Sender(id: id, element: element, attempt: attempt, continuation: continuation)
                change { $0.senders.append(sender) }
                // The handler may have been called before there was anything to hurry.
                if Task.isCancelled { hurry(id) }
            }
        } onCancel: {
            hurry(id)
        }
    }

    /// Lets a waiting sender go on.
    private func hurry(_ id: Int) {
        let continuation = change { state -> CheckedContinuation<Void, Never>? in
            guard let index = state.senders.firstIndex(where: { $0.id == id }) else { return nil }
            let sender = state.senders.remove(at: index)
            _ = state.send(sender.element, attempt: sender.attempt, isForced: true)
            return sender.continuation
        }
        continuation?.resume()
    }

    /// Another attempt begins; returns its number.
    func beginAttempt() -> Int {
        change { $0.spool.beginAttempt() }
    }

    /// The operation has ended.
    func close(_ error: AOperationError?) {
        change { $0.spool.close(error) }
    }

    /// How many elements of the attempt were taken from senders.
    var sentCount: Int { state.withLock { $0.spool.sentCount } }

    // MARK: Reading

    func join() -> ReaderID {
        state.withLock { $0.spool.join() }
    }

    func leave(_ reader: ReaderID) {
        change { $0.spool.leave(reader) }
    }

    func read(_ reader: ReaderID) -> PartialResultSpool<Element>.Reading {
        change { $0.spool.read(reader) }
    }

    /// Waits until there is, or may be, something to read.
    nonisolated(nonsending)
        func wait(_ reader: ReaderID, _ waiting: Waiting) async
    {
        await withCheckedContinuation { continuation in
            change { $0.readers[reader] = continuation }
            // `wake` may have been called before there was anybody to wake.
            if case .forMoreOrCancellation = waiting, Task.isCancelled { wake(reader) }
        }
    }

    /// Lets all waiting readers look again.
    func wakeReaders() {
        let woken = state.withLock { state in
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in woken { reader.resume() }
    }

    /// Lets a waiting reader look again.
    func wake(_ reader: ReaderID) {
        state.withLock { $0.readers.removeValue(forKey: reader) }?.resume()
    }
}

extension PartialResultChannel.State {
    /// Returns whether the element is done with: kept, or ignored.
    fileprivate mutating func send(_ element: Element, attempt: Int, isForced: Bool) -> Bool {
        switch spool.send(element, attempt: attempt, isForced: isForced) {
        case .sent, .ignored: true
        case .full: false
        }
    }

    /// Takes out those who can go on: senders for whom there is room now, and readers for whom there is something.
    fileprivate mutating func takeWoken() -> [CheckedContinuation<Void, Never>] {
        var woken: [CheckedContinuation<Void, Never>] = []
        while let sender = senders.first, send(sender.element, attempt: sender.attempt, isForced: false) {
            senders.removeFirst()
            woken.append(sender.continuation)
        }
        for (reader, continuation) in readers where spool.hasMore(for: reader) {
            readers[reader] = nil
            woken.append(continuation)
        }
        return woken
    }
}
