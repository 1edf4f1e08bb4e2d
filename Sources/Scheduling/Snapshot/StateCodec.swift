/// The durable state as bytes: what all submissions share, then one section for each submission, in the order of their numbers.
///
/// Equal states have equal bytes, whatever process wrote them. Volatile parts (what runs, who is connected) are in none of it.
extension DurableState {
    /// Of the layout of these bytes. Numbers are never given another meaning; this version reads all that are lower.
    static let codecVersion: UInt64 = 15

    /// - Parameter submissions: how many sections follow.
    func sharedSection(submissions count: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.codecVersion)
        writer.write(sequence.rawValue)
        writer.write(UInt64(epoch))
        writer.write(UInt64(lateEpoch))
        writer.write(UInt64(rules))
        writer.write(count: submissions.total)
        writer.write(count: count)
        writer.write(list: workers) { writer, worker in
            writer.write(worker: worker.identity)
            writer.write(count: worker.host)
            writer.write(worker.hasEnded)
        }
        writer.write(list: knownTypes.sorted()) { $0.write($1) }
        signatures.write(into: &writer)
        writer.write(offers: offers)
        resources.write(into: &writer)
        locks.write(into: &writer)
        rates.write(into: &writer)
        ids.write(into: &writer)
        quarantine.write(into: &writer)
        writer.write(zones: zones.values.sorted { $0.name < $1.name })
        if hasWorkerNotes { writeWorkerNotes(into: &writer) }
        return writer.bytes
    }

    func section(ofSubmission index: Int) -> [UInt8] {
        var writer = ByteWriter()
        submissions[index].write(into: &writer)
        return writer.bytes
    }

    /// - Parameter submissionCount: how many sections follow.
    init(shared bytes: ArraySlice<UInt8>, crashLimit: Int, submissionCount: inout Int) throws(DecodingFailure) {
        self.init(crashLimit: crashLimit)
        var reader = ByteReader(bytes)
        let version = try reader.unsigned()
        guard version <= Self.codecVersion else { throw DecodingFailure(newerLayout: version, known: Self.codecVersion) }
        guard version >= 1 else { throw DecodingFailure("it has layout \(version)") }
        sequence = JournalSequence(try reader.unsigned())
        epoch = try reader.epoch()
        // Before layout 9 it was not known: the next start is doubted.
        lateEpoch = version >= 9 ? try reader.epoch() : epoch
        // Before layout 13 there were no others.
        if version >= 13 { rules = try reader.unsigned32() }
        guard rules <= Rules.newest else {
            throw DecodingFailure(newerRules: rules)
        }
        let total = try reader.index()
        submissions = SubmissionTable(total: total)
        // What was forgotten has no section since layout 2.
        submissionCount = version == 1 ? total : try reader.index()
        guard submissionCount <= total else { throw DecodingFailure("it has \(submissionCount) of \(total) submissions") }
        workers = try reader.list { reader throws(DecodingFailure) in
            WorkerRecord(identity: try reader.workerIdentity(), host: try reader.index(), hasEnded: try reader.flag())
        }
        for (number, worker) in workers.enumerated() {
            workerByIncarnation[worker.identity.incarnation] = WorkerNumber(UInt32(number))
        }
        knownTypes = Set(try reader.texts())
        signatures = try SignatureTable(&reader)
        offers = try reader.offers()
        resources = try ResourceTable(&reader)
        locks = try LockTable(&reader)
        rates = try RateTable(&reader)
        ids = try UniqueTable(&reader, hasPrincipals: version >= 3)
        quarantine = try QuarantineTable(&reader)
        for zone in try reader.zones() { zones[zone.name] = zone }
        // Since layout 6, and only where there is something.
        if !reader.isAtEnd { try readWorkerNotes(&reader) }
        guard reader.isAtEnd else { throw DecodingFailure("bytes are left behind what submissions share") }
        guard workers.allSatisfy({ $0.host < resources.hostCount }) else { throw DecodingFailure("a worker is on a host that is unknown") }
    }

    /// Whether something is to be said of workers besides who they are.
    private var hasWorkerNotes: Bool {
        !drains.isEmpty || workers.contains { $0.isRemoved || $0.identity.givenName != $0.identity.name }
    }

    private func writeWorkerNotes(into writer: inout ByteWriter) {
        writer.write(table: drains, key: { $0.write($1) }) { writer, drain in
            writer.write(drain.by)
            writer.write(drain.reason)
            writer.write(drain.since)
        }
        writer.write(list: workers.indices.filter { workers[$0].isRemoved }) { $0.write(count: $1) }
        writer.write(list: workers.indices.filter { workers[$0].identity.givenName != workers[$0].identity.name }) { writer, index in
            writer.write(count: index)
            writer.write(workers[index].identity.givenName)
        }
    }

    private mutating func readWorkerNotes(_ reader: inout ByteReader) throws(DecodingFailure) {
        drains = try reader.table(key: { reader throws(DecodingFailure) in try reader.text() }) { reader throws(DecodingFailure) in
            WorkerDrain(by: try reader.text(), reason: try reader.text(), since: try reader.signed())
        }
        let removed = try reader.list { reader throws(DecodingFailure) in try reader.index() }
        let given = try reader.list { reader throws(DecodingFailure) in (index: try reader.index(), name: try reader.text()) }
        guard (removed + given.map(\.index)).allSatisfy(workers.indices.contains) else {
            throw DecodingFailure("something is said of a worker that is unknown")
        }
        for index in removed { workers[index].isRemoved = true }
        for worker in given { workers[worker.index].identity.givenName = worker.name }
        markDrained()
    }

    mutating func append(submission bytes: ArraySlice<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        var submission = try Submission(&reader)
        submission.rules = rules
        guard reader.isAtEnd else { throw DecodingFailure("bytes are left behind submission \(submission.id)") }
        let index = index(of: submission.number)
        guard index > submissions.lastIndex ?? -1, index < submissions.total else {
            throw DecodingFailure("submission \(submission.number.rawValue) is not one of the next numbers")
        }
        submissionByKey[SubmissionKey(principal: submission.principal, key: submission.key)] = submission.number
        submissionByID[submission.id] = submission.number
        submissions.restore(submission, at: index)
        for (unit, standing) in submission.standings {
            if case .claimed(let id) = standing { ids.assign(id, of: UnitID(submission.number, Int(unit)), to: submission.principal) }
        }
    }
}

extension ByteWriter {
    mutating func write(worker: WorkerIdentity) {
        write(worker.incarnation.rawValue)
        write(worker.name)
        write(worker.host)
        write(UInt64(worker.pid))
        write(worker.supervisor.rawValue)
        write(worker.isSubmitter)
    }
}

extension ByteReader {
    mutating func workerIdentity() throws(DecodingFailure) -> WorkerIdentity {
        WorkerIdentity(
            incarnation: Incarnation(try unsigned()), name: try text(), host: try text(), pid: try unsigned32(),
            supervisor: Incarnation(try unsigned()), isSubmitter: try flag())
    }
}
