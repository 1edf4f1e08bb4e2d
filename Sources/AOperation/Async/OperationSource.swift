import Foundation

/// The operations of a pipeline that may need several of a kind, one after another: the given one first, then fresh
/// ones, made by `new()` and configured as the given one was when the pipeline was made.
///
/// A fresh one has the conditions, observers, start and produce listeners, name, priorities, grace, time limits and retry
/// policy of the given one, in place of those that `new()` gave it. The `didFinish` and `willFinish` closures, the delegate and the
/// dependencies stay with the given one.
package final class OperationSource<Operation: AOperation>: Sendable {
    private let given: Operation
    private let configuration: Configuration
    private let first: First
    private let isTaken = Guarded(false)

    /// When the given operation is the first one.
    package enum First: Sendable {
        /// In any case: if it is in a queue already, it is only waited for.
        case always
        /// As long as it may still be configured.
        case ifUnused
    }

    package init(_ given: Operation, first: First) {
        self.given = given
        self.first = first
        configuration = Configuration(of: given)
    }

    /// The next operation to run.
    ///
    /// - Throws: ``AOperationError/IsNotRetryable`` when a fresh one is needed and the given one cannot make it.
    package func next() throws(AOperationError) -> Operation {
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        switch first {
        case .always: if isFirst { return given }
        case .ifUnused: if isFirst, given.isInitialized { return given }
        }
        guard let fresh = (given as? any RetryableOperation)?.new() as? Operation else {
            throw AOperationError(
                AOperationError.IsNotRetryable(given), state: .execution, publisher: given.publisherName)
        }
        configuration.apply(to: fresh)
        return fresh
    }
}

/// What a fresh operation takes over from the one it stands for.
///
/// Invariant behind `@unchecked Sendable`: constant; what it holds is shared by operations in any case.
private struct Configuration: @unchecked Sendable {
    let name: String?
    let quality: QualityOfService
    let priority: Foundation.Operation.QueuePriority
    let grace: Duration?
    let conditions: [any AOperationCondition]
    let observers: [any AOperationObserver]
    let attemptObservers: [any AttemptObserver]
    let holders: [any HoldingObserver]
    let timeLimits: TimeLimits
    let retryDecider: RetryDecider?
    let retryPolicy: RetryPolicy?
    let startHandlers: [@Sendable () -> Void]
    let produceHandlers: [@Sendable (Foundation.Operation) -> Void]

    init(of operation: AOperation) {
        name = operation.name
        quality = operation.qualityOfService
        priority = operation.queuePriority
        let core = operation.core.withLock { $0 }
        (grace, timeLimits, conditions) = (core.grace, core.timeLimits, core.conditions)
        (observers, attemptObservers) = (core.observers, core.attemptObservers)
        holders = operation.core.withLock { _ in operation.holders }
        (retryDecider, retryPolicy) = (core.retryDecider, core.attachments?.retryPolicy)
        (startHandlers, produceHandlers) = (core.startHandlers, core.produceHandlers)
    }

    func apply(to operation: AOperation) {
        operation.name = name
        operation.qualityOfService = quality
        operation.queuePriority = priority
        operation.replaceSettings { core in
            core.grace = grace
            core.conditions = conditions
            core.observers = observers
            core.attemptObservers = attemptObservers
            core.timeLimits = timeLimits.anew
            core.retryDecider = retryDecider
            core.startHandlers = startHandlers
            core.produceHandlers = produceHandlers
        }
        let replaced = operation.core.withLock { _ in
            defer { operation.holders = holders }
            return operation.holders
        }
        withExtendedLifetime(replaced) {}  // released outside of the lock
        if let retryPolicy { operation.withAttachments { $0.retryPolicy = retryPolicy } }
    }
}

extension AOperationError {
    /// A second operation was needed for one that cannot be made anew.
    public struct IsNotRetryable: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation.
        public let operation: String

        public init(_ operation: AOperation) {
            self.init(operation: operation.publisherName)
        }

        /// For an operation of another process.
        public init(operation: String) {
            self.operation = operation
        }

        public var errorDescription: String? {
            "The Operation \(operation) was needed a second time, and cannot be made anew. "
                + "Let it conform to RetryableOperation, or use it once"
        }
    }
}
