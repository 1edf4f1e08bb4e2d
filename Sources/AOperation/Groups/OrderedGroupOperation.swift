import Foundation

/// A group whose children run one after another, in child order: the next one starts when the previous has ended, its
/// body included. Children that are added later come last.
///
/// By default the order is all that counts, and the next child starts however the previous ended. With
/// `onFailure: .stop` a child that failed or was cancelled is the last one to run.
///
/// ```swift
/// OrderedGroupOperation(Fetch(day: day), Parse(), Publish(), onFailure: .stop).add(to: queue)
/// ```
open class OrderedGroupOperation: GroupOperation, @unchecked Sendable {
    public override init(_ operations: [Foundation.Operation]) {
        super.init(operations)
    }

    public override init(operations: [Foundation.Operation]) {
        super.init(operations)
    }

    final override var isOrdered: Bool { true }

    /// An ordered group of these children: each begins when the one before it has finally ended.
    ///
    /// - Parameter onFailure: whether the rest is cancelled when one has failed or was cancelled.
    public convenience init(_ operations: [Foundation.Operation], onFailure: FailurePolicy) {
        self.init(operations)
        self.onFailure = onFailure
    }

    /// An ordered group of these children: each begins when the one before it has finally ended.
    ///
    /// - Parameter onFailure: whether the rest is cancelled when one has failed or was cancelled.
    public convenience init(_ operations: Foundation.Operation..., onFailure: FailurePolicy) {
        self.init(operations)
        self.onFailure = onFailure
    }
}
