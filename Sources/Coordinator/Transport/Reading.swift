import Scheduling

/// What a client reads, page by page: output, or partial results.
enum Reading: Sendable {
    case output(path: String, after: Int64, limitBytes: Int)
    /// `attempt`, `index`: up to where it has read; 0, 0: nothing yet.
    case elements(path: String, attempt: Int, index: UInt64, limitBytes: Int)

    var path: String {
        switch self {
        case .output(let path, _, _), .elements(let path, _, _, _): path
        }
    }

    /// What the scheduler is asked first: which units are meant, and how they stand.
    func question(in submission: String) -> Request {
        switch self {
        case .output(let path, _, _): .locate(submission: submission, path: path)
        case .elements(let path, _, _, _): .locateOperation(submission: submission, path: path)
        }
    }
}

/// A client's request to read, on its way.
struct ReadRequest: Sendable {
    let peer: PeerID
    /// The client's request.
    let request: UInt64
    let reading: Reading
    /// As the client named it; later the whole id.
    var submission: String
    /// Boot time until which it waits where there is nothing; nil: it does not wait.
    let waitsUntil: Int64?
    /// How far its wait has come.
    var stage = Stage.first

    enum Stage: Sendable, Equatable {
        /// It looks for the first time, and nobody need tell it of anything.
        case first
        /// It looks while what happens is noted: since when.
        case watching(since: UInt64)
    }
}

/// Names a question to the spool of partial results.
struct ElementTicket: Sendable {
    var read: ReadRequest
    let unit: UnitID
    /// The attempt that is read; 0: none has begun.
    let number: Int
    /// Nothing will follow what is stored when the question is asked.
    let isEnded: Bool
    /// Why the operation that has ended did not succeed.
    let failures: [Failure]
}

/// Names a question to the spool of output.
struct OutputTicket: Sendable {
    var read: ReadRequest
    /// What is at the path.
    let unit: UnitID
    let isEnded: Bool
}
