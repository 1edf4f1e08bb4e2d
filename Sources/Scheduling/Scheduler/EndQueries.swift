/// Questions for the operations of submissions that go on, which are answered when these have ended.
///
/// Who waits for an end mostly asks for what came of it next: so the answer comes with the end.
struct EndQueries {
    struct Waiting {
        let request: RequestID
        let query: OperationQuery
        let authority: Authority
    }

    /// Of one peer: what waits here is among the requests that it may have waiting.
    static let perPeerMax = 100

    private var bySubmission: [SubmissionNumber: [Waiting]] = [:]
    private var counts: [PeerID: Int] = [:]

    /// - Returns: false: the peer waits for enough of them, and nothing was added.
    mutating func add(_ waiting: Waiting, to number: SubmissionNumber) -> Bool {
        let peer = waiting.request.peer
        guard counts[peer, default: 0] < Self.perPeerMax else { return false }
        counts[peer, default: 0] += 1
        bySubmission[number, default: []].append(waiting)
        return true
    }

    /// Takes out what waits for the end of this one, in the order in which it was asked.
    mutating func take(_ number: SubmissionNumber) -> [Waiting] {
        guard let taken = bySubmission.removeValue(forKey: number) else { return [] }
        for waiting in taken { count(out: waiting.request.peer) }
        return taken
    }

    /// The peer's connection is gone.
    mutating func remove(_ peer: PeerID) {
        guard counts.removeValue(forKey: peer) != nil else { return }
        for (number, waiting) in bySubmission {
            let left = waiting.filter { $0.request.peer != peer }
            bySubmission[number] = left.isEmpty ? nil : left
        }
    }

    private mutating func count(out peer: PeerID) {
        guard let count = counts[peer] else { return }
        counts[peer] = count > 1 ? count - 1 : nil
    }
}

extension Scheduler {
    /// - Returns: whether the question waits: it is found, and what it is about goes on.
    mutating func waitForEnd(_ request: RequestID, _ query: OperationQuery, by authority: Authority) -> Bool {
        guard case .found(let number) = resolve(query.submission, by: authority),
            durable.submissions[durable.index(of: number)].outcome == nil
        else { return false }
        return endQueries.add(.init(request: request, query: query, authority: authority), to: number)
    }

    /// Answers those who have waited for the ends of this step.
    mutating func answerAtEnd(_ after: JournalSequence, _ outputs: inout Outputs) {
        for number in pending.ended {
            for waiting in endQueries.take(number) {
                let reply = operations(waiting.query, of: number, for: waiting.authority)
                outputs.sends.append(.init(to: waiting.request.peer, message: .reply(waiting.request, reply), after: after))
            }
        }
    }
}
