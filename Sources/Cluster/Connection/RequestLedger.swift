import DequeModule
import Wire

/// What a client has asked and not been answered, and what it follows: pure, across any number of reconnects.
///
/// A request stays in the ledger until its answer arrives and is sent again, under the same id, whenever the
/// connection is made anew; so is every follow, whose new answer brings the view as it stands then. Of requests that are answered at once no
/// more are under way than the coordinator takes of one connection: the others wait here, in their order. So do follows beyond as many
/// submissions as it lets one connection follow, until another ends.
struct RequestLedger {
    enum Action: Equatable {
        case send(WireRequest)
        case finish(UInt64, Result<WireResponse.OneOf_Body, ClusterError>)
        case deliver(UInt64, FollowEvent)
        case endFollow(UInt64, ClusterError?)
    }

    /// Requests under way at a time; the coordinator takes twice as many (`requestsPerPeer`).
    static let underWayMax = 500

    private enum Connection {
        /// Not attached now; requests wait here.
        case away
        case attached
        /// Nothing will be answered any more.
        case ended(ClusterError)
    }

    private struct Followed {
        /// As the user named it, until the coordinator has told the whole id.
        var submission: String
        var depth: FollowDepth
        var isAnswered = false

        func request(_ id: UInt64) -> WireRequest {
            .with {
                $0.id = id
                $0.follow.submission = submission
                $0.follow.ask(for: depth)
            }
        }
    }

    private var connection = Connection.away
    private var lastID: UInt64 = 0
    private var pending: [UInt64: WireRequest] = [:]
    private var follows: [UInt64: Followed] = [:]
    /// Those of them that were answered, by submission.
    private var answered: [String: Set<UInt64>] = [:]
    /// How many of them were not.
    private var unansweredCount = 0
    /// Those that the coordinator had no room for: asked again when there may be some. They hold back no end of others.
    private var crowded: Deque<UInt64> = []
    /// Sent on this connection and not answered, whether somebody still waits for the answer or not; without those that wait for something
    /// at the coordinator, which counts them apart.
    private var underWay: Set<UInt64> = []
    /// To be sent when others were answered.
    private var waiting: Deque<WireRequest> = []
    /// What the coordinator reports on this connection though perhaps nobody wants it: settled once every follow is
    /// answered, since one that is not may name the same submission by a prefix or `last`.
    private var unwanted: Set<String> = []

    /// Takes up a request; the id names it in the actions to come.
    mutating func ask(_ body: WireRequest.OneOf_Body) -> (id: UInt64, actions: [Action]) {
        let request = draw(body)
        return (request.id, take(request))
    }

    /// Follows a submission; its events are delivered under the id.
    mutating func follow(_ submission: String, _ depth: FollowDepth = .operations) -> (id: UInt64, actions: [Action]) {
        lastID += 1
        let followed = Followed(submission: submission, depth: depth)
        let request = followed.request(lastID)
        if case .ended(let error) = connection { return (request.id, [.endFollow(request.id, error)]) }
        follows[request.id] = followed
        unansweredCount += 1
        return (request.id, take(request))
    }

    /// The asker is no longer interested.
    mutating func abandon(_ id: UInt64) -> [Action] {
        pending[id] = nil
        guard let followed = remove(follow: id) else { return [] }
        if followed.isAnswered { unwanted.insert(followed.submission) }
        return unfollow()
    }

    private mutating func remove(follow id: UInt64) -> Followed? {
        guard let followed = follows.removeValue(forKey: id) else { return nil }
        guard followed.isAnswered else {
            unansweredCount -= 1
            crowded.removeAll { $0 == id }
            return followed
        }
        answered[followed.submission]?.remove(id)
        if answered[followed.submission]?.isEmpty == true { answered[followed.submission] = nil }
        return followed
    }

