import Scheduling
import Wire

/// Readers of output and of partial results: asked of the scheduler first, then of a spool; who finds nothing waits.
///
/// Whoever waits is told of more in this way: the host itself follows the submission, and looks again when something of it
/// has happened or has been stored. So nothing is asked again and again while nothing happens.
extension SpoolHost {
    func begin(_ read: ReadRequest) {
        guard read.waitsUntil == nil || waits.count(of: read.peer) < CoordinatorLimits.waitingReadsPerPeer else {
            return respond(read.request, .failed(WireRequestFailed(.busy, CoordinatorLimits.tooManyReadersText)), to: read.peer)
        }
        look(read)
    }

    private func look(_ read: ReadRequest) {
        guard isThere(read.peer) else { return endWatch(read) }
        ask(read.reading.question(in: read.submission), .read(read), of: read.peer)
    }

    /// The scheduler says what the reader means.
    func found(_ read: ReadRequest, _ reply: Reply) {
        var read = read
        switch (reply, read.reading) {
        case (.located(let number, let id, let units, let ended), .output(_, let after, let limitBytes)):
            read.submission = id
            let unit = UnitID(number, units?.first ?? 0)
            note(&read, .output(unit))
            self.read(
                OutputTicket(read: read, unit: unit, isEnded: ended),
                OutputQuery(submission: number, units: units, after: after, limitBytes: limitBytes))
        case (
            .locatedOperation(let unit, let id, let attempts, let ended, let failures), .elements(_, let attempt, let index, let limitBytes)
        ):
            read.submission = id
            note(&read, .elements(unit))
            // One that was told of an attempt which has given its number back stays there: the next one has that number.
            let number = max(attempts, min(attempt, attempts + 1))
            let from = attempt == number ? index : 0
            self.read(
                ElementTicket(read: read, unit: unit, number: number, isEnded: ended, failures: failures),
                ElementQuery(unit: unit, number: number, from: from, limitBytes: limitBytes, isEnded: ended))
        default:
            endWatch(read)
            respond(read.request, reply.wire, to: read.peer)
        }
    }

    /// What the host is told after this answer is noted, if the reader has come to wait.
    private func note(_ read: inout ReadRequest, _ topic: ReadWaits<ReadRequest>.Topic) {
        if case .watching = read.stage { read.stage = .watching(since: waits.look(at: topic)) }
    }

    /// The reader comes to wait: before it looks again the host follows the submission.
    private func beginWatch(_ read: ReadRequest) {
        watches[read.submission, default: 0] += 1
        var depth = FollowDepth.operations
        // Ends of groups are told to those who want everything.
        if case .output(let path, _, _) = read.reading, !path.isEmpty { depth = .everything }
        askInternally(.follow(submission: read.submission, depth))
    }

    /// The reader waits no more.
    func endWatch(_ read: ReadRequest) {
        guard case .watching = read.stage, let count = watches[read.submission] else { return }
        watches[read.submission] = count > 1 ? count - 1 : nil
        if count == 1 { askInternally(.unfollow(submission: read.submission)) }
    }

    /// No question of `AttemptLabels` has this number.
    private func askInternally(_ request: Request) {
        inputs.append(.request(RequestID(peer: AttemptLabels.asker, number: 0), request))
    }

    // MARK: Pages

    func page(_ ticket: OutputTicket, _ page: OutputPage) {
        let isNews = !page.records.isEmpty || ticket.isEnded
        finish(ticket.read, .output(ticket.unit), isNews: isNews) { host in
            host.respond(ticket.read.request, .output(page.wire(id: ticket.read.submission, isEnded: ticket.isEnded)), to: ticket.read.peer)
        }
    }

    func page(_ ticket: ElementTicket, _ page: ElementPage) {
        guard case .elements(_, let attempt, _, _) = ticket.read.reading else { return }
        let isRestart = attempt != 0 && attempt != ticket.number
        finish(ticket.read, .elements(ticket.unit), isNews: !page.elements.isEmpty || ticket.isEnded || isRestart) { host in
            host.respond(
                ticket.read.request,
                .elements(
                    page.wire(attempt: ticket.number, id: ticket.read.submission, isEnded: ticket.isEnded, failures: ticket.failures)),
                to: ticket.read.peer)
        }
    }

    /// Answers a look that has found something, or whose reader does not wait (any longer); lets others wait.
    private func finish(
        _ read: ReadRequest, _ topic: ReadWaits<ReadRequest>.Topic, isNews: Bool, _ answer: (Self) -> Void
    ) {
        guard isThere(read.peer) else { return leave(read, topic) }
        guard !isNews, let waitsUntil = read.waitsUntil, waitsUntil > now.boot else {
            leave(read, topic)
            return answer(self)
        }
        var again = read
        switch read.stage {
        case .first:
            again.stage = .watching(since: 0)
            beginWatch(again)
            look(again)
        case .watching(let since):
            if waits.park(again, of: read.peer, at: topic, since: since, until: waitsUntil) { return }
            look(again)
        }
    }

    private func leave(_ read: ReadRequest, _ topic: ReadWaits<ReadRequest>.Topic) {
        guard case .watching = read.stage else { return }
        waits.leave(topic)
        endWatch(read)
    }

    func unreadable(_ read: ReadRequest, _ topic: ReadWaits<ReadRequest>.Topic, _ reason: String) {
        leave(read, topic)
        respond(read.request, .failed(WireRequestFailed(.unspecified, reason)), to: read.peer)
    }

    // MARK: Waking

    /// What the scheduler tells the host as a follower, in its order among the answers.
    func noteEvents(_ batch: EventBatch) {
        let number = batch.view.number
        for event in batch.events where event.progress == nil {
            let unit = UnitID(number, event.unit)
            wake(.elements(unit))
            wake(.output(unit))
        }
        if batch.view.finishedAt != 0 { wake(.output(UnitID(number, 0))) }
    }

    func noteOutput(of submissions: Set<SubmissionNumber>) {
        for submission in submissions {
            for topic in waits.topics(of: submission) {
                if case .output = topic { wake(topic) }
            }
        }
    }

    func wake(_ topic: ReadWaits<ReadRequest>.Topic) {
        for read in waits.wake(topic) { look(read) }
    }

    /// Who has waited for long enough looks once more, and is answered.
    func expireWaits() {
        for read in waits.expire(at: now.boot) { look(read) }
    }
}
