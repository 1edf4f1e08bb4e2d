/// A peer's side of its connection to the coordinator, as a value that is stepped: inputs are methods, each returns what to do.
///
/// Time is an argument, in milliseconds of ``BootClock``. ``PeerLink`` is its shell: it owns the socket and does the actions
/// in their order. The lease counts from when the last heartbeat *that was answered* was sent (or the hello that was
/// welcomed), because from that instant on the coordinator may count as well; other messages only show that the connection
/// is alive.
public struct PeerSession: Sendable {
    public enum Action: Sendable, Equatable {
        /// Close what there is and connect with a fresh socket; then call ``connected(at:)`` or ``lost(_:at:)``.
        case connect
        /// Make the hello and send it; then call ``helloSent(at:)``.
        case sayHello
        /// Ask for a heartbeat and send it, if there is one; then call ``heartbeatSent(at:)`` with the time it carries.
        case beat
        /// Close the socket.
        case disconnect
        case emit(Notice)
        /// Hand the message just received to the peer.
        case deliver
        /// Nothing more will happen: close the socket and end.
        case stop
    }

    /// What the peer is told.
    public enum Notice: Sendable, Equatable {
        case attached(WireWelcome, sameCoordinator: Bool)
        /// - Parameter isThere: the coordinator has answered, and has an obstacle that may pass.
        case detached(reason: String, isThere: Bool = false)
        case leaseOver
        case lockLeaseEnding(graceMilliseconds: Int64)
        case orphanLimitOver
        case refused(WireRefusal)
        case farewell(String)
        case denied(reason: String)
    }

    /// What a refusal is that somebody may take back (``WireRefusal/mayBeTakenBack``).
    public enum AfterRefusal: Sendable, Equatable {
        /// The end: somebody is there who sees it.
        case end
        /// The end for who never was welcomed. Who was goes on trying, as with a key that was revoked: what it holds is worth more.
        case tryOnOnceWelcomed
        /// Somebody else decides about the end.
        case tryOn
    }

    /// Waits that the coordinator does not set, and what follows on its refusals.
    public struct Configuration: Sendable, Equatable {
        /// From the start of an attempt until the connection stands.
        public var connectTimeoutMilliseconds: Int64 = 1000
        /// From there until the hello is made: the peer may be busy, or hung.
        public var helloTimeoutMilliseconds: Int64 = 2000
        /// From there until the welcome.
        public var welcomeTimeoutMilliseconds: Int64 = 2000
        /// Of a peer that holds nothing under its lease, and may wait for a busy coordinator: the lease is at least so long.
        public var leaseMinimumMilliseconds: Int64 = 0
        public var reconnectMinimumMilliseconds: Int64 = 50
        public var reconnectMaximumMilliseconds: Int64 = 500
        /// After the coordinator did not let this peer's key in.
        public var deniedMaximumMilliseconds = Self.deniedMaximumMillisecondsDefault
        public static let deniedMaximumMillisecondsDefault: Int64 = 10_000
        public var afterRefusal = AfterRefusal.end

        public init() {}
    }

    private enum State {
        /// Made, not started.
        case idle
        /// On the way to a welcome.
        case greeting(Greeting)
        /// Welcomed. `heardAt` is when the coordinator was last heard, `beatAt` when the next heartbeat is due.
        case attached(heardAt: Int64, beatAt: Int64)
        /// No connection; the next attempt is at `retryAt`.
        case detached(retryAt: Int64)
        /// The coordinator will not have us; final.
        case refused
        /// Closed by its owner; final.
        case closed
    }

    private enum Greeting {
        /// The socket is connecting.
        case connecting(deadline: Int64)
        /// Connected; the hello is being made.
        case preparing(deadline: Int64)
        /// The hello left at `sentAt`.
        case waiting(sentAt: Int64, deadline: Int64)
    }

