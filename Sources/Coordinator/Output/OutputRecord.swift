import Scheduling

/// Something an attempt printed.
struct OutputRecord: Hashable, Sendable {
    /// The raw values are those of the wire.
    enum Stream: UInt8, Hashable, Sendable { case stdout = 0, stderr, log }

    var unit: UnitID
    var attempt: Attempt
    /// From 1; 0: what is stored of the attempt says it.
    var attemptNumber: Int
    var path: String
    var stream: Stream
    /// Position of the chunk within its attempt, from 0: a chunk that is sent again is not stored again.
    var index: UInt64
    /// Milliseconds since 1970.
    var at: Int64
    var bytes: [UInt8]
    /// It says that something is missing in its place.
    var isTruncated: Bool
    /// Everything of the attempt from this index on is kept by who has sent it, until a receipt; nil: nothing is.
    var keptFrom: UInt64?
    /// Who is told what has become of it; nil: nobody.
    var sender: PeerID?

    /// What it takes while it waits to be stored.
    var spooledBytes: Int { bytes.count + 128 }
}

extension OutputRecord {
    /// Stands in the place of output that is lost, up to this record or with it.
    ///
    /// - Parameter endsLine: what is before it ends with a line.
    func gap(at index: UInt64, endsLine: Bool = false) -> OutputRecord {
        var gap = self
        gap.index = index
        gap.bytes = Array(((endsLine ? "" : "\n") + Self.gapText).utf8)
        gap.isTruncated = true
        gap.keptFrom = nil
        gap.sender = nil
        return gap
    }

    private static let gapText = "[output is missing here: it was lost before it could be stored]\n"
}

/// What has become of the output of an attempt.
struct OutputStanding: Hashable, Sendable {
    /// Everything before this index is stored, or is not there any more.
    var next: UInt64
    /// Something after that was not taken.
    var isRefused = false
}

/// Tells the sender of output what has become of it.
struct OutputReceipt: Hashable, Sendable {
    let peer: PeerID
    let unit: UnitID
    let attempt: Attempt
    var standing: OutputStanding

    /// One for each attempt and sender that keeps its output, in the order in which they come.
    static func receipts(for records: [OutputRecord], _ standings: [AttemptName: OutputStanding]) -> [OutputReceipt] {
        var told: Set<OutputReceipt> = []
        return records.compactMap { record in
            guard record.keptFrom != nil, let peer = record.sender,
                let standing = standings[AttemptName(unit: record.unit, attempt: record.attempt)]
            else { return nil }
            let receipt = OutputReceipt(peer: peer, unit: record.unit, attempt: record.attempt, standing: standing)
            return told.insert(receipt).inserted ? receipt : nil
        }
    }
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
