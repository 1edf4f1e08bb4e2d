import Wire

/// A process that has lost what each attempt needs takes no more work: others have it, while there are some, and the one that has its place
/// when it can be started.
extension ExecutorState {
    /// Nothing more can begin here. What runs goes on, the rest is given back, and another process is asked for.
    package mutating func retire(now: Int64, at: Int64) -> [ExecutorAction] {
        guard intake == .open else { return [] }
        intake = .retiring
        return [.askForReplacement] + releaseQueued() + advance(now: now, at: at)
    }

    /// The unit was begun, and nothing of it has run, as this process could not: it is given back as one that was not begun. One that was told
    /// to end has ended.
    ///
    /// - Parameter ending: what it ends with then.
    package mutating func couldNotBegin(
        _ key: UnitKey, _ ending: UnitEnding, endedAt: Int64? = nil, now: Int64, at: Int64
    ) -> [ExecutorAction] {
        guard case .running(let body)? = units[key]?.phase, case .working = body.course else {
            return ended(key, ending, endedAt: endedAt, now: now, at: at)
        }
        running.remove(key)
        return giveBack(key, .released(key, accepting: isAccepting)) + advance(now: now, at: at)
    }
}