    private let configuration: Configuration
    private var state = State.idle
    private var standing = LeaseStanding.none
    private var retryMilliseconds: Int64
    /// What the last welcome said.
    private var timing = SessionTiming()
    /// The incarnation of the coordinator that welcomed this peer last; 0: none has.
    public private(set) var lastCoordinator: UInt64 = 0

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        retryMilliseconds = configuration.reconnectMinimumMilliseconds
    }

    /// Whether messages can be sent.
    public var isAttached: Bool {
        if case .attached = state { true } else { false }
    }

    // MARK: Inputs

    /// Makes the first attempt.
    public mutating func start(at now: Int64) -> [Action] {
        switch state {
        case .idle: return connect(at: now)
        case .greeting, .attached, .detached, .refused, .closed: return []
        }
    }

    /// The connection stands.
    public mutating func connected(at now: Int64) -> [Action] {
        guard case .greeting(.connecting) = state else { return [] }
        state = .greeting(.preparing(deadline: now + configuration.helloTimeoutMilliseconds))
        return [.sayHello]
    }

    /// The hello was handed to the connection.
    public mutating func helloSent(at now: Int64) -> [Action] {
        guard case .greeting(.preparing) = state else { return [] }
        state = .greeting(.waiting(sentAt: now, deadline: now + configuration.welcomeTimeoutMilliseconds))
        return []
    }

    /// A heartbeat with this `sent_at` was handed to the connection.
    public mutating func heartbeatSent(at now: Int64) -> [Action] {
        guard isAttached else { return [] }
        standing.sent(at: now)
        return []
    }

    /// The connection ended, could not be made, or is of no use.
    ///
    /// - Parameter isThere: the coordinator has answered, and has an obstacle that may pass.
    public mutating func lost(_ reason: String, isThere: Bool = false, at now: Int64) -> [Action] {
        switch state {
        case .greeting, .attached: return expire(at: now) + detach(reason, isThere: isThere, at: now)
        case .idle, .detached, .refused, .closed: return []
        }
    }

    /// The other side does not let this peer's key in.
    public mutating func denied(_ reason: String, at now: Int64) -> [Action] {
        switch state {
        case .greeting, .attached:
            return [.emit(.denied(reason: reason))] + expire(at: now)
                + detach(reason, isThere: true, at: now, maximumMilliseconds: configuration.deniedMaximumMilliseconds)
        case .idle, .detached, .refused, .closed: return []
        }
    }

    /// A message of the coordinator.
    public mutating func receive(_ message: WireCoordinatorMessage, at now: Int64) -> [Action] {
        switch state {
        case .greeting(.waiting(let sentAt, _)): return greeted(message, helloSentAt: sentAt, at: now)
        case .attached(_, let beatAt):
            state = .attached(heardAt: now, beatAt: beatAt)
            // An answer may renew the lease from an instant that is still good: it counts before the lease is judged.
            if case .heartbeatAnswer(let answer) = message.body { return answered(answer, at: now) + expire(at: now) }
            return expire(at: now) + heard(message, at: now)
        case .idle, .greeting, .detached, .refused, .closed: return []
        }
    }

    /// Time has passed; see ``deadline``.
    public mutating func tick(at now: Int64) -> [Action] {
        let expired = expire(at: now)
        switch state {
        case .idle, .refused, .closed: return expired
        case .detached(let retryAt): return now < retryAt ? expired : expired + connect(at: now)
        case .greeting(let greeting): return expired + overdue(greeting, at: now)
        case .attached(let heardAt, let beatAt):
            if now >= heardAt + timing.leaseMilliseconds {
                return expired + detach("nothing was heard from the coordinator for \(timing.leaseMilliseconds) ms", at: now)
            }
            guard now >= beatAt else { return expired }
            // A beat that comes late is not followed by another at once.
            state = .attached(heardAt: heardAt, beatAt: max(beatAt + timing.heartbeatMilliseconds, now + timing.heartbeatMilliseconds / 2))
            return expired + [.beat]
        }
    }

    /// Its owner has no more use for it.
    public mutating func close() -> [Action] {
        switch state {
        case .idle, .greeting, .attached, .detached:
            state = .closed
            return [.stop]
        case .refused, .closed: return []
        }
    }

    /// When ``tick(at:)`` is due at the latest; nil: never.
    public var deadline: Int64? {
        let own: Int64? =
            switch state {
            case .idle, .refused, .closed: nil
            case .greeting(.connecting(let deadline)), .greeting(.preparing(let deadline)), .greeting(.waiting(_, let deadline)): deadline
            case .attached(let heardAt, let beatAt): min(beatAt, heardAt + timing.leaseMilliseconds)
            case .detached(let retryAt): retryAt
            }
        guard let own else { return nil }
        return standing.deadline(timing).map { min($0, own) } ?? own
    }

    // MARK: Transitions

    private mutating func connect(at now: Int64) -> [Action] {
        state = .greeting(.connecting(deadline: now + configuration.connectTimeoutMilliseconds))
        return [.connect]
    }

    private mutating func detach(
        _ reason: String, isThere: Bool = false, at now: Int64, retryNow: Bool = false, maximumMilliseconds: Int64? = nil
    ) -> [Action] {
        state = .detached(retryAt: retryNow ? now : now + retryMilliseconds)
        retryMilliseconds = min(retryMilliseconds * 2, maximumMilliseconds ?? configuration.reconnectMaximumMilliseconds)
        return [.disconnect, .emit(.detached(reason: reason, isThere: isThere))]
    }

    private mutating func overdue(_ greeting: Greeting, at now: Int64) -> [Action] {
        switch greeting {
        case .connecting(let deadline):
            now < deadline ? [] : detach("no connection within \(configuration.connectTimeoutMilliseconds) ms", at: now)
        case .preparing(let deadline):
            now < deadline ? [] : detach("this process did not make its hello within \(configuration.helloTimeoutMilliseconds) ms", at: now)
        case .waiting(_, let deadline):
            now < deadline ? [] : detach("connected, but not welcomed within \(configuration.welcomeTimeoutMilliseconds) ms", at: now)
        }
    }

    private mutating func greeted(_ message: WireCoordinatorMessage, helloSentAt: Int64, at now: Int64) -> [Action] {
        switch message.body {
        case .welcome(let welcome):
            // A welcome that came after the limits says nothing about the time before it: they are told first.
            let expired = expire(at: now)
            let sameCoordinator = lastCoordinator != 0 && lastCoordinator == welcome.coordinatorIncarnation
            timing = SessionTiming(welcome, leaseMinimumMilliseconds: configuration.leaseMinimumMilliseconds)
            guard now < helloSentAt + timing.leaseMilliseconds else {
                // The coordinator counts from the hello: what it gave this peer with the welcome it may have given away since.
                return expired + detach("the welcome came when its lease was over; saying hello again", at: now, retryNow: true)
            }
            lastCoordinator = welcome.coordinatorIncarnation
            standing = .held(answeredAt: helloSentAt, lastSentAt: helloSentAt)
            retryMilliseconds = configuration.reconnectMinimumMilliseconds
            state = .attached(heardAt: now, beatAt: now + timing.heartbeatMilliseconds)
            return expired + [.emit(.attached(welcome, sameCoordinator: sameCoordinator))]
        case .refusal, .farewell, .helloWanted:
            return expire(at: now) + ended(message, at: now)
        case .heartbeatAnswer, .dispatch, .stop, .acknowledgement, .blobRequest, .blobChunk, .response, .events, .elementReceipts,
            .productReceipts, .outputReceipts, .enrolled, nil:
            // For an earlier connection of ours, if anything.
            return []
        }
    }

    private mutating func heard(_ message: WireCoordinatorMessage, at now: Int64) -> [Action] {
        switch message.body {
        case .refusal, .farewell, .helloWanted: return ended(message, at: now)
        case .dispatch, .stop, .acknowledgement, .blobRequest, .blobChunk, .response, .events, .elementReceipts, .productReceipts,
            .outputReceipts:
            return [.deliver]
        // Only one welcome belongs to a hello; answers were handled before; who has a session does not enrol.
        case .welcome, .heartbeatAnswer, .enrolled, nil: return []
        }
    }

    private mutating func answered(_ answer: WireHeartbeatAnswer, at now: Int64) -> [Action] {
        guard let sentAt = Int64(exactly: answer.sentAt) else { return [] }
        switch standing.answered(sentAt) {
        case .none, .renewed: return []
        // The peer has stopped taking work, and the coordinator may have given it away: only a welcome sets that right.
        case .tooLate: return detach("heartbeats were not answered for longer than the lease; saying hello again", at: now, retryNow: true)
        }
    }

    /// A message that ends the session.
    private mutating func ended(_ message: WireCoordinatorMessage, at now: Int64) -> [Action] {
        switch message.body {
        case .refusal(let refusal) where refusal.code == .revoked || outlasts(refusal): return denied(refusal.message, at: now)
        case .refusal(let refusal) where refusal.isFinal:
            state = .refused
            return [.disconnect, .emit(.refused(refusal)), .stop]
        case .refusal(let refusal):
            return detach(refusal.message.isEmpty ? "refused: \(refusal.code)" : refusal.message, isThere: true, at: now)
        case .farewell(let farewell):
            return [.emit(.farewell(farewell.reason))]
                + detach("the coordinator has stopped\(farewell.reason.isEmpty ? "" : ": \(farewell.reason)")", at: now)
        case .helloWanted: return detach("the coordinator does not know this connection (any more)", at: now)
        case .welcome, .heartbeatAnswer, .dispatch, .stop, .acknowledgement, .blobRequest, .blobChunk, .response, .events, .elementReceipts,
            .productReceipts, .outputReceipts, .enrolled, nil:
            preconditionFailure("a message that does not end a session was taken for one that does")
        }
    }

    private func outlasts(_ refusal: WireRefusal) -> Bool {
        guard refusal.mayBeTakenBack else { return false }
        switch configuration.afterRefusal {
        case .end: return false
        case .tryOnOnceWelcomed: return lastCoordinator != 0
        case .tryOn: return true
        }
    }

    private mutating func expire(at now: Int64) -> [Action] {
        switch state {
        case .greeting, .attached, .detached: standing.expire(at: now, timing).map { .emit($0) }
        case .idle, .refused, .closed: []
        }
    }
}

extension WireRefusal {
    /// Whether trying again is of no use.
    ///
    /// Not final: `superseded` (the newer connection may be gone by the time we try again), `limit` (room may be made), `revoked`
    /// (the key may be authorised again) and `unavailable`.
    /// Codes this version does not know are final: their message says what to do.
    public var isFinal: Bool {
        switch code {
        case .superseded, .limit, .revoked, .unavailable: false
        case .unspecified, .version, .cookie, .malformed, .sessionOver, .notPermitted, .UNRECOGNIZED: true
        }
    }

    /// Final for who asks, and yet not for ever: a key's rights are changed again, another release of the coordinator is started.
    public var mayBeTakenBack: Bool {
        switch code {
        case .version, .notPermitted: true
        case .unspecified, .cookie, .malformed, .sessionOver, .superseded, .limit, .revoked, .unavailable, .UNRECOGNIZED: false
        }
    }
}
