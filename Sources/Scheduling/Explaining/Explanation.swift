/// Why a unit waits, or why it ended as it did.
public struct Explanation: Hashable, Sendable {
    /// The submission's whole id.
    public var submission: String
    public var unit: Int
    /// Empty: the submission as a whole.
    public var path: String
    public var kind: OperationView.Kind
    public var type: String
    public var state: OperationState
    /// Since when it is in that state: wall time; 0: not known.
    public var since: Int64
    /// Everything that is in its way; the nearest first.
    public var blockers: [Blocker]
    /// More of them than fit.
    public var moreBlockers: Int
    /// Of what has failed or was cancelled: what that came from, to where it was born.
    public var causes: [Cause]
    /// By time.
    public var history: [ExplainedEvent]
    /// Of a group: those in it that wait, by what they wait for.
    public var inside: [WaitingUnits]
    /// Of a group: more of them, that wait for something else.
    public var moreInside: Int
    /// Of a group: there is more in it than was looked at.
    public var isInsidePartial: Bool
    /// Of the submission as a whole.
    public var view: SubmissionView?
    /// When that was so: wall time.
    public var at: Int64
}

/// One step from an end to what it came from.
public struct Cause: Hashable, Sendable {
    /// What the unit that stands here was for the one before it. The first one is explained itself; `itself` behind another one: the same
    /// unit once more, by another of its conditions.
    public enum Link: String, Hashable, Sendable {
        case itself
        /// It delivers to the one before.
        case producer
        /// The one before waits for it.
        case dependency
        /// It is in the one before, a group.
        case child
        /// It is beside the one before, in a group that stops at the first failure.
        case sibling
        /// The one before is in it.
        case group
        /// It is done for a condition of the one before.
        case preparation
        /// It has the unique id of the one before.
        case duplicate
    }
    public var unit: UnitID
    /// Submission and path.
    public var operation: String
    public var link: Link
    /// Wall time; 0: it has not ended.
    public var at: Int64
    /// In words, why it ended so.
    public var text: String
    public var failure: Failure?
    /// The condition that failed it.
    public var condition: ConditionView?
    /// How many attempts of it began, or may have; 0: it has written nothing.
    public var attempts = 0
}

/// Something that has happened to a unit, as far as the state still knows.
public struct ExplainedEvent: Hashable, Sendable {
    /// Wall time.
    public var at: Int64
    public var event: String
    public var text: String
}

/// Units that wait for the same.
public struct WaitingUnits: Hashable, Sendable {
    public var kind: Blocker.Kind
    /// What that is.
    public var text: String
    public var count: Int
    /// The paths of the first of them.
    public var operations: [String]

    /// So many are named.
    public static let namedMax = 3
}
