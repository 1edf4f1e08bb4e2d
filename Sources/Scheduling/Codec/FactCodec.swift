/// The bytes of a fact in the journal. The first byte is the kind; kinds are never given another meaning.
public enum FactCodec {
    public static func encode(_ fact: Fact) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(fact: fact)
        return writer.bytes
    }

    /// Appends what `encode` gives, without a buffer of its own.
    public static func append(_ fact: Fact, to bytes: inout [UInt8]) {
        var writer = ByteWriter()
        swap(&writer.bytes, &bytes)
        writer.write(fact: fact)
        swap(&writer.bytes, &bytes)
    }

    /// - Throws: `DecodingFailure`; any bytes are safe to pass.
    public static func decode(_ bytes: ArraySlice<UInt8>) throws(DecodingFailure) -> Fact {
        var reader = ByteReader(bytes)
        let fact = try reader.fact()
        guard reader.isAtEnd else { throw DecodingFailure("bytes are left behind the fact") }
        return fact
    }
}

private enum Kind {
    static let epochStarted: UInt8 = 1
    static let typesRegistered: UInt8 = 2
    static let workerMet: UInt8 = 3
    static let workerEnded: UInt8 = 4
    static let submitted: UInt8 = 5
    static let assigned: UInt8 = 6
    static let attemptEnded: UInt8 = 7
    static let attemptLost: UInt8 = 8
    static let cancelRequested: UInt8 = 9
    static let timedOut: UInt8 = 10
    static let groupRestarted: UInt8 = 11
    static let locksAsked: UInt8 = 12
    static let locksReturned: UInt8 = 13
    static let linked: UInt8 = 14
    static let delayEnded: UInt8 = 40
    static let deadlinePassed: UInt8 = 41
    static let queueTimedOut: UInt8 = 42
    static let judged: UInt8 = 60
    static let zonesRegistered: UInt8 = 61
    static let offersRegistered: UInt8 = 100
    static let paused: UInt8 = 101
    static let resumed: UInt8 = 102
    static let signaturesRegistered: UInt8 = 103
    /// As `workerMet`, of the process of a submitter.
    static let submitterMet: UInt8 = 140
    /// As `submitted`, with the submitter's process before it.
    static let submittedWithHost: UInt8 = 141
    static let submitterMissed: UInt8 = 142
    static let streamBegun: UInt8 = 180
    /// As `signaturesRegistered`, with the types of elements.
    static let streamSignaturesRegistered: UInt8 = 181
    static let preparationDue: UInt8 = 190
    static let quarantineLifted: UInt8 = 191
    static let lockSeized: UInt8 = 192
    static let lateResultRefused: UInt8 = 193
    static let stopBegun: UInt8 = 194
    static let attemptTimedOut: UInt8 = 254
    static let orphanEnded: UInt8 = 240
    static let outcomesKept: UInt8 = 241
    static let attemptStrayed: UInt8 = 243
    static let strayEnded: UInt8 = 244
    static let forgotten: UInt8 = 251
    static let deathProven: UInt8 = 253
    static let workerDrained: UInt8 = 200
    static let workerResumed: UInt8 = 201
    static let workerRemoved: UInt8 = 202
    static let scopeRestarted: UInt8 = 242
    static let produced: UInt8 = 220
    static let lockCycleFound: UInt8 = 221
    static let quarantineMet: UInt8 = 230
    static let misfitFound: UInt8 = 231
    /// As `streamSignaturesRegistered`, with the shapes of parameters.
    static let shapedSignaturesRegistered: UInt8 = 233
    /// As `submittedWithHost`, of a graph whose operations need not be known.
    static let submittedUnchecked: UInt8 = 232
    /// As `submittedWithHost`, with whose it is, what may be in it, and whether its operations need not be known.
    static let submittedByPrincipal: UInt8 = 250
    /// As `submittedByPrincipal`, also where it is the coordinator's own user's, with the trace that it belongs to before it.
    static let submittedInTrace: UInt8 = 120
    /// As `attemptEnded`, with how long before that was heard of its body had ended.
    static let attemptEndedBefore: UInt8 = 121
    /// As `attemptLost`, with how long before that it began.
    static let begunAttemptLost: UInt8 = 122
    /// As `strayEnded`, of what has never begun.
    static let unbegunStrayEnded: UInt8 = 123
    /// As `outcomesKept`, with those of forEachs.
    static let outcomesKeptWithElements: UInt8 = 124
    /// As `epochStarted`, with the rules that hold from there on.
    static let epochStartedWithRules: UInt8 = 125
}

