/// What a step has to say, gathered so that each peer gets one message of a kind.
struct PendingSends {
    var direct: [(to: PeerID, message: Message)] = []
    /// By worker index.
    var acknowledgements: [Int: [AttemptName]] = [:]
    var productReceipts: [Int: [ProductReceipt]] = [:]
    var stops: [Int: [StopOrder]] = [:]
    var dispatches: [Int: [Assignment]] = [:]
    private(set) var events: [SubmissionNumber: [UnitEvent]] = [:]
    /// Submissions whose followers are to see a new view.
    var touched: Set<SubmissionNumber> = []
    /// In the order of their ends.
    var ended: [SubmissionNumber] = []

    mutating func send(_ message: Message, to peer: PeerID) { direct.append((peer, message)) }
    mutating func touch(_ number: SubmissionNumber) { touched.insert(number) }

    /// What is noted of a unit for each of several things that one fact says of it is told once, where it comes to the same.
    mutating func tell(_ event: UnitEvent, of unit: UnitID) {
        if let told = events[unit.submission]?.last, told.unit == event.unit, event.isNoNews(behind: told) { return }
        events[unit.submission, default: []].append(event)
    }
}

extension UnitEvent {
    /// Of ends each counts: its group may have begun anew in between. By which clock it was does not matter: a step is one moment.
    ///
    /// - Parameter told: of the same unit in the same step.
    fileprivate func isNoNews(behind told: UnitEvent) -> Bool {
        switch state {
        case .succeeded, .failed, .cancelled: return false
        case .blocked, .queued, .locking, .evaluating, .running, .paused, .retrying, .stopping: break
        }
        guard state == told.state, errors.isEmpty, progress == nil, added == nil else { return false }
        var same = told
        same.at = at
        return self == same
    }
}

extension Scheduler {
    /// Everything gathered becomes a send, and may be acted upon once every fact up to now is durable.
    ///
    /// Dictionaries are looked up in sorted order, so that the order of sends does not depend on hashing.
    mutating func flushSends(_ outputs: inout Outputs) {
        let after = durable.sequence
        for send in pending.direct { outputs.sends.append(.init(to: send.to, message: send.message, after: after)) }
        for worker in pending.acknowledgements.keys.sorted() {
            guard let peer = workers.sessions[worker].peer, let names = pending.acknowledgements[worker] else { continue }
            outputs.sends.append(.init(to: peer, message: .acknowledge(names), after: after))
        }
        for worker in pending.productReceipts.keys.sorted() {
            guard let peer = workers.sessions[worker].peer, let receipts = pending.productReceipts[worker] else { continue }
            outputs.sends.append(.init(to: peer, message: .productReceipts(receipts), after: after))
        }
        sendStops(after, &outputs) { !$1.contains($0) }
        for worker in pending.dispatches.keys.sorted() {
            guard let peer = workers.sessions[worker].peer, let assignments = pending.dispatches[worker] else { continue }
            outputs.sends.append(.init(to: peer, message: .dispatch(assignments), after: after))
        }
        // What was given out in this step, and is to stop: an executor that does not know of it would start it afterwards.
        sendStops(after, &outputs) { $1.contains($0) }
        for number in pending.touched.sorted() {
            let hasEnded = durable.submissions[durable.index(of: number)].outcome != nil
            let followers = followers.followers(of: number).filter { hasEnded || $0.depth > .end }
            guard !followers.isEmpty else { continue }
            // What follows now is its end, and the last that is told.
            if hasEnded { self.followers.removeAll(of: number) }
            let view = view(of: number)
            let batch = EventBatch(submission: view.id, events: pending.events[number] ?? [], view: view)
            let plain = followers.contains { $0.depth == .operations } ? batch.withoutDetails : batch
            for follower in followers {
                let told: EventBatch
                switch follower.depth {
                case .end: told = EventBatch(submission: view.id, events: [], view: view)
                case .operations: told = plain
                case .everything: told = batch
                }
                outputs.sends.append(.init(to: follower.peer, message: .events(told), after: after))
            }
        }
        answerAtEnd(after, &outputs)
        outputs.ended += pending.ended
        pending = PendingSends()
    }

    /// - Parameter isMeant: of an attempt, and those that are given out to its worker in this step.
    private func sendStops(_ after: JournalSequence, _ outputs: inout Outputs, _ isMeant: (AttemptName, Set<AttemptName>) -> Bool) {
        for worker in pending.stops.keys.sorted() {
            guard let peer = workers.sessions[worker].peer, let orders = pending.stops[worker] else { continue }
            let fresh = Set((pending.dispatches[worker] ?? []).map { AttemptName(unit: $0.unit, attempt: $0.attempt) })
            let meant = orders.filter { isMeant(AttemptName(unit: $0.unit, attempt: $0.attempt), fresh) }
            if !meant.isEmpty { outputs.sends.append(.init(to: peer, message: .stop(meant), after: after)) }
        }
    }

