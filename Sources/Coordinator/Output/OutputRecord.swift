import Scheduling

/// Something an attempt printed.
struct OutputRecord: Hashable, Sendable {
    /// The raw values are those of the wire.
    enum Stream: UInt8, Hashable, Sendable { case stdout = 0, stderr, log }

    var unit: UnitID
    var attempt: Attempt
    /// From 1.
    var attemptNumber: Int
    var path: String
    var stream: Stream
    /// Position of the chunk within its attempt, from 0: a chunk that is sent again is not stored again.
    var index: UInt64
    /// Milliseconds since 1970.
    var at: Int64
    var bytes: [UInt8]
    /// It says how much is missing there: more was written than is kept of one attempt.
    var isTruncated: Bool

    /// What it takes while it waits to be stored.
    var spooledBytes: Int { bytes.count + 128 }
}

/// What a reader asks of the spool.
struct OutputQuery: Hashable, Sendable {
    var submission: SubmissionNumber
    /// Unit indices; nil: all.
    var units: [Int]?
    /// Position of the last record read; 0: from the start.
    var after: Int64
    var limitBytes: Int
}

struct OutputPage: Hashable, Sendable {
    var records: [OutputRecord] = []
    /// Pass as `after` to continue.
    var position: Int64
    /// More is stored already.
    var more = false
}
