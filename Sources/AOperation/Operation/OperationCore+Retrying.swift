extension OperationCore {
    /// What becomes of an attempt that has failed, or that followed on a failed one.
    enum Decision {
        /// It is tried again after this wait.
        case again(Duration)
        /// It does not count, as what it has received is void: there is another one at once.
        case anew
        /// Those who receive from it are told; the end of the delivery net decides.
        case provisional
        /// It is the outcome.
        case final
    }

    /// Where the decision on an attempt stands.
    enum Deliberation {
        /// Nobody has decided yet.
        case open
        /// Decided; to be carried out when the attempt's body has ended.
        case pending(Decision)
        /// Decided, and carried out, or about to be.
        case over
    }

    /// A decision on the attempt that has ended. Returns it if it can be carried out now, with the ending; it is kept
    /// while the attempt's body still runs. A second decision on one attempt is ignored.
    mutating func decide(_ decision: Decision, onAttempt number: Int) -> (Decision, Ending)? {
        guard case .deliberating(let ending, let body) = state, retries == number, case .open = deliberation else {
            return nil
        }
        switch (decision, body) {
        case (.final, _), (_, .over):
            deliberation = .over
            return (decision, ending)
        case (.again, .running), (.anew, .running), (.provisional, .running):
            deliberation = .pending(decision)
            return nil
        }
    }

    /// The body has ended too: what was decided, if something was.
    mutating func takeDecision() -> (Decision, Ending)? {
        guard case .deliberating(let ending, .over) = state, case .pending(let decision) = deliberation else { return nil }
        deliberation = .over
        return (decision, ending)
    }

    /// The attempt's ending is the outcome.
    mutating func accept(isHeld: Bool) -> Proposal {
        switch state {
        case .deliberating(let ending, let body):
            return conclude(ending, body: body, isHeld: isHeld, isOpen: false)
        case .provisional(let ending):
            return conclude(ending, body: .over, isHeld: isHeld, isOpen: false)
        case .initialized, .waiting, .ready, .preparing, .executing, .retrying, .holding, .telling, .finished, .ended:
            return .ignored
        }
    }

    /// It is tried again. Returns how the last attempt ended; nil when something else has decided meanwhile.
    mutating func retry(after attempt: Int) -> Ending? {
        guard retries == attempt else { return nil }
        switch state {
        case .deliberating(let ending, .over), .provisional(let ending):
            state = .retrying
            retries += 1
            isStopped = false
            return ending
        case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .holding, .telling,
            .finished, .ended:
            return nil
        }
    }

    /// What stopping an operation leads to.
    enum Stop {
        /// The attempt at hand has failed, its body still runs; whether there is another one is open.
        case deliberating
        /// It is the outcome.
        case decided
        /// The outcome is to be decided: by a group when its children have ended.
        case decide
        /// It runs elsewhere, and is cancelled there.
        case elsewhere
        /// Nothing: what was to be stopped is over.
        case nothing
    }

    /// Somebody stops the operation for good.
    mutating func stop(_ ending: Ending) -> Stop {
        guard state.ending == nil, verdict == nil, arbiter != .nobody else { return .nothing }
        if arbiter == .elsewhere { return .elsewhere }
        verdict = ending
        isStopped = true
        return .decide
    }

    /// Somebody stops this attempt, unless it is over.
    ///
    /// - Parameters:
    ///   - isOpen: whether it may be tried again.
    ///   - isContainer: whether it waits for those inside of it before it ends.
    mutating func stopAttempt(_ number: Int, _ ending: Ending, isOpen: Bool, isContainer: Bool) -> Stop {
        guard verdict == nil, !isStopped, retries == number, arbiter != .nobody else { return .nothing }
        if arbiter == .elsewhere { return .elsewhere }
        switch state {
        case .executing where isContainer:
            isStopped = true
            return .decide
        case .executing:
            isStopped = true
            isProposedByBody = false
            if case .decided = conclude(ending, body: .running, isHeld: false, isOpen: isOpen) { return .decided }
            return .deliberating
        case .holding:
            isStopped = true
            state = .telling(ending, .over)
            return .decided
        case .initialized, .waiting, .ready, .preparing, .deliberating, .provisional, .retrying, .telling, .finished,
            .ended:
            return .nothing
        }
    }

    /// Those who receive from it are given the ending. Returns who waits for it, to be told.
    mutating func holdProvisionally() -> [any Waiter]? {
        guard case .deliberating(let ending, .over) = state else { return nil }
        state = .provisional(ending)
        return waiters.takeAll()
    }

    /// The attempt that is an operation of its own has ended with this. Nil when something else has decided meanwhile.
    ///
    /// - Parameter isProposedByBody: whether the attempt's body has proposed that.
    mutating func attemptEnded(
        _ ending: Ending, body: OperationState.Body, isProposedByBody: Bool, isHeld: Bool, isOpen: Bool, commit: () -> Void
    ) -> Proposal? {
        guard case .retrying = state else { return nil }
        commit()
        self.isProposedByBody = isProposedByBody
        return conclude(ending, body: body, isHeld: isHeld, isOpen: isOpen)
    }
}
