import Scheduling

/// Readers that have read everything there is and wait for more: of the output below a unit, or of one operation's
/// partial results. Pure.
struct ReadWaits<Reader> {
    /// What somebody waits for.
    enum Topic: Hashable {
        /// The partial results of this operation, and its next attempt or end.
        case elements(UnitID)
        /// The output of this unit and of everything in it, and its end.
        case output(UnitID)

        var unit: UnitID {
            switch self {
            case .elements(let unit), .output(let unit): unit
            }
        }
    }

    private struct Waiting {
        let peer: PeerID
        let reader: Reader
        /// Boot time after which it is answered in any case.
        let deadline: Int64
    }

    private struct Entry {
        /// How often something has happened.
        var version: UInt64 = 0
        /// Readers that look right now.
        var looking = 0
        var parked: [Waiting] = []
    }

    private var entries: [Topic: Entry] = [:]
    private var bySubmission: [SubmissionNumber: Set<Topic>] = [:]
    private var counts: [PeerID: Int] = [:]

    /// Somebody looks, and will wait if there is nothing: what happens from now on is not missed.
    /// - Returns: what `settle` is to be told.
    mutating func look(at topic: Topic) -> UInt64 {
        bySubmission[topic.unit.submission, default: []].insert(topic)
        entries[topic, default: Entry()].looking += 1
        return entries[topic]?.version ?? 0
    }

    /// The look is over; it has found something.
    mutating func leave(_ topic: Topic) {
        entries[topic]?.looking -= 1
        drop(topic)
    }

    /// The look is over; it has found nothing.
    ///
    /// - Returns: whether it waits now. Otherwise something has happened since, and it is to look again.
    mutating func park(_ reader: Reader, of peer: PeerID, at topic: Topic, since version: UInt64, until deadline: Int64) -> Bool {
        entries[topic]?.looking -= 1
        guard entries[topic]?.version == version else {
            drop(topic)
            return false
        }
        entries[topic]?.parked.append(Waiting(peer: peer, reader: reader, deadline: deadline))
        counts[peer, default: 0] += 1
        return true
    }

    /// How many of this peer wait.
    func count(of peer: PeerID) -> Int { counts[peer] ?? 0 }

    func topics(of submission: SubmissionNumber) -> Set<Topic> { bySubmission[submission] ?? [] }

    /// Something has happened: those who wait for it are to look again.
    mutating func wake(_ topic: Topic) -> [Reader] {
        guard let entry = entries[topic] else { return [] }
        entries[topic]?.version += 1
        entries[topic]?.parked = []
        for waiting in entry.parked { release(waiting.peer) }
        drop(topic)
        return entry.parked.map(\.reader)
    }

    /// Those who have waited long enough.
    mutating func expire(at now: Int64) -> [Reader] {
        var expired: [Reader] = []
        for (topic, entry) in entries where entry.parked.contains(where: { $0.deadline <= now }) {
            for waiting in entry.parked where waiting.deadline <= now {
                release(waiting.peer)
                expired.append(waiting.reader)
            }
            entries[topic]?.parked.removeAll { $0.deadline <= now }
            drop(topic)
        }
        return expired
    }

    /// Nobody is there any more who could be answered.
    /// - Returns: those of this peer that waited.
    mutating func forget(_ peer: PeerID) -> [Reader] {
        guard counts.removeValue(forKey: peer) != nil else { return [] }
        var gone: [Reader] = []
        for (topic, entry) in entries where entry.parked.contains(where: { $0.peer == peer }) {
            gone += entry.parked.filter { $0.peer == peer }.map(\.reader)
            entries[topic]?.parked.removeAll { $0.peer == peer }
            drop(topic)
        }
        return gone
    }

    private mutating func release(_ peer: PeerID) {
        guard let count = counts[peer] else { return }
        counts[peer] = count > 1 ? count - 1 : nil
    }

    /// Forgets a topic that nobody is interested in.
    private mutating func drop(_ topic: Topic) {
        guard let entry = entries[topic], entry.looking <= 0, entry.parked.isEmpty else { return }
        entries[topic] = nil
        bySubmission[topic.unit.submission]?.remove(topic)
        if bySubmission[topic.unit.submission]?.isEmpty == true { bySubmission[topic.unit.submission] = nil }
    }
}
