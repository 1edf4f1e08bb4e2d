import Scheduling
import Wire

extension Reply {
    /// Body of the response; nil: a response without one ("done").
    ///
    /// `located` and `locatedOperation` are the transport's own questions and never go to a client.
    var wire: WireResponse.OneOf_Body? {
        switch self {
        case .failed(let failure): return .failed(failure.wire)
        case .submitted(let id, let existing):
            var wire = WireSubmitted()
            wire.id = id
            wire.existing = existing
            return .submitted(wire)
        case .checked(let errors):
            var wire = WireCheckResult()
            wire.errors = errors.prefix(RequestFailure.errorsMax).map(\.wire)
            return .checked(wire)
        case .cancelAccepted(let id, let alreadyEnded):
            var wire = WireCancelAccepted()
            wire.id = id
            wire.alreadyEnded = alreadyEnded
            return .cancelled(wire)
        case .steered(let id, let changed, let alreadyEnded, let pausedBy):
            var wire = WireSteered()
            wire.id = id
            wire.changed = changed
            wire.alreadyEnded = alreadyEnded
            if let pausedBy { wire.pausedBy = pausedBy }
            return .steered(wire)
        case .retried(let id, let existing, let lifted):
            return .retried(
                .with {
                    $0.submitted.id = id
                    $0.submitted.existing = existing
                    $0.lifted = UInt32(clamping: lifted)
                })
        case .lockReleased(let holders): return .lockReleased(.with { $0.holders = holders })
        case .workerSteered(let name, let changed, let views):
            return .workerSteered(
                .with {
                    $0.name = name
                    $0.changed = changed
                    $0.workers = views.map(\.wire)
                })
        case .submissions(let views, let more):
            var wire = WireSubmissionPage()
            wire.submissions = views.map(\.wire)
            wire.more = more
            return .submissions(wire)
        case .submission(let view): return .submission(view.wire)
        case .operations(let views, let next, let id):
            var wire = WireOperationPage()
            wire.operations = views.map(\.wire)
            wire.next = UInt32(clamping: next)
            wire.id = id
            return .operations(wire)
        case .following(let view):
            var wire = WireFollowing()
            wire.submission = view.wire
            return .following(wire)
        case .workers(let views):
            var wire = WireWorkerList()
            wire.workers = views.map(\.wire)
            return .workers(wire)
        case .workerEvents(let events, let last):
            return .workerEvents(
                .with {
                    $0.events = events.map(\.wire)
                    $0.last = last
                })
        case .locks(let views, let next):
            var wire = WireLockPage()
            wire.locks = views.map(\.wire)
            wire.next = UInt32(clamping: next)
            return .locks(wire)
        case .explanation(let explanation): return .explanation(explanation.wire)
        case .located, .locatedOperation, .done: return nil
        }
    }
}

extension RequestFailure {
    /// Errors of one refusal that are sent; a graph may have a million.
    static let errorsMax = 1000

    var wire: WireRequestFailed {
        var wire = WireRequestFailed()
        switch self {
        case .notFound(let message):
            wire.code = .notFound
            wire.message = message
        case .ambiguous(let message):
            wire.code = .ambiguous
            wire.message = message
        case .refused(let message, let errors):
            wire.code = .refused
            wire.message = message
            wire.errors = errors.prefix(Self.errorsMax).map(\.wire)
        case .busy(let message):
            wire.code = .busy
            wire.message = message
        case .notPermitted(let message):
            wire.code = .notPermitted
            wire.message = message
        case .sessionOver(let message):
            wire.code = .sessionOver
            wire.message = message
        }
        return wire
    }
}

extension WireRequestFailed {
    init(_ code: Code, _ message: String) {
        self.init()
        self.code = code
        self.message = message
    }
}

extension Scheduling.AdmissionError {
    fileprivate var wire: WireAdmissionError {
        var wire = WireAdmissionError()
        wire.node = UInt32(clamping: node)
        wire.path = path
        wire.message = message
        return wire
    }
}
