import Foundation
import Testing

@testable import AOperation

/// Something that happens once and can be awaited by many.
final class Signal: Sendable {
    private let state = Guarded<State>(State())

    private struct State {
        var hasFired = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    var hasFired: Bool { state.withLock { $0.hasFired } }

    func fire() {
        let waiters = state.withLock { state in
            state.hasFired = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isPast = state.withLock { state in
                if !state.hasFired { state.waiters.append(continuation) }
                return state.hasFired
            }
            if isPast { continuation.resume() }
        }
    }
}

/// What happened, in order.
final class Log<Entry: Sendable>: Sendable {
    private let state = Guarded<[Entry]>([])
    var entries: [Entry] { state.withLock { $0 } }
    var count: Int { entries.count }
    func append(_ entry: Entry) { state.withLock { $0.append(entry) } }
}

/// How many are in at once, and the most that ever were.
final class Gauge: Sendable {
    private let state = Guarded((now: 0, most: 0))
    var most: Int { state.withLock { $0.most } }
    func enter() {
        state.withLock { state in
            state.now += 1
            state.most = max(state.most, state.now)
        }
    }
    func leave() { state.withLock { $0.now -= 1 } }
}

extension AOperation {
    /// Waits until outcome and body are over.
    func ended() async {
        await withCheckedContinuation { continuation in onEnd { _ in continuation.resume() } }
    }
}

extension OperationQueue {
    /// Waits until the queue is empty, on a thread that may block.
    func idle() async {
        await onThread { self.waitUntilAllOperationsAreFinished() }
    }
}

/// Runs something that blocks on a thread of its own.
func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            body()
            continuation.resume()
        }
    }
}

/// Everything that was sent to the callback queue before is through.
func callbacksDelivered(_ queue: DispatchQueue = AOperation.callbackQueue) async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
}