    private mutating func isAnswered(_ id: UInt64, by submission: String) {
        guard let followed = remove(follow: id) else { return }
        follows[id] = Followed(submission: submission, depth: followed.depth, isAnswered: true)
        answered[submission, default: []].insert(id)
    }

    /// One submission less is followed: there may be room for another.
    private mutating func askCrowded() -> [Action] {
        guard let id = crowded.popFirst(), let request = follows[id]?.request(id) else { return [] }
        pending[id] = request
        return send(request)
    }

    /// The coordinator lets this connection follow no more submissions.
    private mutating func crowd(_ id: UInt64) {
        guard let followed = remove(follow: id) else { return }
        follows[id] = Followed(submission: followed.submission, depth: followed.depth)
        unansweredCount += 1
        crowded.append(id)
    }

    /// Ends the reports that nobody wants, as soon as it is certain that nobody does.
    private mutating func unfollow() -> [Action] {
        guard case .attached = connection, !unwanted.isEmpty, unansweredCount == crowded.count else { return [] }
        let submissions = unwanted.filter { answered[$0] == nil }.sorted()
        unwanted = []
        return submissions.flatMap { submission in
            send(draw(.unfollow(.with { $0.submission = submission }))) + askCrowded()
        }
    }

    mutating func attached() -> [Action] {
        if case .ended = connection { return [] }
        connection = .attached
        unwanted = []
        underWay = []
        waiting = []
        crowded = []
        for (id, followed) in follows where pending[id] == nil { pending[id] = followed.request(id) }
        return pending.keys.sorted().flatMap { id in pending[id].map { send($0) } ?? [] }
    }

    mutating func detached(reason: String) -> [Action] {
        guard case .attached = connection else { return [] }
        connection = .away
        return follows.keys.sorted().map { .deliver($0, .interrupted(reason: reason)) }
    }

    mutating func received(_ response: WireResponse) -> [Action] {
        underWay.remove(response.request)
        return take(response) + sendWaiting()
    }

    private mutating func take(_ response: WireResponse) -> [Action] {
        let id = response.request
        guard pending.removeValue(forKey: id) != nil else {
            // The answer to a follow that was abandoned before it came.
            guard case .following(let following)? = response.body, follows[id] == nil else { return [] }
            unwanted.insert(following.submission.id)
            return unfollow()
        }
        guard follows[id] != nil else { return [.finish(id, Self.result(response))] }
        switch Self.result(response) {
        case .success(.following(let following)):
            isAnswered(id, by: following.submission.id)
            return deliver(.view(following.submission), to: id, view: following.submission) + unfollow()
        case .success:
            return end(follow: id, Self.unexpected)
        case .failure(let error) where error.code == .busy && !answered.isEmpty:
            crowd(id)
            return unfollow()
        case .failure(let error):
            return end(follow: id, error)
        }
    }

    mutating func received(_ events: WireEvents) -> [Action] {
        (answered[events.submission] ?? []).sorted().flatMap { id -> [Action] in
            guard let followed = follows[id] else { return [] }
            // Told to somebody else on this connection, or by a coordinator that does not know that only the end is wanted.
            if followed.depth == .end, !events.view.state.isFinal { return [] }
            // What was left out is in the view.
            if events.missed, followed.depth != .end { return deliver(.view(events.view), to: id, view: events.view) }
            let told = followed.depth == .everything ? events.events : Self.withoutDetails(events.events)
            return deliver(.events(told, events.view), to: id, view: events.view)
        }
    }

    /// Somebody else on this connection may have asked for them.
    private static func withoutDetails(_ events: [WireEvent]) -> [WireEvent] {
        guard events.contains(where: { $0.group || $0.hasValue }) else { return events }
        return events.filter { !$0.group }.map { event in
            var event = event
            event.clearValue()
            return event
        }
    }

