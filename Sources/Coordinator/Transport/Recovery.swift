import Foundation
import Logging
import Scheduling
import Wire

/// What a coordinator finds on its disk and starts from.
struct Recovery {
    /// Has the directory's lock.
    let files: FilesInPlace
    let database: JournalDatabase
    let blobs: BlobStore
    let output: OutputDatabase
    let elements: ElementDatabase
    /// nil: there is none.
    let history: HistoryDatabase?
    /// In its new epoch, whose fact is on the disk.
    let scheduler: Scheduler
    let incarnation: Incarnation
    let end: JournalEnd
    /// Something was forgotten that the newest snapshot, or what is behind it, still has.
    let hasForgotten: Bool
    /// Ids of submissions, as users see them.
    let submissionIDs: [SubmissionNumber: String]
    /// What the scheduler wants after its start.
    let outputs: Outputs
    /// nil: nothing is recorded.
    let recorder: FlightRecorder?

    /// Locks the directory, folds the journal and commits the new epoch. Nobody can connect before this has returned.
    ///
    /// - Throws: `DataDirectoryError`, `JournalError`, `BlobStoreError`.
    init(_ configuration: CoordinatorConfiguration, logger: Logger) throws {
        let began = BootClock.milliseconds()
        let directory = try DataDirectory(path: configuration.dataDirectory)
        guard !DurableFiles.isThere(JournalRestore.marker(in: directory.path)) else {
            throw DataDirectoryError.restoring(path: directory.path)
        }
        // First: it may fill the disk.
        try JournalRestore.removeRemains(in: directory.path)
        var scheduler = Scheduler(configuration.scheduling)
        // Nothing is changed before it is certain that nothing is missing.
        let found = try Self.look(directory, &scheduler)
        blobs = try BlobStore(path: directory.blobsPath)
        if found != nil { try Self.checkValues(of: scheduler, in: directory, logger) }
        let lookedElements = try ElementScan.look(at: directory)
        database = try JournalDatabase(directory)
        files = try FilesInPlace(directory)
        if case .tornTail(let commits) = found?.log ?? database.logFinding {
            logger.notice(
                """
                the last process ended while it was writing: an unfinished transaction behind \(commits) whole ones was \
                dropped; nobody had been told of it
                """)
        }
        let warn = { (text: String) in logger.warning("\(text)") }
        if let text = FileSizeLimit.text {
            warn("\(text); larger values are refused, and a journal that becomes larger ends the coordinator")
        }
        let absences = try Absences(in: directory, keepsHistory: configuration.historyMilliseconds != 0)
        var output = try OutputDatabase.open(directory, warn: warn)
        let (snapshot, folded, hasForgotten) =
            try found.map { ($0.snapshot, $0.end, $0.hasForgotten) } ?? Self.fold(database, into: &scheduler)
        self.hasForgotten = hasForgotten
        if found == nil {
            // Of an earlier release: it could be read only now.
            try JournalWitness.check(in: directory, database, reaches: folded)
            try Self.checkValues(of: scheduler, in: directory, logger)
        }
        // The first start makes them.
        if scheduler.sequence != .none { absences.tell(logger) }
        var elements = try ElementDatabase(
            directory, totalBytesMax: configuration.partialResultBytes, looked: lookedElements, isForgotten: scheduler.isForgotten)
        if !elements.losses.isEmpty { warn(ElementLoss.text(elements.losses, path: elements.path)) }
        // What the last process did not come to.
        let printed = output.submissions.filter(scheduler.isForgotten)
        try output.perform(warn) { try $0.forget(printed) }
        try elements.forget(elements.submissions.filter(scheduler.isForgotten))
        output.reserve = .half(of: configuration.diskReserveBytes, in: directory.path)
        elements.reserve = output.reserve
        self.output = output
        self.elements = elements
        var random = SystemRandomNumberGenerator()
        incarnation = Incarnation(random.next())
        var outputs = Outputs()
        if let rest = scheduler.restBeforeStart(at: Self.now) { usleep(UInt32(rest) * 1_000) }  // the clock tells nobody
        let now = Self.now
        var sections: [[UInt8]] = []
        if configuration.flightRecorderBytes > 0, scheduler.sequence != .none { scheduler.writeSnapshot { sections.append($0) } }
        scheduler.start(at: now, incarnation: incarnation, into: &outputs)
        var batch = JournalBatch(after: folded.sequence)
        for fact in outputs.facts { batch.append(fact) }
        end = try database.commit([batch], after: folded)
        // Behind the first fact: a history beside a journal without any belongs to one that is gone.
        history = try configuration.historyMilliseconds == 0 ? nil : HistoryDatabase.open(directory, warn: warn)
        if configuration.flightRecorderBytes > 0 {
            recorder = try FlightRecorder(
                in: directory, epoch: scheduler.epoch, configuration: configuration.scheduling, sections: sections,
                bytesMax: configuration.flightRecorderBytes, logger: logger)
        } else {
            recorder = nil
        }
        recorder?.start(at: now, incarnation: incarnation, outputs, sequence: scheduler.sequence)
        self.scheduler = scheduler
        self.outputs = outputs
        submissionIDs = scheduler.submissionIDs
        logger.info(
            """
            journal folded: \(folded.sequence.rawValue - (snapshot?.end.sequence.rawValue ?? 0)) facts\
            \(snapshot.map { " behind a snapshot of \($0.end.sequence.rawValue)" } ?? ""), \(submissionIDs.count) submissions, in \
            \(BootClock.milliseconds() - began) ms; epoch \(scheduler.epoch)
            """)
    }

