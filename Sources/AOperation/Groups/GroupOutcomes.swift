/// The outcomes of a group's children, in child order.
///
/// Complete when the group has ended; while it runs, children that have not ended are left out. A plain Foundation
/// operation succeeds with `()`, unless it was cancelled.
public struct GroupOutcomes: RandomAccessCollection {
    public typealias Element = OperationOutcome<Any>

    private let outcomes: [OperationOutcome<Any>]

    init(_ outcomes: [OperationOutcome<Any>]) {
        self.outcomes = outcomes
    }

    public var startIndex: Int { outcomes.startIndex }
    public var endIndex: Int { outcomes.endIndex }
    public subscript(position: Int) -> OperationOutcome<Any> { outcomes[position] }
}

/// What a group does when one of its children fails or is cancelled.
public enum FailurePolicy: Sendable, Hashable {
    /// The others go on; the group fails when all have ended.
    case `continue`
    /// All children that have not ended are cancelled; the group fails with the error that caused it.
    case stop
}
