import Foundation
import Scheduling
import Wire

/// Gives up large values that are lost, in a directory on which no coordinator runs: it starts without them then. Operations that need one
/// fail, and so does reading it; everything else goes on.
public struct JournalLoss: Sendable {
    /// One that is lost.
    public struct Value: Sendable, Hashable {
        /// SHA-256, hexadecimal.
        public let digest: String
        /// In bytes.
        public let size: UInt64
        /// One of those that name it: `SUBMISSION/PATH`.
        public let place: String
        /// By an earlier call.
        public let wasGivenUp: Bool
    }

    /// Of the journal.
    public let path: String
    /// In the order of their places.
    public let values: [Value]

    /// - Parameter isDryRun: nothing is changed.
    /// - Throws: `DataDirectoryError` (a coordinator runs on it), `JournalError`, `BackupError.file`.
    /// - Complexity: O(facts), and a look at each value's file.
    public init(dataDirectory: String, isDryRun: Bool = false) throws {
        let directory = try isDryRun ? DataDirectory(reading: dataDirectory) : DataDirectory(path: dataDirectory)
        guard !DurableFiles.isThere(JournalRestore.marker(in: directory.path)) else {
            throw DataDirectoryError.restoring(path: directory.path)
        }
        path = directory.journalPath
        var scheduler = Scheduler(CoordinatorConfiguration(dataDirectory: dataDirectory).scheduling)
        let reader = try JournalDatabase(readingOnly: directory)
        let end = try Recovery.fold(reader, into: &scheduler).end
        try JournalWitness.check(in: directory, reader, reaches: end)
        try reader.close()
        let store = LostValues(root: directory.blobsPath)
        let lost = store.find(in: scheduler)
        values = lost.map { key, place in
            Value(digest: key.digest.hexadecimal, size: key.size, place: place, wasGivenUp: store.isGivenUp(key))
        }
        .sorted { ($0.place, $0.digest) < ($1.place, $1.digest) }
        guard !isDryRun, !lost.isEmpty else { return }
        try DurableFiles.makeDirectory(directory.blobsPath)
        try store.giveUp(lost.keys)
    }
}
