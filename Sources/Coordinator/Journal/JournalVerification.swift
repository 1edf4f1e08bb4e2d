import Foundation
import GRDB
import Scheduling
import Wire

/// What a look at a whole journal finds, beside the work: no coordinator runs on it meanwhile, and nothing is written, so that it may be on a
/// medium that cannot be.
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
    /// What nothing names in the store of large values: no fault, and `JournalPrune` removes it.
    public var unnamedValues: Int { unnamed.count }
    public var unnamedValueBytes: UInt64 { unnamed.bytes }
    private var unnamed = UnnamedValues.none
    /// The last coordinator ended while it was writing; nobody had been told of what was cut off.
    public let hasTornTail: Bool
    /// Large values that are missing and were given up: those that name them, `SUBMISSION/PATH`, in their order.
    public let givenUp: [String]
    /// What does not hold, in words; empty: all does.
    public let problems: [String]
    /// What of the stored partial results is damaged or lost, in words: readers are told of it, and everything else holds without them.
    public private(set) var partialResultProblems: [String]
    /// What could not be looked at, and why, in words: nobody knows whether it holds. A disk that cannot be read is no damage.
    public private(set) var notLookedAt: [String]

    /// Whether there is a journal in the directory.
    public static func isThere(in dataDirectory: String) -> Bool {
        FileManager.default.fileExists(atPath: dataDirectory + "/journal.sqlite")
    }

    /// Reads snapshot and facts, checks their hashes and each fact against the state before it, then the invariants of the state,
    /// and whether the values are there that it names; then the partial results, and whether those are there that were acknowledged.
    ///
    /// - Parameters:
    ///   - hashingValues: their content is read, too.
    /// - Throws: `DataDirectoryError` (a coordinator runs on it, or it cannot be read), `JournalError` (what can be read ends there).
    /// - Complexity: O(facts), the size of all partial results, and that of all values when they are hashed.
    public init(dataDirectory: String, hashingValues: Bool = false) throws {
        let directory = try DataDirectory(reading: dataDirectory)
        let database = try JournalDatabase(readingOnly: directory)
        path = database.path
        if case .tornTail = database.logFinding { hasTornTail = true } else { hasTornTail = false }
        var problems = try database.integrityProblems()
        var scheduler = Scheduler(CoordinatorConfiguration(dataDirectory: dataDirectory).scheduling)
        let (snapshot, end, _) = try Recovery.fold(database, into: &scheduler)
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
        var notLookedAt: [String] = []
        for (key, place) in found.sorted(by: { $0.value < $1.value }) {
            if lost.isGivenUp(key), !key.isThere(below: directory.blobsPath) {
                givenUp.append(place)
                continue
            }
            switch StoredValueCheck(root: directory.blobsPath, hashes: hashingValues).look(at: key) {
            case .holds: break
            case .wrong(let text): problems.append("the value of \(place) \(text)")
            case .notLookedAt(let text): notLookedAt.append("the value of \(place) \(text)")
            }
        }
        self.givenUp = givenUp
        do throws(BlobStoreError) { unnamed = try UnnamedValues(below: directory.blobsPath, of: scheduler) } catch {
            notLookedAt.append("what nothing names of the large values: \(error)")
        }
        let elements = ElementVerification(directory, scheduler)
        partialResultProblems = elements.problems
        if let text = elements.notLookedAt { notLookedAt.append(text) }
        self.notLookedAt = notLookedAt
        // As the next coordinator would begin; nothing of it is kept.
        var outputs = Outputs()
        scheduler.start(at: Instant(boot: 0, wall: WallClock.milliseconds()), incarnation: Incarnation(1), into: &outputs)
        problems += scheduler.violations()
        self.problems = problems
        try directory.checkIsUnused()
    }

    /// - Throws: `BlobStoreError`.
    mutating func removeUnnamed() throws(BlobStoreError) {
        try unnamed.remove()
        unnamed = .none
    }

    /// The directory was given another name since.
    func moved(from old: String, to new: String) -> JournalVerification {
        var moved = self
        moved.path = path.replacingOccurrences(of: old, with: new)
        moved.partialResultProblems = partialResultProblems.map { $0.replacingOccurrences(of: old, with: new) }
        moved.notLookedAt = notLookedAt.map { $0.replacingOccurrences(of: old, with: new) }
        return moved
    }
}

/// Whether a large value is there as it was written.
private struct StoredValueCheck {
    let root: String
    let hashes: Bool

    /// In words, after "the value of …".
    enum Finding {
        case holds
        case wrong(String)
        case notLookedAt(String)
    }

    func look(at key: BlobKey) -> Finding {
        let path = key.digest.path(below: root)
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            guard code != ENOENT, code != ENOTDIR else { return .wrong("is missing: \(path)") }
            return .notLookedAt("cannot be looked at: \(path): \(DataDirectory.reason(code))")
        }
        guard UInt64(status.st_size) == key.size else { return .wrong("has \(status.st_size) bytes instead of \(key.size): \(path)") }
        guard hashes else { return .holds }
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var hasher = BlobHasher()
            while let piece = try file.read(upToCount: Self.pieceBytes), !piece.isEmpty { hasher.update(piece) }
            try file.close()
            return hasher.finalize() == key.digest ? .holds : .wrong("is not what was written: \(path)")
        } catch {
            return .notLookedAt("cannot be read: \(path): \(error)")
        }
    }

    private static let pieceBytes = 1 << 20
}
