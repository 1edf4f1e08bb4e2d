/// What other threads tell the transport thread.
enum LoopEvent: Sendable {
    case journal(JournalWriter.Event)
    case blobs(BlobService.Event)
    case output(OutputService.Event)
    case elements(ElementService.Event)
    case history(HistoryService.Event)
    case enrolment(EnrolmentDesk.Event)
    /// Somebody asks whether the loop answers.
    case probe(OneShot<Health?>)
    /// Somebody asks how everything stands.
    case metrics(OneShot<CoordinatorMetrics?>)
    /// A client within the process.
    case local(LocalLink, LocalMessage)
    /// Somebody within the process waits for anything to change.
    case waitForChange(since: UInt64, OneShot<UInt64?>)
    /// What the units of this submission wait for.
    case edges(String, from: Int, limit: Int, OneShot<EdgePage?>)
    /// End in an orderly way.
    case shutdown(reason: String)
}

/// How things stand, for whoever asks for the coordinator's health.
struct Health: Sendable, Hashable {
    var epoch: UInt32
    var peers: Int
    /// Facts decided and not yet on the disk.
    var factsInFlight: UInt64
}
