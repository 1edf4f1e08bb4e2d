import DequeModule

/// Units that wait for a slot, in the order in which they are to begin: those of one submission as they came, submissions in turn.
///
/// What a submission sends one by one does not wait behind all that another has sent ahead. As in fair queueing of packets that are
/// equally long (Nagle, RFC 970): a unit has the turn after that of the one before it of its submission, the next turn at the earliest; lower turns
/// come first. Adding is O(1) while all are of one submission, else O(n) of those that wait.
struct StartOrder {
    private struct Place {
        let key: UnitKey
        let turn: UInt64
    }

    private var places: Deque<Place> = []
    /// The turn of what has left last.
    private var turn: UInt64 = 0
    /// Of what was added last.
    private var latest: (submission: String, turn: UInt64) = ("", 0)
    /// The last turns of other submissions. Those that are over say nothing any more.
    private var turns: [String: UInt64] = [:]

    /// More last turns than this are looked through for those that are over.
    private static let turnsMax = 1_024

    var count: Int { places.count }
    var first: UnitKey? { places.first?.key }

    subscript(index: Int) -> UnitKey { places[index].key }

    /// - Parameter head: so many at the head stay there.
    mutating func add(_ key: UnitKey, of submission: String, behind head: Int) {
        let turn = nextTurn(of: submission)
        if submission != latest.submission {
            if turns.count >= Self.turnsMax { turns = turns.filter { $0.value > self.turn } }
            turns[latest.submission] = latest.turn
        }
        latest = (submission, turn)
        var index = places.count
        while index > head, places[index - 1].turn > turn { index -= 1 }
        places.insert(Place(key: key, turn: turn), at: index)
    }

    /// Whether it would come before one of so many at the head.
    func precedes(_ head: Int, of submission: String) -> Bool {
        guard head > 0, head <= places.count else { return false }
        return places[head - 1].turn > nextTurn(of: submission)
    }

    mutating func removeFirst() {
        turn = max(turn, places.removeFirst().turn)
        guard places.isEmpty, !turns.isEmpty else { return }
        turns = [:]
    }

    private func nextTurn(of submission: String) -> UInt64 {
        max(turn, submission == latest.submission ? latest.turn : turns[submission] ?? 0) + 1
    }
}
