import Foundation

/// The step of a sequence that is under way, with the operations that run for it.
struct SequenceStep {
    /// The operation that the sequence was given.
    let operation: AOperation
    /// What its operations wait for before they start.
    let pause: AOperation?
    /// Those that have not ended.
    private var open: Set<ObjectIdentifier>
    /// Whether not all of them are children of the sequence yet: the step is not over before.
    private var isBeingAdded = true

    init(_ operation: AOperation, members: [AOperation], pause: AOperation?) {
        self.operation = operation
        self.pause = pause
        open = Set(members.map { ObjectIdentifier($0) })
    }

    /// An operation has ended. Returns whether the step is over with that.
    mutating func memberEnded(_ member: Foundation.Operation) -> Bool {
        open.remove(ObjectIdentifier(member)) != nil && isOver
    }

    /// All its operations are children of the sequence now. Returns whether the step is over already.
    mutating func added() -> Bool {
        isBeingAdded = false
        return isOver
    }

    private var isOver: Bool { open.isEmpty && !isBeingAdded }
}
