import Scheduling

/// How people call the attempts that run: their number and path, for what they print.
///
/// Volatile: filled by dispatches, and by asking the scheduler about what a re-attached executor holds.
struct AttemptLabels {
    struct Label {
        let attempt: Attempt
        /// From 1.
        let number: Int
        let path: String
        /// Incarnation of the process that it was given to; nil: it was given out before this coordinator began.
        let holder: UInt64?
    }

    /// In whose name the scheduler is asked; no peer has this number.
    static let asker = PeerID(0)

    var submissionIDs: [SubmissionNumber: String] = [:]
    private var labels: [UnitID: Label] = [:]
    /// Of attempts that have ended, the last ones: output of theirs may come again. Where there are enough new ones the old ones go.
    private var endedLabels: [AttemptName: Label] = [:]
    private var olderLabels: [AttemptName: Label] = [:]
    private var asked: [UInt64: AttemptName] = [:]
    private var nextQuestion: UInt64 = 0

    /// nil: not an attempt that was given out, or not the newest of its unit, or given to another process than `holder`.
    ///
    /// - Parameter holder: nil: that is not looked at.
    func label(_ unit: UnitID, _ attempt: Attempt, of holder: UInt64? = nil) -> Label? {
        guard let label = labels[unit], label.attempt == attempt else { return nil }
        if let holder, let known = label.holder, holder != known { return nil }
        return label
    }

    /// Of an attempt whose end is known, given to `holder`; nil: there is none, it ended long ago, or its submission is forgotten.
    func ended(_ unit: UnitID, _ attempt: Attempt, of holder: UInt64?) -> Label? {
        let name = AttemptName(unit: unit, attempt: attempt)
        guard submissionIDs[unit.submission] != nil, let label = endedLabels[name] ?? olderLabels[name] else { return nil }
        if let holder, let known = label.holder, holder != known { return nil }
        return label
    }

    private mutating func remember(_ unit: UnitID, _ attempt: Attempt) {
        guard let label = labels[unit], label.attempt == attempt else { return }
        if endedLabels.count >= CoordinatorLimits.endedLabels { (olderLabels, endedLabels) = (endedLabels, [:]) }
        endedLabels[AttemptName(unit: unit, attempt: attempt)] = label
    }

    mutating func dispatched(_ assignment: Assignment, to holder: UInt64? = nil) {
        labels[assignment.unit] = Label(
            attempt: assignment.attempt, number: assignment.attemptNumber, path: assignment.path, holder: holder)
    }

    mutating func observe(_ fact: Fact) {
        switch fact {
        case .submitted(let admission): submissionIDs[admission.number] = admission.id
        case .forgotten(let number, _): submissionIDs[number] = nil
        case .attemptEnded(let unit, let attempt, _, _, _, _):
            remember(unit, attempt)
            if labels[unit]?.attempt == attempt { labels[unit] = nil }
        case .attemptLost(let unit, let attempt, _, _, _),
            .lateResultRefused(let unit, let attempt, _), .orphanEnded(let unit, let attempt, _), .strayEnded(let unit, let attempt, _, _):
            if labels[unit]?.attempt == attempt { labels[unit] = nil }
        case .epochStarted, .typesRegistered, .workerMet, .workerEnded, .assigned, .cancelRequested, .timedOut,
            .groupRestarted, .scopeRestarted, .delayEnded, .locksAsked, .locksReturned, .deadlinePassed, .queueTimedOut, .judged,
            .zonesRegistered,
            .offersRegistered, .paused, .resumed, .submitterMissed, .produced, .lockCycleFound, .streamBegun, .signaturesRegistered,
            .quarantineMet, .misfitFound, .quarantineLifted, .preparationDue, .lockSeized, .attemptTimedOut, .stopBegun,
            .outcomesKept, .deathProven, .workerDrained, .workerResumed, .workerRemoved, .attemptStrayed, .linked:
            break
        }
    }

    /// Nothing is taken from these attempts any more.
    mutating func forget(where isFenced: (UnitID, Attempt) -> Bool) {
        labels = labels.filter { !isFenced($0.key, $0.value.attempt) }
        endedLabels = endedLabels.filter { !isFenced($0.key.unit, $0.key.attempt) }
        olderLabels = olderLabels.filter { !isFenced($0.key.unit, $0.key.attempt) }
    }

    /// The question about an attempt that an executor holds from before our start; nil: there is none to ask.
    mutating func question(_ unit: UnitID, _ attempt: Attempt) -> Input? {
        guard label(unit, attempt) == nil, let id = submissionIDs[unit.submission] else { return nil }
        nextQuestion += 1
        asked[nextQuestion] = AttemptName(unit: unit, attempt: attempt)
        return .request(
            RequestID(peer: Self.asker, number: nextQuestion),
            .operations(
                OperationQuery(
                    submission: id, path: "", from: unit.index, limit: 1, withValues: false, failedOnly: false)))
    }

    /// The answer to a question.
    ///
    /// - Parameter isOpen: whether a unit is given out under an attempt. One that was given up may still be held: what it sends is not to be
    ///   taken for what the newest attempt does, under whose number it would be kept.
    mutating func receive(_ message: Message, isOpen: (UnitID, Attempt) -> Bool) {
        guard case .reply(let request, let reply) = message, let name = asked.removeValue(forKey: request.number),
            isOpen(name.unit, name.attempt),
            case .operations(let views, _, _) = reply, let view = views.first, view.unit == name.unit.index,
            // What has ended for us as well was reported before; the newest attempt is the one that counts.
            !view.state.isFinal, labels[name.unit].map({ $0.attempt < name.attempt }) ?? true
        else { return }
        labels[name.unit] = Label(attempt: name.attempt, number: view.attempts, path: view.path, holder: nil)
    }
}

extension Scheduler {
    /// The label of an attempt that was given out before this coordinator began, and is not open any more. What it has stored says its
    /// number, which is 0 here where the unit had several.
    func earlierLabel(_ unit: UnitID, _ attempt: Attempt) -> AttemptLabels.Label? {
        guard attempt.epoch < epoch, !isOpen(unit, under: attempt), !isFenced(unit, attempt), let operation = self.operation(unit)
        else { return nil }
        return AttemptLabels.Label(attempt: attempt, number: operation.attempts == 1 ? 1 : 0, path: operation.path, holder: nil)
    }
}

extension OperationState {
    fileprivate var isFinal: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        case .blocked, .locking, .evaluating, .queued, .running, .stopping, .retrying, .paused: false
        }
    }
}
