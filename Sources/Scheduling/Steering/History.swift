/// A stage of the way on which an attempt was stopped, or that one was lost.
public struct HistoryEntry: Hashable, Sendable {
    /// The raw values are those of JSON.
    public enum Event: String, Hashable, Sendable {
        /// It is to stop, and that is durable.
        case requested
        /// Its executor knows.
        case delivered
        /// It was told, and ends.
        case stopping
        /// Its executor has ended it by force.
        case killed
        /// It has not ended in its grace, and only the end of its process ends it. Shown, and never kept: see `OverdueAttempt`.
        case overdue
        /// Nothing of it runs any more.
        case stopped
        /// Its end is durable.
        case acknowledged
        /// A lock that it held was released under it.
        case fenced
        /// Something came of it after that.
        case lateResultRefused
        /// Its worker was lost with it.
        case lost
    }
    /// Wall-clock milliseconds since 1970.
    public var at: Int64
    public var event: Event
    public var text: String

    public init(at: Int64, event: Event, text: String) {
        self.at = at
        self.event = event
        self.text = text
    }
}

/// Stopping what runs is a protocol, and its stages are kept for those who look. What has not begun ends at once.
extension Submission {
    /// Somebody or something wants the unit's attempt to stop.
    mutating func noteStopRequest(of unit: Int, _ reason: Unit.Stop, isFirst: Bool, at: Int64) {
        if isFirst { histories[Int32(unit)]?.removeAll { $0.event != .lost } }
        var text = requestText(of: unit, reason)
        if units[unit].isHurried { text += ", without grace" }
        histories[Int32(unit), default: []].append(HistoryEntry(at: at, event: .requested, text: text))
    }

    /// Why it is to stop.
    func requestText(of unit: Int, _ reason: Unit.Stop) -> String {
        switch reason {
        case .cancelled:
            if let reason = cancelReason(around: unit), !reason.isEmpty { "cancelled: \(reason)" } else { "cancelled" }
        case .siblingFailed: "what it is part of stops"
        case .timedOut: "its timeout passed"
        case .queueTimedOut: "its queue timeout passed"
        case .deadlinePassed: "its deadline passed"
        case .submitterGone: "the process that submitted it is gone"
        case .conditionFailed: "a condition failed"
        case .duplicate: "another one has its unique id"
        case .lockCycle: "its locks would close a circle of waits"
        case .quarantined: "it is kept from workers"
        case .unfit: "it does not fit what workers have registered"
        case .fenced: seizures[Int32(unit)] ?? "a lock that it held was released under it"
        case .streamVoided: "the attempt whose stream it receives is over"
        }
    }