    /// - Parameter progress: it has said how far it has come, and its state has not changed.
    /// - Parameter isNew: it was not in the graph before.
    mutating func noteChange(_ unit: UnitID, at: Int64, errors: [Failure], progress: Progress? = nil, isNew: Bool = false) {
        guard followers.wantOperations(of: unit.submission) else { return }
        pending.touch(unit.submission)
        let submission = durable.index(of: unit.submission)
        // Who decides is shown to nobody, but has its place among the units.
        guard isNew || !durable.submissions[submission].isDecider(unit.index) else { return }
        let isGroup = if case .operation = durable.submissions[submission].node(unit.index).kind { false } else { true }
        let wantsDetails = followers.wantsDetails(of: unit.submission)
        guard !isGroup || wantsDetails else { return }
        let state = durable.submissions[submission].units[unit.index]
        var worker = ""
        if case .assigned(_, let number) = state.phase {
            worker = durable.workers[number.index].identity.name
        } else if state.startedAt > 0, let number = state.lastWorker {
            worker = durable.workers[number.index].identity.name
        }
        var event = UnitEvent(
            unit: unit.index, path: durable.submissions[submission].path(of: unit.index),
            state: operationState(of: unit.index, submission), at: state.hasEnded ? state.finishedAt : at, worker: worker,
            errors: errors, attempt: Int(state.attempts),
            startedAt: state.startedAt, isGroup: isGroup
        )
        event.progress = progress
        event.isStoppedByGroup = state.wasStoppedByGroup
        if state.stop != nil { event.history = durable.submissions[submission].histories[Int32(unit.index)] ?? [] }
        if isNew, wantsDetails { event.added = addedView(of: unit.index, submission) }
        if wantsDetails, !isGroup, case .success(let payload)? = state.outcome { event.value = payload }
        pending.tell(event, of: unit)
    }
}

extension EventBatch {
    /// For those who follow without details.
    fileprivate var withoutDetails: EventBatch {
        var batch = self
        batch.events = events.filter { !$0.isGroup }
        for index in batch.events.indices {
            batch.events[index].value = nil
            batch.events[index].added = nil
        }
        return batch
    }
}

/// Who watches which submission, until that has ended.
struct FollowerTable {
    struct Follower {
        let peer: PeerID
        var depth: FollowDepth
    }

    private var bySubmission: [SubmissionNumber: [Follower]] = [:]
    private var byPeer: [PeerID: Set<SubmissionNumber>] = [:]

    /// How many submissions it follows.
    func count(of peer: PeerID) -> Int { byPeer[peer]?.count ?? 0 }
    func follows(_ peer: PeerID, _ number: SubmissionNumber) -> Bool { bySubmission[number]?.contains { $0.peer == peer } ?? false }
    func followers(of number: SubmissionNumber) -> [Follower] { bySubmission[number] ?? [] }
    func wantOperations(of number: SubmissionNumber) -> Bool { bySubmission[number]?.contains { $0.depth > .end } ?? false }
    func wantsDetails(of number: SubmissionNumber) -> Bool { bySubmission[number]?.contains { $0.depth == .everything } ?? false }

    /// One who follows already may ask for more by following again.
    mutating func add(_ peer: PeerID, to number: SubmissionNumber, _ depth: FollowDepth) {
        if let place = bySubmission[number]?.firstIndex(where: { $0.peer == peer }), let known = bySubmission[number]?[place].depth {
            bySubmission[number]?[place].depth = max(known, depth)
            return
        }
        bySubmission[number, default: []].append(Follower(peer: peer, depth: depth))
        byPeer[peer, default: []].insert(number)
    }

    mutating func remove(_ peer: PeerID, from number: SubmissionNumber) {
        bySubmission[number]?.removeAll { $0.peer == peer }
        if bySubmission[number]?.isEmpty ?? false { bySubmission[number] = nil }
        forget(number, of: peer)
    }

    mutating func removeAll(of number: SubmissionNumber) {
        for follower in bySubmission.removeValue(forKey: number) ?? [] { forget(number, of: follower.peer) }
    }

    private mutating func forget(_ number: SubmissionNumber, of peer: PeerID) {
        byPeer[peer]?.remove(number)
        if byPeer[peer]?.isEmpty ?? false { byPeer[peer] = nil }
    }

    mutating func remove(_ peer: PeerID) {
        for number in byPeer[peer] ?? [] { remove(peer, from: number) }
    }
}
