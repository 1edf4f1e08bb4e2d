import Foundation

/// Who is told of an operation in a lane: the queue or group it is a member of, or the operation it is a part of.
protocol LaneHost: AnyObject {
    /// The outcome of a member is decided and its own listeners have been told. The member counts as open until
    /// ``memberEnded(_:)``: whatever is added here is in time.
    func memberSettled(_ operation: Foundation.Operation, errors: [AOperationError])
    /// Outcome and body of a member are over. Nobody who waits for its end has been told.
    func memberLeaves()
    /// It has given its slot back.
    func memberEnded(_ operation: Foundation.Operation)
    /// What was to become a member was cancelled before, and is over.
    func memberHadEnded(_ operation: AOperation)
    /// A member has produced an operation.
    ///
    /// - Parameter id: under which it is there whatever becomes of the member.
    func addProduced(_ operation: Foundation.Operation, id: String?)
    /// A member is about to produce an operation under this id: whether there is none yet. Nil from a host that does not
    /// keep them.
    func claimProduced(_ id: String) -> Bool?
    /// Runs a plain Foundation operation whose turn has come.
    func runPlain(_ operation: Foundation.Operation)
}

extension LaneHost {
    func memberLeaves() {}
    func memberEnded(_ operation: Foundation.Operation) {}
    func memberHadEnded(_ operation: AOperation) {}
    func claimProduced(_ id: String) -> Bool? { nil }
}

/// The place of one operation in a lane.
struct Membership {
    let lane: Lane
    /// Alive as long as it has members; nil for what runs in no queue of ours.
    let host: (any LaneHost)?
    /// Where the lane keeps it.
    let place: Int
    /// Behind which of the lane's barriers it is.
    let epoch: UInt64

    /// Ends the membership.
    func leave(_ operation: Foundation.Operation, wasRunning: Bool, returningSlot: Bool) {
        lane.remove(self, wasRunning: wasRunning, returningSlot: returningSlot)
        host?.memberEnded(operation)
        lane.hostWasTold()
    }
}

/// An operation in a lane.
enum LaneMember {
    case operation(AOperation)
    case plain(PlainMember)

    var operation: Foundation.Operation {
        switch self {
        case .operation(let operation): operation
        case .plain(let member): member.operation
        }
    }

    func cancel() {
        operation.cancel()
        if case .plain(let member) = self { member.hurry() }
    }
}

/// What waits for a slot in a lane.
enum LaneItem {
    case operation(AOperation)
    case plain(PlainMember)
    /// A group's lane that has something to run and needs another slot of the queue.
    case lane(Lane)
}

/// An item together with what a thread for it must be like.
struct ReadyItem {
    let item: LaneItem
    /// Asked of an operation when it becomes ready, outside of any lock.
    let quality: QualityOfService

    init(_ item: LaneItem) {
        self.item = item
        quality =
            switch item {
            case .operation(let operation): operation.qualityOfService
            case .plain, .lane: .default
            }
    }
}
