import Foundation

/// Tries an operation until it succeeds, a number of times at most.
///
/// ```swift
/// RetrySequence(Fetch(url), numberOfRetries: 5, wait: .exponential(power: 2, period: 1, maximum: 30)).add(to: queue)
/// ```
/// The attempts are the steps of the sequence, each with its own outcome. Once one succeeds the sequence has
/// succeeded; else it fails with the errors of all of them. A cancelled attempt is the last one.
///
/// An attempt has what ``RetryableOperation/new()`` gives it: neither listeners nor conditions of the one before. To
/// have a single operation tried again with its listeners told once, see ``AOperation/retry(_:)``; to try a chain,
/// wrap it in a ``WrapperOperation`` that is a ``RetryableOperation``.
///
/// Invariant behind `@unchecked Sendable`: everything is constant.
open class RetrySequence: OperationSequence, @unchecked Sendable {
    private let first: AOperation
    private let numberOfRetries: Int

    /// - Parameters:
    ///   - operation: the first attempt.
    ///   - numberOfRetries: how many attempts there are at most, the first one included; at least 1.
    ///   - wait: how long to wait before the second attempt, the third, and so on; not at all by default.
    public init<Operation: AOperation & RetryableOperation>(
        _ operation: Operation, numberOfRetries: Int, wait: WaitStrategy = .immediate
    ) {
        precondition(numberOfRetries > 0, "numberOfRetries is \(numberOfRetries): it must be 1 or more")
        first = operation
        self.numberOfRetries = numberOfRetries
        super.init(wait: wait)
    }

    public final override func nextOperation(after previous: AOperation?) -> AOperation? {
        guard let previous else { return first }
        guard stepsBegun < numberOfRetries, case .failure = previous.ending else { return nil }
        // One whose type is not known where this is decided stands for what the first one is.
        let attempt = previous is EndedOperation ? first : previous
        return (attempt as? any RetryableOperation)?.new() as? AOperation
    }
}