extension ByteWriter {
    fileprivate mutating func write(fact: Fact) {
        switch fact {
        case .epochStarted(let epoch, let incarnation, let at, let rules):
            write(rules == Rules.first ? Kind.epochStarted : Kind.epochStartedWithRules)
            write(UInt64(epoch))
            write(incarnation.rawValue)
            write(at)
            if rules != Rules.first { write(UInt64(rules)) }
        case .typesRegistered(let names):
            write(Kind.typesRegistered)
            write(list: names) { $0.write($1) }
        case .workerMet(let number, let identity):
            write(identity.isSubmitter ? Kind.submitterMet : Kind.workerMet)
            write(UInt64(number.rawValue))
            write(identity.incarnation.rawValue)
            write(identity.name)
            write(identity.host)
            write(UInt64(identity.pid))
            // At the end, and only where there is one: journals from before there were any end here.
            let isNumbered = identity.givenName != identity.name
            if identity.supervisor.rawValue != 0 || isNumbered { write(identity.supervisor.rawValue) }
            if isNumbered { write(identity.givenName) }
        case .offersRegistered(let offers):
            write(Kind.offersRegistered)
            write(offers: offers)
        case .signaturesRegistered(let signatures):
            let haveParameters = signatures.contains { $0.parameters != .any || $0.decides }
            let haveElements = haveParameters || signatures.contains { $0.sent != nil || $0.streamed != nil }
            write(
                haveParameters
                    ? Kind.shapedSignaturesRegistered : haveElements ? Kind.streamSignaturesRegistered : Kind.signaturesRegistered)
            write(list: signatures) { $0.write(signature: $1, withElements: haveElements, withParameters: haveParameters) }
        case .workerEnded(let number):
            write(Kind.workerEnded)
            write(UInt64(number.rawValue))
        case .submitted(let admission):
            if !admission.principal.isEmpty || !admission.trace.isEmpty {
                write(admission.trace.isEmpty ? Kind.submittedByPrincipal : Kind.submittedInTrace)
                if !admission.trace.isEmpty { write(trace: admission.trace) }
                write(admission.submitter.rawValue)
                write(admission.principal)
                write(list: admission.operations) { $0.write($1) }
                write(admission.waitsForWorkers)
            } else if admission.waitsForWorkers {
                write(Kind.submittedUnchecked)
                write(admission.submitter.rawValue)
            } else if admission.submitter.rawValue == 0 {
                write(Kind.submitted)
            } else {
                write(Kind.submittedWithHost)
                write(admission.submitter.rawValue)
            }
            write(UInt64(admission.number.rawValue))
            write(admission.id)
            write(admission.key)
            write(admission.name)
            write(graph: admission.graph)
            write(admission.at)
            write(optionsOf: admission.graph)
        case .assigned(let unit, let attempt, let worker, let at):
            write(Kind.assigned)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(UInt64(worker.rawValue))
            write(at)
        case .attemptEnded(let unit, let attempt, let outcome, let startedAt, let endedAt, let at):
            write(endedAt == 0 ? Kind.attemptEnded : Kind.attemptEndedBefore)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(outcome: outcome)
            write(startedAt)
            write(at)
            if endedAt != 0 { write(at &- endedAt) }
        case .attemptLost(let unit, let attempt, let cause, let startedAt, let at):
            write(startedAt == 0 ? Kind.attemptLost : Kind.begunAttemptLost)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(cause.rawValue)
            write(at)
            if startedAt != 0 { write(at &- startedAt) }
        case .cancelRequested(let unit, let reason, let now, let at):
            write(Kind.cancelRequested)
            write(unit.rawValue)
            write(reason)
            write(now)
            write(at)
        case .timedOut(let unit, let at):
            write(Kind.timedOut)
            write(unit.rawValue)
            write(at)
        case .groupRestarted(let unit, let at):
            write(Kind.groupRestarted)
            write(unit.rawValue)
            write(at)
        case .scopeRestarted(let unit, let at):
            write(Kind.scopeRestarted)
            write(unit.rawValue)
            write(at)
        case .locksAsked(let unit, let at):
            write(Kind.locksAsked)
            write(unit.rawValue)
            write(at)
        case .locksReturned(let unit, let at):
            write(Kind.locksReturned)
            write(unit.rawValue)
            write(at)
        case .delayEnded(let unit, let at):
            write(Kind.delayEnded)
            write(unit.rawValue)
            write(at)
        case .deadlinePassed(let unit, let at):
            write(Kind.deadlinePassed)
            write(unit.rawValue)
            write(at)
        case .queueTimedOut(let unit, let at):
            write(Kind.queueTimedOut)
            write(unit.rawValue)
            write(at)
        case .paused(let unit, let at):
            write(Kind.paused)
            write(unit.rawValue)
            write(at)
        case .resumed(let unit, let at):
            write(Kind.resumed)
            write(unit.rawValue)
            write(at)
        case .submitterMissed(let unit, let at):
            write(Kind.submitterMissed)
            write(unit.rawValue)
            write(at)
        case .streamBegun(let unit, let attempt, let at):
            write(Kind.streamBegun)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(at)
        case .produced(let unit, let attempt, let addition, let at):
            write(Kind.produced)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(addition: addition)
            write(at)
        case .lockCycleFound(let unit, let circle, let at):
            write(Kind.lockCycleFound)
            write(unit.rawValue)
            write(circle)
            write(at)
        case .misfitFound(let unit, let fault, let at):
            write(Kind.misfitFound)
            write(unit.rawValue)
            write(fault)
            write(at)
        case .quarantineMet(let unit, let cause, let at):
            write(Kind.quarantineMet)
            write(unit.rawValue)
            write(cause)
            write(at)
        case .preparationDue(let unit, let at):
            write(Kind.preparationDue)
            write(unit.rawValue)
            write(at)
        case .quarantineLifted(let unit, let at):
            write(Kind.quarantineLifted)
            write(unit.rawValue)
            write(at)
        case .workerDrained(let name, let by, let reason, let at):
            write(Kind.workerDrained)
            write(name)
            write(by)
            write(reason)
            write(at)
        case .workerResumed(let name, let by, let at):
            write(Kind.workerResumed)
            write(name)
            write(by)
            write(at)
        case .workerRemoved(let name, let by, let at):
            write(Kind.workerRemoved)
            write(name)
            write(by)
            write(at)
        case .lockSeized(let unit, let key, let reason, let at):
            write(Kind.lockSeized)
            write(unit.rawValue)
            write(key)
            write(reason)
            write(at)
        case .lateResultRefused(let unit, let attempt, let at):
            write(Kind.lateResultRefused)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(at)
        case .outcomesKept(let number, let first, let withElements, let at):
            write(withElements ? Kind.outcomesKeptWithElements : Kind.outcomesKept)
            write(UInt64(number.rawValue))
            write(UInt64(first.rawValue))
            write(at)
        case .forgotten(let number, let at):
            write(Kind.forgotten)
            write(UInt64(number.rawValue))
            write(at)
        case .orphanEnded(let unit, let attempt, let at):
            write(Kind.orphanEnded)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(at)
        case .linked(let unit, let attempt, let worker, let at):
            write(Kind.linked)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(UInt64(worker.rawValue))
            write(at)
        case .attemptStrayed(let unit, let attempt, let worker, let at):
            write(Kind.attemptStrayed)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(UInt64(worker.rawValue))
            write(at)
        case .strayEnded(let unit, let attempt, let isUnbegun, let at):
            write(isUnbegun ? Kind.unbegunStrayEnded : Kind.strayEnded)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(at)
        case .deathProven(let unit, let attempt, let worker, let cause, let isEvaluation, let at):
            write(Kind.deathProven)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(UInt64(worker.rawValue))
            write(cause.rawValue)
            write(isEvaluation)
            write(at)
        case .attemptTimedOut(let unit, let attempt, let since, let at):
            write(Kind.attemptTimedOut)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(since)
            write(at)
        case .stopBegun(let unit, let attempt, let isForced, let since, let at):
            write(Kind.stopBegun)
            write(unit.rawValue)
            write(attempt.rawValue)
            write(isForced)
            write(since)
            write(at)
        case .judged(let unit, let verdicts, let at):
            write(Kind.judged)
            write(unit.rawValue)
            write(verdicts: verdicts)
            write(at)
        case .zonesRegistered(let tables):
            write(Kind.zonesRegistered)
            write(zones: tables)
        }
    }
}

