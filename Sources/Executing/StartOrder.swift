import DequeModule
import Wire

/// Units that wait for a slot, in the order in which they are to begin: the highest priority first; of one priority submissions in turn, and those of
/// one submission as they came.
///
/// What a submission sends one by one does not wait behind all that another has sent ahead. As in fair queueing of packets that are
/// equally long (Nagle, RFC 970): a unit has the turn after that of the one before it of its submission, the next turn at the earliest; lower turns
/// come first. Adding is O(1) while all are of one submission, else O(n) of those that wait.
struct StartOrder {
    /// Whose units come one after another.
    private struct Source: Hashable {
        let submission: String
        let priority: Int32
    }

    private struct Place {
        let key: UnitKey
        let priority: Int32
        let turn: UInt64

        func comes(before priority: Int32, _ turn: UInt64) -> Bool {
            self.priority == priority ? self.turn <= turn : self.priority > priority
        }
    }

    private var places: Deque<Place> = []
    /// Of each priority the turn of what has left last.
    private var left: [Int32: UInt64] = [:]
    /// Of what was added last.
    private var latest = (source: Source(submission: "", priority: 0), turn: UInt64(0))
    /// The last turns of other sources. Those that are over say nothing any more.
    private var turns: [Source: UInt64] = [:]

    /// More last turns than this are looked through for those that are over: at least so many, and twice as many as were left the last time.
    private var turnsMax = Self.turnsMin
    private static let turnsMin = 1_024

    var count: Int { places.count }
    var first: UnitKey? { places.first?.key }

    subscript(index: Int) -> UnitKey { places[index].key }

    /// - Parameter head: so many at the head stay there.
    mutating func add(_ assignment: WireAssignment, behind head: Int) {
        let source = Source(submission: assignment.submission, priority: assignment.priority)
        let turn = nextTurn(of: source)
        if source != latest.source {
            if turns.count >= turnsMax {
                turns = turns.filter { $0.value > left[$0.key.priority, default: 0] }
                turnsMax = max(Self.turnsMin, 2 * turns.count)
            }
            turns[latest.source] = latest.turn
        }
        latest = (source, turn)
        var index = places.count
        while index > head, !places[index - 1].comes(before: source.priority, turn) { index -= 1 }
        places.insert(Place(key: UnitKey(assignment), priority: source.priority, turn: turn), at: index)
    }

    /// Whether it would come before one of so many at the head.
    func precedes(_ head: Int, _ assignment: WireAssignment) -> Bool {
        guard head > 0, head <= places.count else { return false }
        let source = Source(submission: assignment.submission, priority: assignment.priority)
        return !places[head - 1].comes(before: source.priority, nextTurn(of: source))
    }

    mutating func removeFirst() {
        let place = places.removeFirst()
        left[place.priority] = max(left[place.priority, default: 0], place.turn)
        guard places.isEmpty else { return }
        // Nobody is behind anybody: all begin anew.
        turns.removeAll(keepingCapacity: true)
        left.removeAll(keepingCapacity: true)
        latest.turn = 0
    }

    /// Leaves out those that do not wait any more, which else stay until their turn comes. O(n).
    ///
    /// - Parameter head: so many at the head are counted.
    /// - Returns: how many of those are left.
    mutating func compact(head: Int, keeping waits: (UnitKey) -> Bool) -> Int {
        let left = places.prefix(head).count { waits($0.key) }
        places.removeAll { !waits($0.key) }
        return left
    }

    private func nextTurn(of source: Source) -> UInt64 {
        max(left[source.priority, default: 0], source == latest.source ? latest.turn : turns[source] ?? 0) + 1
    }
}
