import Foundation

/// The stretches between the barriers of a lane, by their numbers.
struct LaneEpochs {
    /// A stretch between two barriers. Members of a later one wait until all of the earlier have ended.
    struct Epoch {
        var members = 0
        /// Ready before their epoch has begun.
        var early: [(ReadyItem, Foundation.Operation.QueuePriority)] = []
        /// Runs when the members before this epoch have ended; nil once it has run.
        var barrier: (@Sendable () -> Void)?
    }

    /// Those in front of `head` are over.
    private var epochs = [Epoch()]
    private var head = 0
    /// The one whose members may run.
    private(set) var first: UInt64 = 0

    /// The one of what is added now.
    var last: UInt64 { first + UInt64(epochs.count - head - 1) }

    subscript(number: UInt64) -> Epoch {
        get { epochs[head + Int(number - first)] }
        _modify { yield &epochs[head + Int(number - first)] }
    }

    mutating func append(barrier: @escaping @Sendable () -> Void) { epochs.append(Epoch(barrier: barrier)) }

    /// The first one is over. Amortised constant time.
    mutating func removeFirst() {
        epochs[head] = Epoch()
        head += 1
        first += 1
        guard head >= 1_024, head * 2 > epochs.count else { return }
        epochs.removeFirst(head)
        head = 0
    }
}
