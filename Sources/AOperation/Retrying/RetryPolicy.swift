import Foundation

/// When a failed operation is tried again, and after which wait.
///
/// ```swift
/// Fetch(url).retry(RetryPolicy(attempts: 5, backoff: .exponential(.seconds(1)), cap: .seconds(30), jitter: 0.2))
/// ```
/// The operation stays unfinished while it may be tried again: its listeners, dependents, receivers, group and locks
/// wait for the final outcome. A cancelled operation is not tried again.
public struct RetryPolicy: Sendable {
    /// How the wait grows from one attempt to the next.
    public enum Backoff: Sendable, Hashable {
        case none
        /// The same wait each time.
        case constant(Duration)
        /// Once, twice, three times the duration, and so on.
        case linear(Duration)
        /// The duration, then each time `factor` times the last wait.
        case exponential(Duration, factor: Double = 2)
        /// The duration times 1, 1, 2, 3, 5, and so on.
        case fibonacci(Duration)
    }

    /// How often the operation is tried at most, the first time included; at least 1.
    public var attempts: Int
    public var backoff: Backoff
    /// The longest wait; nil for no limit.
    public var cap: Duration?
    /// By which fraction of itself, 0 to 1, a wait is made shorter at random, so that those who failed together do
    /// not come back together.
    public var jitter: Double
    /// Which errors are worth another attempt; all of them by default.
    public var retries: @Sendable (AOperationError) -> Bool { didSet { hasFilter = true } }
    /// Whether the program decides which errors are worth it.
    package private(set) var hasFilter: Bool

    public init(
        attempts: Int, backoff: Backoff = .none, cap: Duration? = nil, jitter: Double = 0,
        retries: (@Sendable (AOperationError) -> Bool)? = nil
    ) {
        self.attempts = max(1, attempts)
        self.backoff = backoff
        self.cap = cap
        self.jitter = min(max(0, jitter), 1)
        self.retries = retries ?? { _ in true }
        hasFilter = retries != nil
    }

    /// Whether all of it can be said in a graph: it asks no closure.
    package var isPortable: Bool { !hasFilter }

    /// The wait before another attempt; nil when there is none.
    ///
    /// - Parameters:
    ///   - failed: how many attempts have failed, 1 or more.
    ///   - random: between 0 and 1; decides the jitter.
    func wait(after failed: Int, error: AOperationError, random: Double) -> Duration? {
        guard failed < attempts, retries(error) else { return nil }
        let longest = min(cap?.inSeconds ?? Self.longestWait, Self.longestWait)
        let seconds = min(backoff.seconds(after: failed), longest)
        let isJittered = jitter > 0 && random > 0
        let left = isJittered ? 1 - min(jitter, 1) * min(random, 1) : 1
        return .seconds(max(0, seconds * left))
    }

    /// A year, in seconds: what an unlimited back-off grows to.
    private static let longestWait = 31_536_000.0
}

extension RetryPolicy.Backoff {
    /// May be infinite; always a number.
    fileprivate func seconds(after failed: Int) -> Double {
        switch self {
        case .none: 0
        case .constant(let duration): duration.inSeconds
        case .linear(let duration): Self.product(duration, Double(failed))
        case .exponential(let duration, let factor): Self.product(duration, pow(max(1, factor), Double(failed - 1)))
        case .fibonacci(let duration): Self.product(duration, Self.fibonacci(failed))
        }
    }

    /// Nothing, however often, is nothing.
    private static func product(_ duration: Duration, _ factor: Double) -> Double {
        duration == .zero ? 0 : duration.inSeconds * factor
    }

    private static func fibonacci(_ index: Int) -> Double {
        var (last, next) = (0.0, 1.0)
        for _ in 0..<index {
            (last, next) = (next, last + next)
            if last == .infinity { break }
        }
        return last
    }
}

extension Duration {
    /// Also for durations of more seconds than a 64-bit number holds.
    fileprivate var inSeconds: Double { self / .seconds(1) }
}