extension ByteReader {
    fileprivate mutating func fact() throws(DecodingFailure) -> Fact {
        let kind = try byte()
        switch kind {
        case Kind.epochStarted:
            return .epochStarted(epoch: try epoch(), incarnation: Incarnation(try unsigned()), at: try time())
        case Kind.epochStartedWithRules:
            return .epochStarted(epoch: try epoch(), incarnation: Incarnation(try unsigned()), at: try time(), rules: try unsigned32())
        case Kind.typesRegistered:
            return .typesRegistered(try list { reader throws(DecodingFailure) in try reader.text() })
        case Kind.workerMet, Kind.submitterMet:
            let number = WorkerNumber(try unsigned32())
            var identity = WorkerIdentity(
                incarnation: Incarnation(try unsigned()), name: try text(), host: try text(), pid: try unsigned32())
            identity.isSubmitter = kind == Kind.submitterMet
            if !isAtEnd { identity.supervisor = Incarnation(try unsigned()) }
            if !isAtEnd { identity.givenName = try text() }
            return .workerMet(number, identity)
        case Kind.offersRegistered:
            return .offersRegistered(try offers())
        case Kind.signaturesRegistered:
            return .signaturesRegistered(
                try list { reader throws(DecodingFailure) in try reader.signature(withElements: false, withParameters: false) })
        case Kind.streamSignaturesRegistered:
            return .signaturesRegistered(
                try list { reader throws(DecodingFailure) in try reader.signature(withElements: true, withParameters: false) })
        case Kind.shapedSignaturesRegistered:
            return .signaturesRegistered(
                try list { reader throws(DecodingFailure) in try reader.signature(withElements: true, withParameters: true) })
        case Kind.workerEnded:
            return .workerEnded(WorkerNumber(try unsigned32()))
        case Kind.submitted, Kind.submittedWithHost, Kind.submittedUnchecked, Kind.submittedByPrincipal, Kind.submittedInTrace:
            let trace = kind == Kind.submittedInTrace ? try trace() : TraceContext()
            let submitter = Incarnation(kind == Kind.submitted ? 0 : try unsigned())
            var (principal, operations, waits) = ("", [String](), kind == Kind.submittedUnchecked)
            if kind == Kind.submittedByPrincipal || kind == Kind.submittedInTrace {
                principal = try text()
                operations = try list { reader throws(DecodingFailure) in try reader.text() }
                waits = try flag()
            }
            let number = SubmissionNumber(try unsigned32())
            let (id, key, name) = (try text(), try text(), try text())
            var graph = try graph()
            let at = try time()
            try readOptions(into: &graph)
            try graph.checkStructure()
            return .submitted(
                Admission(
                    number: number, id: id, key: key, name: name, graph: graph, at: at, submitter: submitter,
                    waitsForWorkers: waits, principal: principal, operations: operations, trace: trace))
        case Kind.assigned:
            return .assigned(try unit(), try attempt(), WorkerNumber(try unsigned32()), at: try time())
        case Kind.attemptEnded:
            return .attemptEnded(try unit(), try attempt(), try outcome(), startedAt: try signed(), at: try time())
        case Kind.attemptEndedBefore:
            let (unit, attempt, outcome) = (try unit(), try attempt(), try outcome())
            let (startedAt, at) = (try time(), try time())
            return .attemptEnded(unit, attempt, outcome, startedAt: startedAt, endedAt: at &- (try signed()), at: at)
        case Kind.attemptLost:
            return .attemptLost(try unit(), try attempt(), try named(LossCause.self), at: try time())
        case Kind.begunAttemptLost:
            let (unit, attempt, cause, at) = (try unit(), try attempt(), try named(LossCause.self), try time())
            return .attemptLost(unit, attempt, cause, startedAt: at &- (try signed()), at: at)
        case Kind.cancelRequested:
            return .cancelRequested(try unit(), reason: try text(), now: try flag(), at: try time())
        case Kind.timedOut:
            return .timedOut(try unit(), at: try time())
        case Kind.groupRestarted:
            return .groupRestarted(try unit(), at: try time())
        case Kind.scopeRestarted:
            return .scopeRestarted(try unit(), at: try time())
        case Kind.locksAsked:
            return .locksAsked(try unit(), at: try time())
        case Kind.locksReturned:
            return .locksReturned(try unit(), at: try time())
        case Kind.delayEnded:
            return .delayEnded(try unit(), at: try time())
        case Kind.deadlinePassed:
            return .deadlinePassed(try unit(), at: try time())
        case Kind.queueTimedOut:
            return .queueTimedOut(try unit(), at: try time())
        case Kind.paused:
            return .paused(try unit(), at: try time())
        case Kind.resumed:
            return .resumed(try unit(), at: try time())
        case Kind.submitterMissed:
            return .submitterMissed(try unit(), at: try time())
        case Kind.produced:
            return .produced(try unit(), try attempt(), try addition(), at: try time())
        case Kind.streamBegun:
            return .streamBegun(try unit(), try attempt(), at: try time())
        case Kind.lockCycleFound:
            return .lockCycleFound(try unit(), try lockCircle(), at: try time())
        case Kind.misfitFound:
            return .misfitFound(try unit(), try text(), at: try time())
        case Kind.quarantineMet:
            return .quarantineMet(try unit(), try text(), at: try time())
        case Kind.preparationDue:
            return .preparationDue(try unit(), at: try time())
        case Kind.quarantineLifted:
            return .quarantineLifted(try unit(), at: try time())
        case Kind.workerDrained:
            return .workerDrained(name: try text(), by: try text(), reason: try text(), at: try time())
        case Kind.workerResumed:
            return .workerResumed(name: try text(), by: try text(), at: try time())
        case Kind.workerRemoved:
            return .workerRemoved(name: try text(), by: try text(), at: try time())
        case Kind.lockSeized:
            return .lockSeized(try unit(), key: try text(), reason: try text(), at: try time())
        case Kind.lateResultRefused:
            return .lateResultRefused(try unit(), try attempt(), at: try time())
        case Kind.outcomesKept, Kind.outcomesKeptWithElements:
            return .outcomesKept(
                try submissionNumber(), from: try submissionNumber(), withElements: kind == Kind.outcomesKeptWithElements, at: try time())
        case Kind.forgotten:
            return .forgotten(try submissionNumber(), at: try time())
        case Kind.orphanEnded:
            return .orphanEnded(try unit(), try attempt(), at: try time())
        case Kind.linked:
            return .linked(try unit(), try attempt(), WorkerNumber(try unsigned32()), at: try time())
        case Kind.attemptStrayed:
            return .attemptStrayed(try unit(), try attempt(), WorkerNumber(try unsigned32()), at: try time())
        case Kind.strayEnded, Kind.unbegunStrayEnded:
            return .strayEnded(try unit(), try attempt(), isUnbegun: kind == Kind.unbegunStrayEnded, at: try time())
        case Kind.deathProven:
            return .deathProven(
                try unit(), try attempt(), WorkerNumber(try unsigned32()), try named(LossCause.self), isEvaluation: try flag(),
                at: try time())
        case Kind.attemptTimedOut:
            return .attemptTimedOut(try unit(), try attempt(), since: try signed(), at: try time())
        case Kind.stopBegun:
            return .stopBegun(try unit(), try attempt(), forced: try flag(), since: try signed(), at: try time())
        case Kind.judged:
            return .judged(try unit(), try verdicts(), at: try time())
        case Kind.zonesRegistered:
            return .zonesRegistered(try zones())
        case let other:
            throw DecodingFailure("\(other) is no kind of fact this version knows")
        }
    }

    private mutating func unit() throws(DecodingFailure) -> UnitID { UnitID(rawValue: try unsigned()) }
    private mutating func submissionNumber() throws(DecodingFailure) -> SubmissionNumber {
        let raw = try unsigned()
        guard let number = UInt32(exactly: raw) else { throw DecodingFailure("\(raw) is no number of a submission") }
        return SubmissionNumber(number)
    }

    private mutating func attempt() throws(DecodingFailure) -> Attempt { Attempt(rawValue: try unsigned()) }

    mutating func named<Value: RawRepresentable>(_: Value.Type) throws(DecodingFailure) -> Value where Value.RawValue == UInt8 {
        let raw = try byte()
        guard let value = Value(rawValue: raw) else { throw DecodingFailure("\(raw) is no \(Value.self)") }
        return value
    }
}
