import Dispatch
import Synchronization

/// What an operation cannot cost less than while it is brought to a thread of its own: one empty closure, through
/// Dispatch's global queue.
public enum DispatchFloor {
    private static let count = 100_000

    /// Microseconds per closure, the median of `repeats` measurements.
    public static func microseconds(repeats: Int) -> Double {
        (0..<max(1, repeats)).map { _ in measure() }.median ?? 0
    }

    private static func measure() -> Double {
        let countdown = Countdown(count)
        let start = ContinuousClock.now
        for _ in 0..<count { DispatchQueue.global().async { countdown.lower() } }
        countdown.end.wait()
        return secondsSince(start) * 1e6 / Double(count)
    }

    private final class Countdown: Sendable {
        private let left: Atomic<Int>
        let end = DispatchSemaphore(value: 0)

        init(_ count: Int) { left = Atomic(count) }

        func lower() {
            if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { end.signal() }
        }
    }
}
