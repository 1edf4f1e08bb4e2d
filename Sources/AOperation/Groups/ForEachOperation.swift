import Foundation

/// Makes one operation for each element that it receives, runs all of them, and has their values, in the order of the elements.
///
/// ```swift
/// ListFiles(in: folder)                                    // a ResultableOperation<[String]>
///     .forEach(maxConcurrent: 4) { path in CountWords(path: path) }
///     .deliver(to: Sum())                                  // its Input is [Int]
/// ```
/// How many there are is known only when the producer has ended: this is how a number of operations follows from a result.
/// Without elements it succeeds, with no values. If its producer failed it fails with the producer's error, and makes nothing.
///
/// The operations are children of a group that is a part of this one: they run in the slots of the same queue, and it holds none
/// meanwhile. Whatever delivers to one of them, and is in no queue, runs with them. It ends when all have ended; if any failed
/// or was cancelled, with the errors of all, as a ``GroupOperation`` does. Cancelling it cancels them. Trying it again (``AOperation/retry(_:)``) makes
/// all of them anew, from what it has received; to try a single one again, give that a policy in `child`.
///
/// Invariant behind `@unchecked Sendable`: constant, beside what the wrapper has.
public final class ForEachOperation<Element, ChildOutput>: WrapperOperation<[Element], [ChildOutput]>, RetryableOperation,
    @unchecked Sendable
{
    /// Makes the operation for an element.
    public typealias Child = @Sendable (_ element: Element) -> ResultableOperation<ChildOutput>

    private let plan: ForEachPlan<Element, ChildOutput>

    /// - Parameters:
    ///   - maxConcurrent: how many of the operations may run at once, if the queue has as many slots; unlimited by default (-1).
    ///   - onFailure: what happens when one of them fails or is cancelled.
    ///   - child: makes the operation for an element; called once for each, in order, when this operation is executed.
    public convenience init(
        maxConcurrent: Int = OperationQueue.defaultMaxConcurrentOperationCount, onFailure: FailurePolicy = .continue,
        child: @escaping Child
    ) {
        self.init(ForEachPlan(maxConcurrent: maxConcurrent, onFailure: onFailure, child: child))
    }

    private init(_ plan: ForEachPlan<Element, ChildOutput>) {
        self.plan = plan
        super.init { received in plan.operation(for: received) }
    }

    public func new() -> Self { Self(plan) }
}

/// What is to be done for each element.
private struct ForEachPlan<Element, ChildOutput>: Sendable {
    let maxConcurrent: Int
    let onFailure: FailurePolicy
    let child: ForEachOperation<Element, ChildOutput>.Child

    /// What ends with all values.
    func operation(for received: Result<[Element], AOperationError>?) -> ResultableOperation<[ChildOutput]> {
        switch received {
        case nil: return Failure { .receivedValueIsNil(in: $0) }
        case .failure(let error): return Failure { _ in error }
        case .success(let elements):
            let children = elements.map(child)
            let group = GroupOperation(children)
            group.maxConcurrentOperationCount = maxConcurrent
            group.onFailure = onFailure
            return group.deliver(to: GatherValues(of: children, in: group))
        }
    }

    /// Fails: there is nothing to be done.
    private final class Failure: ResultableOperation<[ChildOutput]>, @unchecked Sendable {
        private let error: (AOperation) -> AOperationError

        init(_ error: @escaping (AOperation) -> AOperationError) {
            self.error = error
            super.init()
            name = "ForEachOperation"
        }

        override func execute() { finish(with: .failure(error(self))) }
    }
}

/// Has the values of a group's children, or the errors with which the group failed.
///
/// Invariant behind `@unchecked Sendable`: constant, but for `receivedValue`, which is set before it runs and read while it does.
private final class GatherValues<ChildOutput>: ResultableOperation<[ChildOutput]>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<GroupOutcomes, AOperationError>?
    /// Among the group's children there is also what delivers to these.
    private let children: [ResultableOperation<ChildOutput>]
    private let group: GroupOperation

    init(of children: [ResultableOperation<ChildOutput>], in group: GroupOperation) {
        self.children = children
        self.group = group
        super.init()
    }

    override func execute() {
        let errors = group.publishedErrors
        guard errors.isEmpty else { return conclude(with: .failure(errors)) }
        finish(with: .success(children.compactMap { $0.outcome?.value }))
    }
}

extension ResultableOperation {
    /// Makes one operation for each element of this operation's value, when that is there: see ``ForEachOperation``.
    ///
    /// - Parameters:
    ///   - maxConcurrent: how many of the operations may run at once, if the queue has as many slots; unlimited by default (-1).
    ///   - onFailure: what happens when one of them fails or is cancelled.
    ///   - child: makes the operation for an element; called once for each, in order.
    /// - Returns: what receives from this operation, and has the values of all.
    @discardableResult
    public final func forEach<Element, ChildOutput>(
        maxConcurrent: Int = OperationQueue.defaultMaxConcurrentOperationCount, onFailure: FailurePolicy = .continue,
        child: @escaping @Sendable (_ element: Element) -> ResultableOperation<ChildOutput>
    ) -> ForEachOperation<Element, ChildOutput> where Output == [Element] {
        deliver(to: ForEachOperation(maxConcurrent: maxConcurrent, onFailure: onFailure, child: child))
    }
}
