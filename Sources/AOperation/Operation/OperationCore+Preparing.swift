extension OperationCore {
    /// Whether this preparation is under way, and not given up or followed by another one.
    func isPreparing(_ round: UInt64) -> Bool { self.round == round && state.isPreparing }

    /// Locks are held, conditions hold. Returns whether it must queue for a slot; nil when it is decided otherwise.
    mutating func prepared(_ round: UInt64) -> Bool? {
        guard self.round == round, case .preparing(let isInline) = state else { return nil }
        state = .ready
        isPrepared = true
        return !isInline
    }

    /// The locks that it asks for. False when the preparation is over, or has asked already.
    mutating func ask(for request: LockRequest, in round: UInt64) -> Bool {
        guard isPreparing(round), lockRequest == nil else { return false }
        lockRequest = request
        return true
    }

    /// The round to go on with when `request` has been granted; nil if it is not this operation's any more.
    func round(of request: LockRequest) -> UInt64? {
        lockRequest === request && state.isPreparing ? round : nil
    }

    /// Forgets a request that leads to nothing.
    mutating func forget(_ request: LockRequest) {
        if lockRequest === request { lockRequest = nil }
    }

    /// Back to the line for a slot: it will be prepared anew. Nil when it has no preparation to give up, or one that is
    /// too far: its dependent operations are running. Returns the locks that go back.
    mutating func putBack() -> LockRequest?? {
        switch state {
        case .preparing:
            guard parts.isEmpty else { return nil }
        case .ready:
            guard isPrepared else { return nil }
        case .initialized, .waiting, .executing, .deliberating, .retrying, .provisional, .holding, .telling, .finished,
            .ended:
            return nil
        }
        state = .ready
        return .some(giveUpPreparation())
    }

    mutating func giveUpPreparation() -> LockRequest? {
        isPrepared = false
        round += 1
        defer { lockRequest = nil }
        return lockRequest
    }
}
