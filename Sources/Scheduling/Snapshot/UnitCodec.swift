/// What of a unit differs from one that waits for its first turn; the others have no byte for it.
private struct UnitFields: OptionSet {
    let rawValue: UInt64
    static let stop = Self(rawValue: 1 << 0)
    static let locksAsked = Self(rawValue: 1 << 1)
    static let locksHeld = Self(rawValue: 1 << 2)
    static let locksUsed = Self(rawValue: 1 << 3)
    static let unmet = Self(rawValue: 1 << 4)
    static let children = Self(rawValue: 1 << 5)
    static let instances = Self(rawValue: 1 << 6)
    static let attempts = Self(rawValue: 1 << 7)
    static let failures = Self(rawValue: 1 << 8)
    static let lastWorker = Self(rawValue: 1 << 9)
    static let queuedAt = Self(rawValue: 1 << 10)
    static let startedAt = Self(rawValue: 1 << 11)
    static let finishedAt = Self(rawValue: 1 << 12)
    static let endNumber = Self(rawValue: 1 << 13)
    static let isHurried = Self(rawValue: 1 << 14)
    static let stopsChildren = Self(rawValue: 1 << 15)
    static let isSuspect = Self(rawValue: 1 << 16)
    static let isCleared = Self(rawValue: 1 << 17)
    static let isEvaluating = Self(rawValue: 1 << 18)
    static let isProbed = Self(rawValue: 1 << 19)
    static let isPrepared = Self(rawValue: 1 << 20)
    static let hasCalledPreparations = Self(rawValue: 1 << 21)
    static let isActive = Self(rawValue: 1 << 22)
    /// Since layout 5.
    static let isProbedByWorkers = Self(rawValue: 1 << 23)

    /// Since layout 10.
    static let hasTimedOut = Self(rawValue: 1 << 24)

    init(rawValue: UInt64) { self.rawValue = rawValue }

    init(_ unit: Unit) {
        var fields: Self = []
        func put(_ field: Self, _ isThere: Bool) { if isThere { fields.insert(field) } }
        put(.stop, unit.stop != nil)
        switch unit.locks {
        case .none: break
        case .asked: fields.insert(.locksAsked)
        case .held(let isUsed): fields.insert(isUsed ? .locksUsed : .locksHeld)
        }
        put(.unmet, unit.unmet != 0)
        put(.children, unit.openChildren != 0 || unit.activeChildren != 0 || unit.unsuccessfulChildren != 0)
        put(.instances, unit.firstInstance != -1 || unit.instances != 0)
        put(.attempts, unit.attempts != 0)
        put(.failures, unit.failedAttempts != 0 || unit.crashes != 0)
        put(.lastWorker, unit.lastWorker != nil)
        put(.queuedAt, unit.queuedAt != 0)
        put(.startedAt, unit.startedAt != 0)
        put(.finishedAt, unit.finishedAt != 0)
        put(.endNumber, unit.endNumber != 0)
        put(.isHurried, unit.isHurried)
        put(.stopsChildren, unit.stopsChildren)
        put(.isSuspect, unit.isSuspect)
        put(.isCleared, unit.isCleared)
        put(.isEvaluating, unit.isEvaluating)
        put(.isProbed, unit.probing == .done)
        put(.isProbedByWorkers, unit.probing == .byWorkers)
        put(.isPrepared, unit.isPrepared)
        put(.hasCalledPreparations, unit.hasCalledPreparations)
        put(.isActive, unit.isActive)
        put(.hasTimedOut, unit.hasTimedOut)
        self = fields
    }

    var locks: Unit.Locks {
        if contains(.locksAsked) { return .asked }
        if contains(.locksHeld) { return .held(isUsed: false) }
        return contains(.locksUsed) ? .held(isUsed: true) : .none
    }
}

/// Where a unit stands. Numbers are never given another meaning.
private enum PhaseKind {
    static let blocked: UInt8 = 0
    static let delayed: UInt8 = 1
    static let held: UInt8 = 2
    static let paused: UInt8 = 3
    static let wanting: UInt8 = 4
    static let locking: UInt8 = 5
    static let preparing: UInt8 = 6
    static let ready: UInt8 = 7
    static let inWindow: UInt8 = 8
    static let askedLater: UInt8 = 9
    static let inLine: UInt8 = 10
    static let assigned: UInt8 = 11
    static let provisional: UInt8 = 12
    static let retryWait: UInt8 = 13
    static let open: UInt8 = 14
    static let succeeded: UInt8 = 15
    static let failed: UInt8 = 16
    static let cancelled: UInt8 = 17
    static let dropped: UInt8 = 18
    /// As `succeeded`, without a value.
    static let done: UInt8 = 19
    static let lingering: UInt8 = 20
}