    /// What the journal says, and how it was left.
    private struct Finding {
        let snapshot: Snapshot?
        let end: JournalEnd
        let hasForgotten: Bool
        let log: WriteAheadLogCheck.Finding
    }

    /// Reads the journal without changing anything.
    ///
    /// - Returns: nil: there is none of this release's schema.
    /// - Throws: `JournalError`: it is not what was acknowledged.
    private static func look(_ directory: DataDirectory, _ scheduler: inout Scheduler) throws(JournalError) -> Finding? {
        switch try JournalDatabase.look(at: directory) {
        case .nothing:
            try JournalWitness.check(in: directory, nil, reaches: .empty)
            return nil
        case .earlier: return nil
        case .journal(let reader):
            let (snapshot, end, hasForgotten) = try fold(reader, into: &scheduler)
            try JournalWitness.check(in: directory, reader, reaches: end)
            try reader.checkFile()
            try reader.close()
            return Finding(snapshot: snapshot, end: end, hasForgotten: hasForgotten, log: reader.logFinding)
        }
    }

    /// - Throws: `JournalError.missingValues`.
    private static func checkValues(of scheduler: Scheduler, in directory: DataDirectory, _ logger: Logger) throws(JournalError) {
        let values = LostValues(root: directory.blobsPath)
        let lost = values.find(in: scheduler)
        let missing = lost.filter { !values.isGivenUp($0.key) }
        guard let place = missing.values.min() else {
            try values.forgetReturned(of: scheduler, but: lost)
            if !lost.isEmpty {
                logger.warning(
                    "\(lost.count) large value(s) that were given up are missing: what needs one fails; `aop journal verify` lists them")
            }
            return
        }
        throw .missingValues(path: directory.blobsPath, count: missing.count, place: place)
    }

    private static var now: Instant { Instant(boot: BootClock.milliseconds(), wall: WallClock.milliseconds()) }

    /// Brings a scheduler to the state that the journal says.
    ///
    /// - Returns: the snapshot that it began with, and where the journal ends.
    /// - Throws: `JournalError`.
    static func fold(
        _ database: JournalDatabase, into scheduler: inout Scheduler
    ) throws(JournalError) -> (snapshot: Snapshot?, end: JournalEnd, hasForgotten: Bool) {
        let snapshot = try database.newestSnapshot()
        if let snapshot { try restore(&scheduler, from: snapshot, in: database) }
        var (folded, hasForgotten) = (scheduler, false)
        let end = try database.fold(after: snapshot?.end ?? .empty) { fact in
            if fact.forgets { hasForgotten = true }
            try folded.restore(fact)
        }
        scheduler = folded
        return (snapshot, end, hasForgotten)
    }

    private static func restore(
        _ scheduler: inout Scheduler, from snapshot: Snapshot, in database: JournalDatabase
    ) throws(JournalError) {
        var restored = scheduler
        try database.read(snapshot) { try restored.restore(section: $0[...]) }
        guard restored.hasWholeSnapshot, restored.sequence == snapshot.end.sequence else {
            throw database.damagedSnapshot(snapshot.end.sequence, "it holds another state than it says")
        }
        scheduler = restored
    }
}
