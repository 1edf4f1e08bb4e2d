import Scheduling

/// Partial results of one attempt that came together.
struct ElementRun: Hashable, Sendable {
    struct Element: Hashable, Sendable {
        /// Within its attempt, from 0; what is left out was given up by its sender.
        var index: UInt64
        /// As on the wire.
        var encoding: UInt8
        var bytes: [UInt8]

        /// What it takes of the limit: also very many empty ones are bounded.
        var spooledBytes: Int { bytes.count + Self.overhead }

        /// What one takes besides its bytes.
        static let overhead = 64
    }

    let peer: PeerID
    let unit: UnitID
    let attempt: Attempt
    /// From 1; the attempts of an operation are kept apart by it.
    let number: Int
    /// Everything of the attempt before this index was in earlier runs.
    let first: UInt64
    let elements: [Element]
    /// Nothing follows.
    let isClosed: Bool

    var spooledBytes: Int { elements.reduce(128) { $0 + $1.spooledBytes } }
}

/// What became of a run.
struct ElementReceipt: Hashable, Sendable {
    let peer: PeerID
    let unit: UnitID
    let attempt: Attempt
    /// Everything of the attempt before this index is on the disk.
    var next: UInt64
    var isClosed: Bool
    /// Why the rest was not taken; nil: it was.
    var full: String?
    /// What was acknowledged before the run, and is not there any more.
    var loss: ElementLoss?
}

/// What a reader asks of the spool.
struct ElementQuery: Hashable, Sendable {
    var unit: UnitID
    /// The attempt that counts.
    var number: Int
    /// The first index wanted.
    var from: UInt64
    var limitBytes: Int
    /// Nothing will follow what is stored. Until then a sender may offer again what seems to be lost, and readers are told of a loss by what
    /// comes behind it.
    var isEnded = true
}

struct ElementPage: Hashable, Sendable {
    var elements: [ElementRun.Element] = []
    /// The first index after these, and after those behind them that are gone.
    var next: UInt64
    /// More is stored already.
    var more = false
}