    /// The executor has carried the order out, as far as it can.
    ///
    /// - Parameter since: when it did, by its own clock.
    mutating func noteStop(
        of unit: Int, _ attempt: Attempt, forced: Bool, since: Int64, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        guard case .assigned(attempt, _) = units[unit].phase, units[unit].stop != nil else {
            throw FactMismatch("\(path(of: unit)): attempt \(attempt.rawValue) stops, and was not told to")
        }
        if forced {
            histories[Int32(unit), default: []].append(HistoryEntry(at: since, event: .killed, text: "ended by force"))
        } else {
            histories[Int32(unit), default: []] += [
                HistoryEntry(at: since, event: .delivered, text: "its worker knows"),
                HistoryEntry(at: since, event: .stopping, text: "it was told to end"),
            ]
        }
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    /// The unit's attempt is over; nothing is noted of one that was not stopped.
    ///
    /// - Parameter outcome: nil: it was lost, and nothing of it runs.
    mutating func noteStopped(_ unit: Int, outcome: AttemptOutcome?, at: Int64) {
        guard units[unit].stop != nil, !histories.isEmpty, let stages = histories[Int32(unit)],
            stages.contains(where: { $0.event == .requested })
        else { return }
        if stages.last?.event != .killed {
            let text = outcome == nil ? "nothing of it runs: its worker is lost, or has given it back" : "it has ended"
            histories[Int32(unit), default: []].append(HistoryEntry(at: at, event: .stopped, text: text))
        }
        histories[Int32(unit), default: []].append(
            HistoryEntry(at: at, event: .acknowledged, text: "nothing of this attempt starts or goes on"))
    }

    /// Losses of one unit that are kept: the last ones.
    private static let lossesMax = 20

    /// The unit's attempt, or an evaluation of its conditions, is lost with its worker, and nobody wanted it to stop.
    mutating func noteLoss(of unit: Int, _ cause: LossCause, worker: String, at: Int64) {
        guard units[unit].stop == nil, let why = lossText(of: unit, cause) else { return }
        let what = units[unit].isEvaluating ? "the evaluation of its conditions" : "attempt \(units[unit].attempts)"
        append(loss: "\(what)\(worker.isEmpty ? "" : " on \(worker)"): \(why)", of: unit, at: at)
    }

    /// nil: the attempt had not begun, and was only taken elsewhere.
    func lossText(of unit: Int, _ cause: LossCause) -> String? {
        switch cause {
        case .leaseOver: "its worker was not heard for its lease"
        case .lockLeaseOver:
            "its worker was not heard for the lock lease, by the end of which a worker stops what runs under a lock, or at most once"
        case .orphanLimitOver: "its worker was not heard for the orphan limit, and has stopped everything by then"
        case .crashed, .suspected: "the worker's process died under it"
        case .processEnded: "the worker's process has ended"
        case .neverArrived where isUnderKey(unit):
            "its worker came back without it: it had not come there, or was stopped before the lock lease was over"
        case .neverArrived: "its worker came back without it"
        case .revoked where isUnderKey(unit), .limited where isUnderKey(unit):
            "\(Self.keyText(cause)); the lock lease was waited for, by the end of which it has stopped what runs under a lock"
        case .revoked where isAtMostOnce(unit), .limited where isAtMostOnce(unit):
            "\(Self.keyText(cause)); the lock lease was waited for, by the end of which it has stopped what runs at most once"
        case .revoked, .limited: Self.keyText(cause)
        case .released: nil
        }
    }

    private static func keyText(_ cause: LossCause) -> String {
        cause == .limited ? "its worker's key could not do any more what it needs" : "its worker's key was revoked"
    }

    /// The cause of an earlier loss is known.
    mutating func noteDeath(under unit: Int, isEvaluation: Bool, worker: String, at: Int64) {
        guard units[unit].stop == nil else { return }
        let what = isEvaluation ? "an evaluation of its conditions" : "an attempt"
        append(loss: "\(what) on \(worker), lost before: the worker's process died under it", of: unit, at: at)
    }

    private mutating func append(loss text: String, of unit: Int, at: Int64) {
        var stages = histories[Int32(unit)] ?? []
        if stages.count(where: { $0.event == .lost }) == Self.lossesMax, let first = stages.firstIndex(where: { $0.event == .lost }) {
            stages.remove(at: first)
        }
        stages.append(HistoryEntry(at: at, event: .lost, text: text))
        histories[Int32(unit)] = stages
    }
}

extension Scheduler {
    /// An executor says that it has told the attempt to stop, or has ended it by force.
    mutating func noteStopping(
        _ peer: PeerID, _ unit: UnitID, _ attempt: Attempt, forced: Bool, at: Int64, _ outputs: inout Outputs
    ) {
        guard let number = workers.number(of: peer), isCurrent(unit, attempt, number) else { return }
        let index = durable.index(of: unit.submission)
        let state = durable.submissions[index].units[unit.index]
        guard state.stop != nil else {
            // It stops by itself only what has a timeout.
            guard !forced, durable.submissions[index].watchesTimeout(unit.index) else { return }
            return emit(.attemptTimedOut(unit, attempt, since: wallTime(reported: at), at: now.wall), &outputs)
        }
        guard !state.isEvaluating else { return }
        // After a reconnection it says so again.
        let stages = durable.submissions[index].histories[Int32(unit.index)] ?? []
        guard !stages.contains(where: { $0.event == (forced ? .killed : .stopping) }) else { return }
        emit(.stopBegun(unit, attempt, forced: forced, since: wallTime(reported: at), at: now.wall), &outputs)
    }
}
