import Scheduling
import Wire

/// What follows from a large value that is here, or will never be.
struct PullEnd {
    enum Result {
        case ended(AttemptName, AttemptOutcome, startedAt: Int64, endedAt: Int64)
        case submit(request: UInt64, Request)
        case refuse(request: UInt64, WireRequestFailed)
    }

    let pull: Pull
    let host: String

    /// The value is on the disk.
    func value() -> Result {
        guard case .value(let unit, let attempt, let encoding, let addition, let startedAt, let endedAt) = pull.purpose else {
            preconditionFailure("a pull for \(pull.purpose) was kept as a value")
        }
        let storage = Payload.Storage.blob(digest: pull.key.digest.bytes, size: pull.key.size)
        return .ended(
            AttemptName(unit: unit, attempt: attempt), AttemptOutcome(Payload(encoding: encoding, storage: storage), addition),
            startedAt: startedAt, endedAt: endedAt)
    }

    func elements(_ elements: Swift.Result<[[UInt8]], TranslationError>) -> Result {
        guard case .elements(let unit, let attempt, let startedAt, let endedAt) = pull.purpose else {
            preconditionFailure("a pull for \(pull.purpose) was read as elements")
        }
        switch elements {
        case .success(let elements):
            return .ended(
                AttemptName(unit: unit, attempt: attempt), .elements(elements), startedAt: startedAt, endedAt: endedAt)
        case .failure(let error): return failure("\(error)")
        }
    }

    func graph(_ graph: Swift.Result<ExaminedGraph, TranslationError>) -> Result {
        guard case .graph(let request, let submit) = pull.purpose else {
            preconditionFailure("a pull for \(pull.purpose) was read as a graph")
        }
        switch graph {
        case .success(let graph): return .submit(request: request, Request(submit, of: graph))
        case .failure(let error): return .refuse(request: request, WireRequestFailed(.malformed, "\(error)"))
        }
    }

    /// Of a graph: it may be handed in later.
    func busy(_ reason: String) -> Result {
        guard case .graph(let request, _) = pull.purpose else { return failure(reason) }
        return .refuse(request: request, WireRequestFailed(.busy, reason))
    }

    /// An attempt whose result cannot be had has failed: were it left open, it would stay so for ever.
    func failure(_ reason: String) -> Result { end(ReportedEnd.unreadable(reason, host: host), reason) }

    /// No file may be so large: it would be offered again and again.
    func tooLarge(_ reason: String) -> Result {
        end(Failure(code: .limit, message: "the coordinator cannot store its result: \(reason)", host: host), reason)
    }

    private func end(_ failure: Failure, _ reason: String) -> Result {
        switch pull.purpose {
        case .value(let unit, let attempt, _, _, let startedAt, let endedAt),
            .elements(let unit, let attempt, let startedAt, let endedAt):
            .ended(AttemptName(unit: unit, attempt: attempt), .failure([failure]), startedAt: startedAt, endedAt: endedAt)
        case .graph(let request, _):
            .refuse(request: request, WireRequestFailed(.malformed, "the graph cannot be taken over: \(reason)"))
        }
    }
}