extension ByteWriter {
    /// Units one after another: places are told as steps from the unit before, times from the submission's.
    mutating func write(units: [Unit], since origin: Int64) {
        write(count: units.count)
        var last = Unit(node: -1, parent: 0, base: 0, position: -1)
        for unit in units {
            write(unit.node &- last.node)
            write(unit.parent &- last.parent)
            write(unit.base &- last.base)
            write(unit.position &- last.position)
            write(unit: unit, since: origin)
            last = unit
        }
    }

    private mutating func write(unit: Unit, since origin: Int64) {
        let fields = UnitFields(unit)
        write(fields.rawValue)
        write(phase: unit.phase)
        if let stop = unit.stop { write(stop.rawValue) }
        if fields.contains(.unmet) { write(unit.unmet) }
        if fields.contains(.children) {
            write(unit.openChildren)
            write(unit.activeChildren)
            write(unit.unsuccessfulChildren)
        }
        if fields.contains(.instances) {
            write(unit.firstInstance)
            write(unit.instances)
        }
        if fields.contains(.attempts) { write(unit.attempts) }
        if fields.contains(.failures) {
            write(unit.failedAttempts)
            write(unit.crashes)
        }
        if let worker = unit.lastWorker { write(UInt64(worker.rawValue)) }
        if fields.contains(.queuedAt) { write(unit.queuedAt &- origin) }
        if fields.contains(.startedAt) { write(unit.startedAt &- origin) }
        if fields.contains(.finishedAt) { write(unit.finishedAt &- origin) }
        if fields.contains(.endNumber) { write(unit.endNumber) }
    }

    private mutating func write(phase: Unit.Phase) {
        switch phase {
        case .blocked: write(PhaseKind.blocked)
        case .delayed(let until):
            write(PhaseKind.delayed)
            write(until)
        case .held: write(PhaseKind.held)
        case .paused: write(PhaseKind.paused)
        case .wanting: write(PhaseKind.wanting)
        case .locking: write(PhaseKind.locking)
        case .preparing: write(PhaseKind.preparing)
        case .ready: write(PhaseKind.ready)
        case .postponed(.window(let until)):
            write(PhaseKind.inWindow)
            write(until)
        case .postponed(.later(let until)):
            write(PhaseKind.askedLater)
            write(until)
        case .postponed(.turn(let since)):
            write(PhaseKind.inLine)
            write(since)
        case .assigned(let attempt, let worker):
            write(PhaseKind.assigned)
            write(attempt.rawValue)
            write(UInt64(worker.rawValue))
        case .provisional: write(PhaseKind.provisional)
        case .retryWait(let until):
            write(PhaseKind.retryWait)
            write(until)
        case .open: write(PhaseKind.open)
        case .ended(.success(.void)): write(PhaseKind.done)
        case .ended(let outcome): write(outcome: outcome)
        case .lingering: write(PhaseKind.lingering)
        case .dropped: write(PhaseKind.dropped)
        }
    }

    mutating func write(outcome: Outcome) {
        switch outcome {
        case .success(let payload):
            write(PhaseKind.succeeded)
            write(payload: payload)
        case .failure(let failures):
            write(PhaseKind.failed)
            write(wholeFailures: failures)
        case .cancelled: write(PhaseKind.cancelled)
        }
    }

    /// With what facts leave out because it follows from them.
    mutating func write(wholeFailures failures: [Failure]) {
        write(list: failures) { writer, failure in
            writer.write(failure: failure)
            writer.write(failure.duplicateOf)
        }
    }
}

extension ByteReader {
    mutating func units(since origin: Int64) throws(DecodingFailure) -> [Unit] {
        var last = Unit(node: -1, parent: 0, base: 0, position: -1)
        return try list { reader throws(DecodingFailure) in
            var unit = Unit(
                node: last.node &+ (try reader.signed32()), parent: last.parent &+ (try reader.signed32()),
                base: last.base &+ (try reader.signed32()), position: last.position &+ (try reader.signed32()))
            try reader.read(into: &unit, since: origin)
            last = unit
            return unit
        }
    }

