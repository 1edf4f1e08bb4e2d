/// How far a running operation has come, as it says itself.
public struct Progress: Hashable, Sendable {
    /// From 0 to 1.
    public var fraction: Double
    /// What is being done, in words for a person.
    public var message: String?
    /// Milliseconds since 1970, by the worker's clock.
    public var at: Int64

    public init(fraction: Double, message: String?, at: Int64) {
        self.fraction = fraction
        self.message = message
        self.at = at
    }
}

extension Scheduler {
    /// Keeps it as long as the attempt is its worker's, and tells those who follow.
    ///
    /// Nothing of this is journaled: a worker says it again when it attaches again.
    mutating func noteProgress(_ peer: PeerID, _ unit: UnitID, _ attempt: Attempt, _ news: Progress) {
        guard let number = workers.number(of: peer), isCurrent(unit, attempt, number) else { return }
        let index = durable.index(of: unit.submission)
        guard !durable.submissions[index].units[unit.index].isEvaluating, progress[unit] != news else { return }
        progress[unit] = news
        noteChange(unit, at: now.wall, errors: [], progress: news)
    }

    /// Keeps why what the attempt sends is not taken, for those who look.
    mutating func noteHeldBack(_ peer: PeerID, _ unit: UnitID, _ attempt: Attempt, _ reason: String?) {
        guard let number = workers.number(of: peer), isCurrent(unit, attempt, number) else { return }
        heldBack[unit] = reason
    }

    /// Keeps why the value of an attempt that has ended is not taken, for those who look.
    mutating func noteValueWaits(_ peer: PeerID, _ unit: UnitID, _ attempt: Attempt, _ reason: String?) {
        guard let number = workers.number(of: peer), isCurrent(unit, attempt, number) else { return }
        waitingValues[unit] = reason
    }
}
