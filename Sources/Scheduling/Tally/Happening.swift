/// What has come about in a step, for those who keep a log. Volatile, and told before the facts of the step are durable.
public enum Happening: Hashable, Sendable {
    /// An operation has ended, or an attempt of it has failed and another one follows.
    case ended(UnitID, Tally.End)
    case worker(WorkerEvent)
    /// The worker's connection has gone: it has until its lease is over.
    case workerSuspected(String)

    /// Which of them somebody wants to know.
    public enum Telling: Sendable {
        case nothing
        /// Of operations the failures, and everything else.
        case failures
        case everything

        fileprivate func includes(_ end: Tally.End) -> Bool {
            switch (self, end) {
            case (.nothing, _), (.failures, .succeeded), (.failures, .cancelled): false
            case (.failures, .failed), (.failures, .retrying), (.everything, _): true
            }
        }
    }
}

extension Scheduler {
    mutating func tell(_ unit: UnitID, _ end: Tally.End) {
        if telling.includes(end) { happenings.append(.ended(unit, end)) }
    }

    mutating func tell(_ happening: Happening) {
        switch telling {
        case .nothing: break
        case .failures, .everything: happenings.append(happening)
        }
    }

    /// An operation as it stands: with what it has ended with, or with what its last attempt failed with. Nil: it is known no more.
    public func operation(_ unit: UnitID) -> EndedOperation? {
        guard durable.holds(unit) else { return nil }
        let index = durable.index(of: unit.submission)
        var operation = endedOperation(unit.index, index)
        if operation?.failure == nil { operation?.failure = durable.submissions[index].lastFailures[Int32(unit.index)] }
        return operation
    }
}
