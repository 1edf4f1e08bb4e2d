import Foundation

/// How long to wait from one time to the next: an endless sequence of durations.
///
/// ```swift
/// Array(WaitStrategy.fibonacci(period: 1, maximum: 5).prefix(6))      // 1, 1, 2, 3, 5 and 5 seconds
/// ```
/// All periods are in seconds. A wait is never negative and never longer than ``longest``; what is no number counts as
/// no wait.
public enum WaitStrategy: Sendable, Hashable {
    /// No wait.
    case immediate
    /// The same each time.
    case constant(TimeInterval)
    /// Evenly distributed between both; `minimum` if that is the larger one.
    case random(minimum: TimeInterval, maximum: TimeInterval)
    /// `initial`, and each time `increment` more; a negative one makes it less.
    case incrementing(initial: TimeInterval, increment: TimeInterval)
    /// `period` times 1, 1, 2, 3, 5, and so on, up to `maximum`.
    case fibonacci(period: TimeInterval, maximum: TimeInterval)
    /// `period`, and each time `power` times as long, up to `maximum`.
    case exponential(power: Double, period: TimeInterval, maximum: TimeInterval)

    /// A year: the longest wait there is.
    public static let longest = Duration.seconds(31_536_000)

    /// The waits, with chance from `generator`: the same one gives the same waits.
    public func delays<Generator: RandomNumberGenerator>(using generator: Generator) -> Delays<Generator> {
        Delays(strategy: self, generator: generator)
    }
}

extension WaitStrategy: Sequence {
    /// The waits, with chance from the system.
    public func makeIterator() -> Delays<SystemRandomNumberGenerator> {
        delays(using: SystemRandomNumberGenerator())
    }

    /// The waits of a strategy, one after another; without an end.
    public struct Delays<Generator: RandomNumberGenerator>: Sequence, IteratorProtocol {
        fileprivate let strategy: WaitStrategy
        fileprivate var generator: Generator
        private var index = 0
        /// Of the Fibonacci numbers.
        private var last = 0.0
        private var current = 1.0

        fileprivate init(strategy: WaitStrategy, generator: Generator) {
            self.strategy = strategy
            self.generator = generator
        }

        public mutating func next() -> Duration? {
            defer { advance() }
            let seconds = seconds()
            guard seconds > 0 else { return .zero }  // false also for what is no number
            return Swift.min(.seconds(Swift.min(seconds, WaitStrategy.longest.interval)), WaitStrategy.longest)
        }

        private mutating func seconds() -> TimeInterval {
            switch strategy {
            case .immediate: 0
            case .constant(let seconds): seconds
            case .random(let minimum, let maximum): random(from: minimum, to: maximum)
            case .incrementing(let initial, let increment): initial + increment * Double(index)
            case .fibonacci(let period, let maximum): Swift.min(period * current, maximum)
            case .exponential(let power, let period, let maximum): Swift.min(period * pow(power, Double(index)), maximum)
            }
        }

        private mutating func random(from minimum: TimeInterval, to maximum: TimeInterval) -> TimeInterval {
            guard minimum.isFinite, maximum.isFinite, minimum < maximum else { return minimum }
            return minimum + (maximum - minimum) * Double.random(in: 0...1, using: &generator)
        }

        private mutating func advance() {
            index += 1
            if current.isFinite { (last, current) = (current, last + current) }
        }
    }
}
