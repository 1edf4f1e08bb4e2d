/// What a unit succeeded with while the attempt of its producer was not decided.
struct ProvisionalSuccess {
    let payload: Payload
    /// What it has produced for its group.
    let addition: Addition?
    let attempt: Attempt
}

/// Receivers of streams: they run while their producer does.
///
/// A receiver may begin when its producer's attempt has begun, or when the producer has ended. When another attempt of the
/// producer follows, the receiver's is given up, and begins anew when that one has begun. So a success of the receiver does
/// not count before the producer has ended; a failure counts at once.
extension Submission {
    /// The operation whose elements the unit receives, if that has not ended.
    func openStreamProducer(of unit: Int) -> Int? {
        guard layout.streams != nil, let producer = streamProducer(of: unit), !units[producer].hasEnded else { return nil }
        return producer
    }

    private func streamProducer(of unit: Int) -> Int? {
        layout.graph.nodes[Int(units[unit].node)].streamProducer.map { Int(units[unit].base) + Int(layout.offset[$0]) }
    }

    private func streamReceivers(of unit: Int) -> [Int] {
        guard let plan = layout.streams else { return [] }
        return plan.receivers(of: units[unit].node).map { Int(units[unit].base) + Int(layout.offset[Int($0)]) }
    }

    /// Whether the unit cannot start because no attempt of its producer has begun, or not another one yet.
    func lacksStream(_ unit: Int) -> Bool {
        guard layout.streams != nil, let producer = openStreamProducer(of: unit) else { return false }
        return !begunStreams.contains(Int32(producer))
    }

    /// The attempt whose elements the unit's attempt receives.
    func streamSource(of unit: Int) -> StreamSource? {
        guard layout.streams != nil else { return nil }
        return streamProducer(of: unit).map { StreamSource(path: path(of: $0), attemptNumber: Int(units[$0].attempts)) }
    }

    /// Whether somebody waits for the unit's attempt to begin.
    func isStreamAwaited(_ unit: Int) -> Bool {
        guard let plan = layout.streams, !plan.receivers(of: units[unit].node).isEmpty else { return false }
        return !units[unit].isEvaluating && !isConcluding(unit) && !begunStreams.contains(Int32(unit))
    }

    // MARK: The producer

    mutating func beginStream(of unit: Int, _ attempt: Attempt, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard case .assigned(attempt, _) = units[unit].phase, isStreamAwaited(unit) else {
            throw FactMismatch("\(path(of: unit)): attempt \(attempt.rawValue) is said to have begun, and is not the current one")
        }
        begunStreams.insert(Int32(unit))
        // Receivers begin because of it: whoever looks after a restart is told that it runs, before its worker is back and says so.
        if units[unit].startedAt == 0 { units[unit].startedAt = at }
        for receiver in streamReceivers(of: unit) {
            switch units[receiver].phase {
            case .blocked: if isReleased(receiver, byBeginOf: unit) { work.append(.release(Int32(receiver))) }
            case .wanting, .ready, .postponed, .retryWait: if !isPaused(receiver) { goOn(receiver, at, &effects) }
            case .delayed, .held, .paused, .locking, .preparing, .assigned, .provisional, .open, .ended, .lingering, .dropped: break
            }
        }
        settle(at: at, &effects)
    }

    /// Whether the receiver has counted the producer's begin, and not its end or its own turn.
    private func isReleased(_ receiver: Int, byBeginOf producer: Int) -> Bool {
        node(receiver).onlyStreams(from: Int(units[producer].node)) && memberAfter(producer) != receiver
    }

    /// Has a receiver wait outside of a group with few places when its producer, which had begun, is to begin anew: what comes
    /// before that may need the place.
    ///
    /// - Returns: whether it waits.
    mutating func waitsForBegin(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) -> Bool {
        let parent = Int(units[unit].parent)
        guard lacksStream(unit), parent >= 0, maxConcurrent(parent) > 0, let producer = openStreamProducer(of: unit),
            isReleased(unit, byBeginOf: producer)
        else { return false }
        units[unit].phase = .blocked
        units[unit].unmet += 1
        // Its delay is over.
        begunAnew.insert(Int32(unit))
        effects.append(.changed(id(unit), at: at, errors: []))
        return true
    }

    /// The unit's attempt is over and another one follows: what others have received of it is void.
    mutating func voidStream(of unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard !begunStreams.isEmpty, begunStreams.remove(Int32(unit)) != nil else { return }
        for receiver in streamReceivers(of: unit) {
            switch units[receiver].phase {
            case .blocked:
                if isReleased(receiver, byBeginOf: unit) { units[receiver].unmet += 1 }
            case .wanting, .locking, .ready, .postponed:
                giveBackWhilePaused(receiver)
                effects.append(.changed(id(receiver), at: at, errors: []))
            case .assigned:
                // What is asked about its conditions may go on.
                if !units[receiver].isEvaluating, !isConcluding(receiver) { stop(receiver, .streamVoided, at, &effects) }
            // A failure counts at once, whatever its submitter has still to say to it.
            case .provisional where isConcluding(receiver) || isHeldInScope(receiver): break
            case .provisional:
                provisional[Int32(receiver)] = nil
                giveUp(receiver, at, &effects)
            case .delayed, .held, .paused, .preparing, .retryWait, .open, .ended, .lingering, .dropped:
                break
            }
        }
    }

