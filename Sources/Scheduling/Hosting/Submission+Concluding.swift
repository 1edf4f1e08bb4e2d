/// How a unit is to end when its submitter has had its say.
struct HeldEnd {
    enum Ending {
        case success(ProvisionalSuccess)
        case failure([Failure])
    }

    /// Among the ends of its submission that were held, from 1.
    let number: Int
    let ending: Ending
    /// The body has proposed it: `willFinish` is told of no other end.
    let isByBody: Bool
    /// Why the unit was stopped, if it was.
    let stop: Unit.Stop?
    /// What is left of the unit's own timeout; nil: it has none.
    let timeLeft: Int64?
}

/// Units in whose ends the process has a say that submitted them: `willFinish` holds an end back, `retryOnFailure` decides
/// whether there is another attempt.
///
/// Such a unit has an ending that does not count yet, and is `provisional`: it keeps its locks and its place. It goes to its
/// submitter once more, which is asked what becomes of it. When nobody answers, or nobody is there, the ending counts.
extension Submission {
    /// How long a step of the submitter's process may take: an evaluation, a decision, or what it has to say to an end.
    func stepMilliseconds(_ unit: Int) -> Int64 {
        let node = Int(units[unit].node)
        let limit = layout.graph.nodes[node].hasOptions ? layout.graph.nodes[node].options.hostedTimeoutMilliseconds : 0
        let step = limit == 0 || !isForSubmitter(unit) ? Self.evaluationMilliseconds : limit
        return min(step, heldEnds[Int32(unit)]?.timeLeft ?? .max)
    }

    /// Whether its ending waits for what its submitter says.
    func isConcluding(_ unit: Int) -> Bool { !heldEnds.isEmpty && heldEnds[Int32(unit)] != nil }

    /// Whether a success of the unit waits for its submitter.
    func holdsSuccess(_ unit: Int) -> Bool { say(unit).holds }

    /// Whether a failure does that is not tried again as its node says.
    func holdsFailure(_ unit: Int, isByBody: Bool) -> Bool { mayBeTriedAgain(unit) || (isByBody && say(unit).holds) }

    private func mayBeTriedAgain(_ unit: Int) -> Bool { say(unit).retries && !isAtMostOnce(unit) }

    private func say(_ unit: Int) -> SubmitterSay {
        let node = Int(units[unit].node)
        return layout.graph.nodes[node].hasOptions ? layout.graph.nodes[node].options.say : SubmitterSay()
    }

    func conclusion(of unit: Int) -> ConclusionQuestion? {
        guard let held = heldEnds[Int32(unit)] else { return nil }
        var question = ConclusionQuestion(
            number: held.number, failedAttempts: Int(units[unit].failedAttempts), hasStarted: units[unit].startedAt > 0,
            tellsWillFinish: held.isByBody && say(unit).holds)
        if case .group = node(unit).kind { question.children = children(of: unit).count }
        switch held.ending {
        // The submitter has made it.
        case .success(let success): question.value = node(unit).isHosted ? nil : success.payload
        case .failure(let failures):
            question.failures = failures
            question.asksForRetry = mayBeTriedAgain(unit)
        }
        return question
    }

    // MARK: Steps

    mutating func holdSuccess(
        _ unit: Int, _ payload: Payload, _ addition: Addition?, _ attempt: Attempt, _ at: Int64, _ effects: inout [Effect]
    ) {
        let success = ProvisionalSuccess(payload: payload, addition: addition, attempt: attempt)
        hold(unit, .success(success), isByBody: true, at, &effects)
    }

    mutating func hold(_ unit: Int, _ ending: HeldEnd.Ending, isByBody: Bool, _ at: Int64, _ effects: inout [Effect]) {
        noteNotRunning(unit)
        heldEndCount += 1
        let timeout = node(unit).timeoutMilliseconds
        let taken = units[unit].startedAt == 0 ? 0 : at - units[unit].startedAt
        heldEnds[Int32(unit)] = HeldEnd(
            number: heldEndCount, ending: ending, isByBody: isByBody, stop: units[unit].stop,
            timeLeft: timeout == 0 || !isByBody ? nil : max(1, timeout - taken))
        units[unit].stop = nil
        units[unit].phase = .provisional
        effects.append(.changed(id(unit), at: at, errors: []))
        effects.append(.ready(id(unit)))
    }

