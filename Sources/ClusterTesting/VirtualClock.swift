import Foundation
import Synchronization

/// A clock that stands still while anything runs, and then jumps to the next moment that somebody waits for.
///
/// Bodies on an ``InMemoryCluster`` wait through it: `try await clock.sleep(for: .seconds(30))` takes no time.
public final class VirtualClock: Clock, Sendable {
    public struct Instant: InstantProtocol {
        /// Since the cluster was made.
        public let elapsed: Duration

        public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
        public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
        public static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
    }

    private struct Sleeper {
        var due: Instant
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Instant(elapsed: .zero)
        /// In the order in which they began to wait.
        var sleepers: [UInt64: Sleeper] = [:]
        var next: UInt64 = 0
        var cancelled: Set<UInt64> = []
        var whenSleeping: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    init() {}

    public var now: Instant { state.withLock { $0.now } }

    public var minimumResolution: Duration { .milliseconds(1) }

    /// Waits until the clock shows `deadline`, at once if it does.
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let isDue = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: Bool? = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return false }
                    if deadline <= state.now { return true }
                    state.sleepers[number] = Sleeper(due: deadline, continuation: continuation)
                    return nil
                }
                if let known { return continuation.resume(returning: known) }
                state.withLock { $0.whenSleeping }?()
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.continuation.resume(returning: false)
        }
        _ = state.withLock { $0.cancelled.remove(number) }
        if !isDue { throw CancellationError() }
    }

    // MARK: For the cluster

    /// Calls `handler` whenever somebody has begun to wait.
    func watch(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.whenSleeping = handler } }

    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    var nextDue: Instant? { state.withLock { $0.sleepers.values.map(\.due).min() } }

    /// Shows `instant` from now on. Wakes who has waited for it, the first to wait first.
    func advance(to instant: Instant) {
        let due = state.withLock { state in
            state.now = max(state.now, instant)
            let due = state.sleepers.filter { $0.value.due <= state.now }.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
            for (number, _) in due { state.sleepers[number] = nil }
            return due.map(\.value.continuation)
        }
        for continuation in due { continuation.resume(returning: true) }
    }
}
