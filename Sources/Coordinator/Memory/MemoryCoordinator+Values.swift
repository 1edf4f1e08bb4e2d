import Scheduling
import Wire

/// Large values beside the journal: files that a crash loses until they are on the disk.
///
/// The rule of the real coordinator ([BlobStore](BlobStore.swift)): the scheduler is told of an end when its value is on the disk, and not
/// before; so no fact names one that is not.
struct MemoryValues {
    /// An end whose value is on its way to the disk.
    struct Report {
        let peer: PeerID
        let unit: UnitID
        let attempt: Attempt
        let payload: Payload
        let startedAt: Int64
        let endedAt: Int64

        var input: Input { .ended(peer, unit, attempt, .success(payload), startedAt: startedAt, at: endedAt) }
    }

    private var durable: Set<BlobDigest> = []
    private var unwritten: [(digest: BlobDigest, report: Report)] = []

    var hasUnwritten: Bool { !unwritten.isEmpty }

    func isThere(_ digest: BlobDigest) -> Bool { durable.contains(digest) }

    mutating func write(_ digest: BlobDigest, for report: Report) { unwritten.append((digest, report)) }

    /// What was on its way is on the disk.
    /// - Returns: the ends that may be told of now.
    mutating func finishWriting() -> [Report] {
        defer { unwritten = [] }
        durable.formUnion(unwritten.map(\.digest))
        return unwritten.map(\.report)
    }

    /// What is on its way is lost; or just the news that it is there.
    mutating func crash(keepsWriting: Bool) {
        if keepsWriting { durable.formUnion(unwritten.map(\.digest)) }
        unwritten = []
    }
}

/// For simulations, in which executors offer values as files.
extension MemoryCoordinator {
    /// Whether a value is on its way to the disk.
    package var hasUnwrittenValues: Bool { values.hasUnwritten }

    /// Values that were on their way are on the disk: what they came with is decided on in the next step.
    package func finishWritingValues() {
        for report in values.finishWriting() where !takesUnwrittenValues && isThere(report.peer) { inputs.append(report.input) }
    }

    /// Where values are named that are not on the disk: `SUBMISSION/PATH`.
    package var missingValues: [String] {
        var places: [String] = []
        scheduler.forEachStoredValue { bytes, _, place in
            if let digest = BlobDigest(bytes), !values.isThere(digest) { places.append(place) }
        }
        return places
    }

    /// Takes an end whose value is a file.
    ///
    /// - Returns: whether it is one.
    func takeValue(of end: WireAttemptEnd, _ unit: UnitID, _ attempt: Attempt, from peer: PeerID) -> Bool {
        guard !end.hasAddition, case .success(let value)? = end.outcome, case .blob(let reference)? = value.storage,
            let digest = BlobDigest(reference.digest), let encoding = try? PayloadEncoding(wire: value.encoding)
        else { return false }
        let report = MemoryValues.Report(
            peer: peer, unit: unit, attempt: attempt,
            payload: Payload(encoding: encoding, storage: .blob(digest: digest.bytes, size: reference.size)), startedAt: end.startedAt,
            endedAt: end.endedAt)
        values.write(digest, for: report)
        if takesUnwrittenValues { inputs.append(report.input) }
        return true
    }
}
