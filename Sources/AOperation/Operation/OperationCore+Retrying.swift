extension OperationCore {
    /// What becomes of an attempt that has failed, or that followed on a failed one.
    enum Decision {
        /// It is tried again after this wait.
        case again(Duration)
        /// Those who receive from it are told; the end of the delivery net decides.
        case provisional
        /// It is the outcome.
        case final
    }

    /// A decision on the attempt that has ended. Returns it if it can be carried out now, with the ending; it is kept
    /// while the attempt's body still runs. A second decision on one attempt is ignored.
    mutating func decide(_ decision: Decision, onAttempt number: Int) -> (Decision, Ending)? {
        guard case .deliberating(let ending, let body) = state, retries == number, self.decision == nil else { return nil }
        switch (decision, body) {
        case (.final, _), (_, .over):
            return (decision, ending)
        case (.again, .running), (.provisional, .running):
            self.decision = decision
            return nil
        }
    }

    /// The body has ended too: what was decided, if something was.
    mutating func takeDecision() -> (Decision, Ending)? {
        guard case .deliberating(let ending, .over) = state, let decision else { return nil }
        self.decision = nil
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

    /// It is tried again. False when something else has decided meanwhile.
    mutating func retry() -> Bool {
        switch state {
        case .deliberating(_, .over), .provisional:
            state = .retrying
            retries += 1
            stopEnding = nil
            return true
        case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .holding, .telling,
            .finished, .ended:
            return false
        }
    }

    /// What stopping an operation leads to.
    enum Stop {
        /// The attempt at hand has failed, its body still runs; whether there is another one is open.
        case deliberating
        /// The outcome is to be decided.
        case decide
        /// Nothing: what was to be stopped is over.
        case nothing
    }

    /// Somebody stops the operation for good, or only the attempt at hand, with this ending.
    mutating func stop(_ ending: Ending, isFinal: Bool, isOpen: Bool) -> Stop {
        guard state.ending == nil, !isCancelRequested, isFinal || stopEnding == nil else { return .nothing }
        switch state {
        case .deliberating, .provisional:
            guard isFinal else { return .nothing }
        case .executing where isOpen && !isFinal:
            stopEnding = ending
            state = .deliberating(ending, .running)
            return .deliberating
        case .initialized, .waiting, .ready, .preparing, .executing, .retrying, .holding, .telling, .finished, .ended:
            break
        }
        stopEnding = ending
        return .decide
    }

    /// What the body's proposal comes to: somebody may have cancelled or stopped it, and not have decided yet.
    func effective(_ proposed: Ending, cancelled: @autoclosure () -> Ending) -> Ending {
        guard case .executing = state, !proposed.isCancelled else { return proposed }
        if isCancelRequested { return cancelled() }
        return stopEnding ?? proposed
    }

    /// Those who receive from it are given the ending. Returns who waits for it, to be told.
    mutating func holdProvisionally() -> [any Waiter]? {
        guard case .deliberating(let ending, .over) = state else { return nil }
        state = .provisional(ending)
        defer { waiters = [] }
        return waiters
    }

    /// The attempt that is an operation of its own has ended with this.
    mutating func attemptEnded(
        _ ending: Ending, body: OperationState.Body, isHeld: Bool, isOpen: Bool, commit: () -> Void
    ) -> Proposal {
        guard case .retrying = state else { return .ignored }
        commit()
        return conclude(ending, body: body, isHeld: isHeld, isOpen: isOpen)
    }
}