    private mutating func read(into unit: inout Unit, since origin: Int64) throws(DecodingFailure) {
        let fields = UnitFields(rawValue: try unsigned())
        unit.phase = try phase()
        if fields.contains(.stop) { unit.stop = try stop() }
        unit.locks = fields.locks
        if fields.contains(.unmet) { unit.unmet = try signed32() }
        if fields.contains(.children) {
            unit.openChildren = try signed32()
            unit.activeChildren = try signed32()
            unit.unsuccessfulChildren = try signed32()
        }
        if fields.contains(.instances) {
            unit.firstInstance = try signed32()
            unit.instances = try signed32()
        }
        if fields.contains(.attempts) { unit.attempts = try signed32() }
        if fields.contains(.failures) {
            unit.failedAttempts = try signed32()
            unit.crashes = try signed32()
        }
        if fields.contains(.lastWorker) { unit.lastWorker = WorkerNumber(try unsigned32()) }
        if fields.contains(.queuedAt) { unit.queuedAt = origin &+ (try signed()) }
        if fields.contains(.startedAt) { unit.startedAt = origin &+ (try signed()) }
        if fields.contains(.finishedAt) { unit.finishedAt = origin &+ (try signed()) }
        if fields.contains(.endNumber) { unit.endNumber = try signed32() }
        unit.isHurried = fields.contains(.isHurried)
        unit.stopsChildren = fields.contains(.stopsChildren)
        unit.isSuspect = fields.contains(.isSuspect)
        unit.isCleared = fields.contains(.isCleared)
        unit.isEvaluating = fields.contains(.isEvaluating)
        unit.probing = fields.contains(.isProbed) ? .done : fields.contains(.isProbedByWorkers) ? .byWorkers : .due
        unit.isPrepared = fields.contains(.isPrepared)
        unit.hasCalledPreparations = fields.contains(.hasCalledPreparations)
        unit.isActive = fields.contains(.isActive)
        unit.hasTimedOut = fields.contains(.hasTimedOut)
    }

    mutating func stop() throws(DecodingFailure) -> Unit.Stop {
        let raw = try byte()
        guard let stop = Unit.Stop(rawValue: raw) else { throw DecodingFailure("\(raw) is no reason to stop") }
        return stop
    }

    private mutating func phase() throws(DecodingFailure) -> Unit.Phase {
        switch try byte() {
        case PhaseKind.blocked: return .blocked
        case PhaseKind.delayed: return .delayed(until: try signed())
        case PhaseKind.held: return .held
        case PhaseKind.paused: return .paused
        case PhaseKind.wanting: return .wanting
        case PhaseKind.locking: return .locking
        case PhaseKind.preparing: return .preparing
        case PhaseKind.ready: return .ready
        case PhaseKind.inWindow: return .postponed(.window(until: try signed()))
        case PhaseKind.askedLater: return .postponed(.later(until: try signed()))
        case PhaseKind.inLine: return .postponed(.turn(since: try signed()))
        case PhaseKind.assigned: return .assigned(Attempt(rawValue: try unsigned()), WorkerNumber(try unsigned32()))
        case PhaseKind.provisional: return .provisional
        case PhaseKind.retryWait: return .retryWait(until: try signed())
        case PhaseKind.open: return .open
        case PhaseKind.done: return .ended(.success(.void))
        case PhaseKind.lingering: return .lingering
        case PhaseKind.dropped: return .dropped
        case let kind: return .ended(try outcome(kind))
        }
    }

    mutating func unitOutcome() throws(DecodingFailure) -> Outcome { try outcome(try byte()) }

    private mutating func outcome(_ kind: UInt8) throws(DecodingFailure) -> Outcome {
        switch kind {
        case PhaseKind.succeeded: return .success(try payload())
        case PhaseKind.failed: return .failure(try wholeFailures())
        case PhaseKind.cancelled: return .cancelled
        default: throw DecodingFailure("\(kind) is nothing where a unit can stand")
        }
    }

    mutating func wholeFailures() throws(DecodingFailure) -> [Failure] {
        try list { reader throws(DecodingFailure) in
            var failure = try reader.failure()
            failure.duplicateOf = try reader.text()
            return failure
        }
    }
}
