import Foundation

/// Runs operations of one kind one after another, until there is none any more, or for a number of times.
///
/// ```swift
/// RepeatOperation(max: 10, wait: .constant(30)) { Poll(server) }.add(to: queue)
/// ```
/// The next one is made when the previous has ended, and starts after a wait, during which no slot is held. As in any
/// group a failure does not keep the others from running, and the group fails with it; with `onFailure: .stop` the
/// first failure is the end. All operations and their outcomes are kept: without `max` its memory grows as long as it
/// goes on.
///
/// Invariant behind `@unchecked Sendable`: `made` is only reached under its lock; `source` is asked for one operation
/// after another, as a sequence is.
open class RepeatOperation: OperationSequence, @unchecked Sendable {
    private let source: AnyIterator<AOperation>
    private let made = Guarded(0)
    private let max: Int

    /// Repeats what a closure makes.
    ///
    /// - Parameters:
    ///   - max: how many there are at most; nil, the default, for no limit.
    ///   - wait: how long to wait before the second one, the third, and so on; not at all by default.
    ///   - generator: where the chance of `wait` comes from; the system's by default.
    ///   - body: makes a new operation each time; nil ends the repetition.
    public convenience init(
        max: Int? = nil, wait: WaitStrategy = .immediate,
        using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        body: @escaping @Sendable () -> AOperation?
    ) {
        self.init(max: max, wait: wait, using: generator, iterator: AnyIterator(body))
    }

    /// Repeats what an iterator makes, until it is exhausted.
    ///
    /// - Parameters:
    ///   - max: how many there are at most; nil, the default, for no limit.
    ///   - wait: how long to wait before the second one, the third, and so on; not at all by default.
    ///   - generator: where the chance of `wait` comes from; the system's by default.
    ///   - iterator: makes a new operation each time; asked by one thread at a time.
    public init<Operations: IteratorProtocol>(
        max: Int? = nil, wait: WaitStrategy = .immediate,
        using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        iterator: sending Operations
    ) where Operations.Element: AOperation {
        var iterator = iterator
        source = AnyIterator { iterator.next() }
        self.max = max ?? .max
        super.init(wait: wait)
        draw(waitsFrom: wait.delays(using: generator))
    }

    /// How many operations there have been.
    public final var count: Int { made.withLock { $0 } }

    public final override func nextOperation(after previous: AOperation?) -> AOperation? {
        guard count < max, let next = source.next() else { return nil }
        made.withLock { $0 += 1 }
        return next
    }

    final override var forgivesSteps: Bool { false }
}
