import DequeModule

/// Something that happened to a worker.
public struct WorkerEvent: Hashable, Sendable {
    /// The raw values are those of JSON.
    public enum Kind: String, Hashable, Sendable {
        /// A process that was not known before is there.
        case joined
        /// One that was known is there again.
        case back
        /// It takes nothing new: it is ending, or an operator wants that.
        case draining
        /// An operator lets it take work again.
        case resumed
        /// It is not heard, has died, or is not let in any more.
        case lost
        /// It has ended, as it was told to.
        case left
        /// An operator has it forgotten.
        case removed
    }
    /// Rises with each event, also across starts of the coordinator.
    public var number: UInt64
    /// Wall-clock milliseconds since 1970.
    public var at: Int64
    /// Its name; of what an operator did that under which it was started.
    public var worker: String
    public var kind: Kind
    /// Why, or with what.
    public var text: String
}

/// What happened to workers since the start, for those who look. Volatile: nothing of it is journaled.
struct WorkerLog {
    /// Events that are kept: the last ones.
    static let eventsMax = 1_000

    private(set) var events = Deque<WorkerEvent>()
    private(set) var last: UInt64 = 0

    /// - Parameter epoch: of the start. Whatever another one has noted has a lower number.
    mutating func begin(epoch: UInt32) { last = UInt64(epoch) << 32 }

    @discardableResult
    mutating func note(_ kind: WorkerEvent.Kind, _ worker: String, _ text: String, at: Int64) -> WorkerEvent {
        last += 1
        if events.count == Self.eventsMax { events.removeFirst() }
        let event = WorkerEvent(number: last, at: at, worker: worker, kind: kind, text: text)
        events.append(event)
        return event
    }

    /// Those with a higher number.
    func events(after number: UInt64) -> [WorkerEvent] {
        guard number < last else { return [] }
        return Array(events.suffix(while: { $0.number > number }))
    }
}

extension Deque {
    /// The elements at the end for which it holds.
    fileprivate func suffix(while holds: (Element) -> Bool) -> SubSequence {
        self[(lastIndex { !holds($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}

extension Scheduler {
    /// The number of the last event of a worker.
    public var lastWorkerEvent: UInt64 { workerLog.last }

    /// Processes of submitters are no workers.
    mutating func note(_ kind: WorkerEvent.Kind, _ number: WorkerNumber, _ text: String) {
        let identity = durable.workers[number.index].identity
        guard !identity.isSubmitter else { return }
        tell(.worker(workerLog.note(kind, identity.name, text, at: now.wall)))
    }

    /// What an operator did.
    mutating func note(_ kind: WorkerEvent.Kind, named name: String, by authority: Authority, reason: String = "") {
        let who = authority.principal.isEmpty ? "an operator" : "`\(authority.principal)`"
        tell(.worker(workerLog.note(kind, name, "by \(who)\(reason.isEmpty ? "" : ": \(reason)")", at: now.wall)))
    }
}