    /// Nothing more will come: everything that waits ends with `error`.
    mutating func end(_ error: ClusterError) -> [Action] {
        if case .ended = connection { return [] }
        connection = .ended(error)
        let actions =
            pending.keys.sorted().filter { follows[$0] == nil }.map { Action.finish($0, .failure(error)) }
            + follows.keys.sorted().map { Action.endFollow($0, error) }
        pending = [:]
        follows = [:]
        answered = [:]
        unansweredCount = 0
        crowded = []
        waiting = []
        return actions
    }

    static let unexpected = ClusterError(
        .unexpectedAnswer,
        "the coordinator answered with something else than what was asked for; client and coordinator are of different builds: update both")

    private mutating func draw(_ body: WireRequest.OneOf_Body) -> WireRequest {
        lastID += 1
        let id = lastID
        return .with {
            $0.id = id
            $0.body = body
        }
    }

    private mutating func take(_ request: WireRequest) -> [Action] {
        switch connection {
        case .ended(let error): return [.finish(request.id, .failure(error))]
        case .away:
            pending[request.id] = request
            return []
        case .attached:
            pending[request.id] = request
            return send(request)
        }
    }

    private mutating func send(_ request: WireRequest) -> [Action] {
        guard !request.waitsForNews else { return [.send(request)] }
        guard waiting.isEmpty, underWay.count < Self.underWayMax else {
            waiting.append(request)
            return []
        }
        underWay.insert(request.id)
        return [.send(request)]
    }

    private mutating func sendWaiting() -> [Action] {
        var actions: [Action] = []
        while underWay.count < Self.underWayMax, let request = waiting.popFirst() {
            // What is not pending any more was given up, but for ends of follows, whose answers nobody waits for.
            if pending[request.id] == nil, !request.endsFollow { continue }
            underWay.insert(request.id)
            actions.append(.send(request))
        }
        return actions
    }

    private mutating func deliver(_ event: FollowEvent, to id: UInt64, view: WireSubmissionView) -> [Action] {
        guard view.state.isFinal else { return [.deliver(id, event)] }
        return [.deliver(id, event)] + end(follow: id, nil)
    }

    private mutating func end(follow id: UInt64, _ error: ClusterError?) -> [Action] {
        _ = remove(follow: id)
        pending[id] = nil
        return [.endFollow(id, error)] + unfollow() + askCrowded()
    }

    private static func result(_ response: WireResponse) -> Result<WireResponse.OneOf_Body, ClusterError> {
        switch response.body {
        case .failed(let failure): .failure(ClusterError(failure))
        case .some(let body): .success(body)
        case nil: .failure(unexpected)
        }
    }
}

/// How much of a submission a follower is told.
enum FollowDepth {
    /// Its end.
    case end
    /// What becomes of its operations as well.
    case operations
    /// What becomes of its groups as well, and values.
    case everything
}

extension WireRequest {
    fileprivate var endsFollow: Bool { if case .unfollow? = body { true } else { false } }
}

extension WireFollow {
    fileprivate mutating func ask(for depth: FollowDepth) {
        details = depth == .everything
        endOnly = depth == .end
    }
}

/// What a follower of a submission is told, in order; ``SubmissionEvent`` is what programs read.
package enum FollowEvent: Equatable, Sendable {
    /// The submission as it stands: at the beginning, and again after each reconnect and for who reads so slowly that events were
    /// left out (what happened in between is in the view, not in events).
    case view(WireSubmissionView)
    /// What happened since, and the submission as it stands after it.
    case events([WireEvent], WireSubmissionView)
    /// The coordinator cannot be heard; the connection is being made anew.
    case interrupted(reason: String)
}

extension WireSubmissionState {
    /// The submission has its outcome.
    package var isFinal: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        case .pending, .running, .paused, .UNRECOGNIZED: false
        }
    }
}

extension WireOperationState {
    /// The operation has its outcome.
    package var isFinal: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        case .blocked, .locking, .evaluating, .queued, .running, .stopping, .retrying, .paused, .UNRECOGNIZED: false
        }
    }
}
