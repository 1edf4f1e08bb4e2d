/// What follows from facts, where releases differ: a journal comes to what was decided when it was written, and told.
///
/// A start writes down the newest rules, which hold for what comes behind it: an older release refuses such a journal by that. So there is
/// a new number also for what is only written otherwise. Numbers are never given another meaning.
public enum Rules {
    /// Those of journals that name none.
    public static let first: UInt32 = 0
    /// In an ordered group that stops at the first failure, a member that ends before its turn stops the others when that has come.
    static let stopsInTurn: UInt32 = 1
    /// What a user has cancelled or paused stays so when a group around it begins anew.
    static let keepsSteering: UInt32 = 2
    /// Deaths of processes under a unit are not held against it when a group around it begins anew.
    static let forgivesDeaths: UInt32 = 3
    /// Errors that decisions have added to a group come after those of its failed children, and before what was cancelled.
    static let ordersOwnErrors: UInt32 = 4
    /// As many starts are remembered under a key as the largest count says that a graph named, also before anything starts under that.
    static let remembersNamedCounts: UInt32 = 5
    /// What the operation of a wrapper produces belongs to the group around the wrapper.
    static let producesAroundWrappers: UInt32 = 6
    /// A group that is to end does not ask for its locks any more, while it awaits what was given up in it.
    static let leavesLines: UInt32 = 7
    /// Graphs may say that they are described, which releases before cannot read.
    static let describesGraphs: UInt32 = 8
    /// What becomes active behind something that claims a unique id waits for that.
    static let claimsInOrder: UInt32 = 9
    public static let newest: UInt32 = 9
}

extension Scheduler {
    /// What follows from inputs, where releases differ: who is served first, what is decided, what is told. To be raised whenever the same
    /// inputs come to other facts or messages than before, also under the same ``Rules``: a recording is replayed by its own number only.
    ///
    /// Journals know nothing of it: their facts say what was decided.
    public static let decisionsVersion: UInt32 = 9
}