    /// The unit has ended: receivers that have succeeded may end, too.
    ///
    /// - Returns: whether those that wait for its begin have been released.
    mutating func endStream(of unit: Int) -> Bool {
        guard layout.streams != nil else { return false }
        let hadBegun = begunStreams.remove(Int32(unit)) != nil
        for receiver in streamReceivers(of: unit) {
            switch units[receiver].phase {
            case .provisional: work.append(.accept(Int32(receiver)))
            // Those whose producer was not tried again after all.
            case .wanting, .ready, .postponed, .retryWait: if !hadBegun { work.append(.resume(Int32(receiver))) }
            case .blocked, .delayed, .held, .paused, .locking, .preparing, .assigned, .open, .ended, .lingering, .dropped: break
            }
        }
        return hadBegun
    }

    mutating func forgetStream(of unit: Int) {
        if !begunStreams.isEmpty { begunStreams.remove(Int32(unit)) }
        if !provisional.isEmpty { provisional[Int32(unit)] = nil }
    }

    // MARK: The receiver

    /// Its producer has ended: it may start.
    mutating func resumeReceiver(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        switch units[unit].phase {
        case .wanting, .ready, .postponed, .retryWait: if !isPaused(unit) { goOn(unit, at, &effects) }
        case .blocked, .delayed, .held, .paused, .locking, .preparing, .assigned, .provisional, .open, .ended, .lingering, .dropped: break
        }
    }

    /// The unit's attempt was given up: that is no failure, and it begins anew.
    mutating func giveUp(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        units[unit].startedAt = 0
        requeue(unit, at, &effects)
    }

    /// Whether an attempt of the unit has ended with a success that does not count yet.
    func isProvisional(_ outcome: AttemptOutcome, of unit: Int) -> Bool {
        guard units[unit].stop == nil, openStreamProducer(of: unit) != nil else { return false }
        switch outcome {
        case .success, .production: return true
        case .failure, .stopped, .elements, .answers, .decided, .concluded: return false
        }
    }

    mutating func keep(
        _ outcome: AttemptOutcome, of unit: Int, _ attempt: Attempt, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        switch outcome {
        case .success(let payload):
            provisional[Int32(unit)] = ProvisionalSuccess(payload: payload, addition: nil, attempt: attempt)
        case .production(let payload, let addition):
            guard addition.graph.nodes.count > 1 else { throw FactMismatch("\(path(of: unit)) has produced nothing and says it had") }
            provisional[Int32(unit)] = ProvisionalSuccess(payload: payload, addition: addition, attempt: attempt)
        case .failure, .stopped, .elements, .answers, .decided, .concluded:
            throw FactMismatch("\(path(of: unit)): only successes wait for a producer")
        }
        units[unit].phase = .provisional
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    mutating func acceptProvisional(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard case .provisional = units[unit].phase, let success = provisional.removeValue(forKey: Int32(unit)) else { return }
        guard !holdsInScope(unit) else { return holdInScope(unit, .success(success), at, &effects) }
        guard !holdsSuccess(unit) else {
            return holdSuccess(unit, success.payload, success.addition, success.attempt, at, &effects)
        }
        accept(success, of: unit, at, &effects)
    }

    /// A success that was kept counts.
    mutating func accept(_ success: ProvisionalSuccess, of unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        if let addition = success.addition {
            let group = growingGroup(around: unit)
            // It is about to be stopped with its group.
            guard takesMore(group) else { return finish(unit, .cancelled, at, &effects) }
            do throws(FactMismatch) {
                // The names that it was given may have been taken meanwhile.
                try add(named(addition, in: group), by: unit, success.attempt, at: at, &effects)
            } catch {
                preconditionFailure("what \(path(of: unit)) has produced was looked at when it was kept: \(error)")
            }
        }
        finish(unit, .success(success.payload), at, &effects)
    }

    // MARK: Checks

    func streamViolations() -> [String] {
        var found: [String] = []
        for unit in begunStreams.sorted() {
            switch units[Int(unit)].phase {
            case .assigned where !units[Int(unit)].isEvaluating: break
            case .provisional, .lingering: break
            default: found.append("\(id)/\(path(of: Int(unit))): its stream has begun, but no attempt of it runs")
            }
        }
        guard layout.streams != nil else { return found }
        for unit in units.indices where streamProducer(of: unit) != nil {
            let isKept = provisional[Int32(unit)] != nil
            switch units[unit].phase {
            case .provisional:
                if isConcluding(unit) || isHeldInScope(unit) { continue }
                if !isKept || openStreamProducer(of: unit) == nil { found.append("\(id)/\(path(of: unit)): waits for no producer") }
            case .assigned:
                if lacksStream(unit), units[unit].stop == nil, !units[unit].isEvaluating, !isConcluding(unit) {
                    found.append("\(id)/\(path(of: unit)): runs on a stream that is void")
                }
            default:
                if isKept { found.append("\(id)/\(path(of: unit)): keeps a success that it does not wait with") }
            }
        }
        return found
    }
}
