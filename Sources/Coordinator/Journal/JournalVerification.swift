import Foundation
import GRDB
import Scheduling
import Wire

/// What a look at a whole journal finds, beside the work: no coordinator runs on it meanwhile, and nothing is changed.
public struct JournalVerification: Sendable {
    /// Of the journal.
    public private(set) var path: String
    /// How many there have been, those in the snapshot included.
    public let facts: UInt64
    /// Those that the snapshot stands for; nil: there is none.
    public let snapshotFacts: UInt64?
    public let submissions: Int
    public let unfinishedSubmissions: Int
    /// The last coordinator's.
    public let epoch: UInt32
    /// Large values that outcomes name, each counted once.
    public let values: Int
    public let valueBytes: UInt64
    /// The last coordinator ended while it was writing; nobody had been told of what was cut off.
    public let hasTornTail: Bool
    /// Large values that are missing and were given up: those that name them, `SUBMISSION/PATH`, in their order.
    public let givenUp: [String]
    /// What does not hold, in words; empty: all does.
    public let problems: [String]
    /// What of the stored partial results is damaged or lost, in words: readers are told of it, and everything else holds without them.
    public private(set) var partialResultProblems: [String]

    /// Whether there is a journal in the directory.
    public static func isThere(in dataDirectory: String) -> Bool {
        FileManager.default.fileExists(atPath: dataDirectory + "/journal.sqlite")
    }

    /// Reads snapshot and facts, checks their hashes and each fact against the state before it, then the invariants of the state,
    /// and whether the values are there that it names; then the partial results, and whether those are there that were acknowledged.
    ///
    /// - Parameters:
    ///   - hashingValues: their content is read, too.
    /// - Throws: `DataDirectoryError` (a coordinator runs on it), `JournalError` (what can be read ends there).
    /// - Complexity: O(facts), the size of all partial results, and that of all values when they are hashed.
    public init(dataDirectory: String, hashingValues: Bool = false) throws {
        let directory = try DataDirectory(path: dataDirectory)
        let database = try JournalDatabase(readingOnly: directory)
        path = database.path
        if case .tornTail = database.logFinding { hasTornTail = true } else { hasTornTail = false }
        var problems = try database.integrityProblems()
        var scheduler = Scheduler(CoordinatorConfiguration(dataDirectory: dataDirectory).scheduling)
        let (snapshot, end) = try Recovery.fold(database, into: &scheduler)
        try JournalWitness.check(in: directory, database, reaches: end)
        facts = end.sequence.rawValue
        snapshotFacts = snapshot?.end.sequence.rawValue
        epoch = scheduler.epoch
        (submissions, unfinishedSubmissions) = scheduler.submissionCounts
        var found: [BlobKey: String] = [:]
        scheduler.forEachStoredValue { digest, size, place in
            if let digest = BlobDigest(digest) { found[BlobKey(digest: digest, size: size)] = place }
        }
        values = found.count
        valueBytes = found.keys.reduce(0) { $0 + $1.size }
        let lost = LostValues(root: directory.blobsPath)
        var givenUp: [String] = []
        for (key, place) in found.sorted(by: { $0.value < $1.value }) {
            if lost.isGivenUp(key), !key.isThere(below: directory.blobsPath) {
                givenUp.append(place)
            } else if let problem = StoredValueCheck(root: directory.blobsPath, hashes: hashingValues).problem(with: key) {
                problems.append("the value of \(place) \(problem)")
            }
        }
        self.givenUp = givenUp
        partialResultProblems = ElementVerification(directory, scheduler).problems
        // As the next coordinator would begin; nothing of it is kept.
        var outputs = Outputs()
        scheduler.start(at: Instant(boot: 0, wall: WallClock.milliseconds()), incarnation: Incarnation(1), into: &outputs)
        problems += scheduler.violations()
        self.problems = problems
    }

    /// The directory was given another name since.
    func moved(from old: String, to new: String) -> JournalVerification {
        var moved = self
        moved.path = path.replacingOccurrences(of: old, with: new)
        moved.partialResultProblems = partialResultProblems.map { $0.replacingOccurrences(of: old, with: new) }
        return moved
    }
}

/// Whether a large value is there as it was written.
private struct StoredValueCheck {
    let root: String
    let hashes: Bool

    /// In words, after "the value of …"; nil: it is.
    func problem(with key: BlobKey) -> String? {
        let path = key.digest.path(below: root)
        var status = stat()
        guard stat(path, &status) == 0 else { return "is missing: \(path)" }
        guard UInt64(status.st_size) == key.size else { return "has \(status.st_size) bytes instead of \(key.size): \(path)" }
        guard hashes else { return nil }
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var hasher = BlobHasher()
            while let piece = try file.read(upToCount: Self.pieceBytes), !piece.isEmpty { hasher.update(piece) }
            try file.close()
            return hasher.finalize() == key.digest ? nil : "is not what was written: \(path)"
        } catch {
            return "cannot be read: \(path): \(error)"
        }
    }

    private static let pieceBytes = 1 << 20
}