    mutating func beginConclusion(_ unit: Int, _ attempt: Attempt, _ worker: WorkerNumber) throws(FactMismatch) {
        guard case .provisional = units[unit].phase else {
            throw FactMismatch("\(path(of: unit)) was given to its submitter twice")
        }
        units[unit].phase = .assigned(attempt, worker)
        units[unit].isHurried = false
    }

    /// The submitter has answered, or has not within its time.
    mutating func endConclusion(_ unit: Int, _ outcome: AttemptOutcome, _ at: Int64, _ effects: inout [Effect]) {
        let limit = stepMilliseconds(unit)
        guard let held = heldEnds.removeValue(forKey: Int32(unit)) else { return }
        switch (units[unit].stop, outcome, held.ending) {
        case (nil, .concluded(let wait?), .failure(let failures)) where mayBeTriedAgain(unit):
            waitForRetry(unit, failures, leading: failures.first, due: at + max(0, wait), at, &effects)
        case (nil, .concluded, _), (.submitterGone?, _, _):
            count(held, of: unit, at, &effects)
        case (nil, _, _), (.timedOut?, _, _):
            guard let left = held.timeLeft, left <= limit else { return count(held, of: unit, at, &effects) }
            units[unit].stop = .timedOut
            finish(unit, .failure([timeoutFailure(unit)]), at, &effects)
        case (_?, _, _):
            finish(unit, stoppedOutcome(unit), at, &effects)
        }
    }

    /// The submitter was lost on the way: it is asked again.
    mutating func loseConclusion(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard units[unit].stop == nil else { return endConclusion(unit, .stopped, at, &effects) }
        units[unit].phase = .provisional
        effects.append(.ready(id(unit)))
    }

    /// Nobody is there to be asked.
    mutating func passOver(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        if let held = heldEnds.removeValue(forKey: Int32(unit)) { count(held, of: unit, at, &effects) }
    }

    private mutating func count(_ held: HeldEnd, of unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        units[unit].stop = held.stop
        switch held.ending {
        case .success(let success): accept(success, of: unit, at, &effects)
        case .failure(let failures): finish(unit, .failure(failures), at, &effects)
        }
    }
}

/// In what ends of a node its submitter has a say.
public struct SubmitterSay: Hashable, Sendable {
    /// Ends that the body proposes are told, and held until that is done.
    public var holds = false
    /// Failures are told, and it decides whether there is another attempt.
    public var retries = false

    public init(holds: Bool = false, retries: Bool = false) {
        self.holds = holds
        self.retries = retries
    }
}

/// What a submitter is asked about an end that does not count yet.
public struct ConclusionQuestion: Hashable, Sendable {
    /// Among those of its submission, from 1: the same number is the same question.
    public var number: Int
    /// How many attempts have failed, this one included.
    public var failedAttempts: Int
    /// Whether an attempt has begun at all.
    public var hasStarted: Bool
    /// Whether `willFinish` is told, if this is the end.
    public var tellsWillFinish: Bool
    /// Whether it decides about another attempt.
    public var asksForRetry = false
    /// Of a success, unless the submitter has it.
    public var value: Payload?
    /// Of a failure. Of a group: its own.
    public var failures: [Failure]?
    /// Of a group: how many it has.
    public var children = 0

    public init(number: Int, failedAttempts: Int, hasStarted: Bool, tellsWillFinish: Bool) {
        self.hasStarted = hasStarted
        self.number = number
        self.failedAttempts = failedAttempts
        self.tellsWillFinish = tellsWillFinish
    }
}

extension Scheduler {
    /// Something else than an answer is the submitter's fault, and no answer.
    func checkedConclusion(_ outcome: AttemptOutcome) -> AttemptOutcome {
        switch outcome {
        case .concluded, .stopped, .failure: outcome
        case .success, .production, .elements, .answers, .decided: .stopped
        }
    }
}

extension Assignment {
    /// Makes it one for the submitter's say.
    mutating func ask(_ question: ConclusionQuestion, within milliseconds: Int64) {
        kind = .conclude
        receivesArray = false
        isAtMostOnce = false
        timeoutMilliseconds = milliseconds
        conclusion = question
    }
}
