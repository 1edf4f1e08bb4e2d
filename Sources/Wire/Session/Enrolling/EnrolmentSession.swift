/// A joiner's way from its token to the coordinator's answer, as a value that is stepped: inputs are methods, each returns what to do.
///
/// Time is an argument, in milliseconds of ``BootClock``. ``EnrolmentLink`` is its shell. What may pass is tried again until
/// `giveUpAt`, always with the same key: an answer that was lost is given again.
struct EnrolmentSession: Sendable {
    enum Action: Sendable, Equatable {
        /// Close what there is and connect with a fresh socket.
        case connect
        /// Send the new public key.
        case enrol
        /// Close the socket.
        case disconnect
        /// Nothing more will happen.
        case end(Ending)
    }

    enum Ending: Sendable, Equatable {
        case enrolled(WireEnrolled)
        case failed(EnrolmentError.Cause)
    }

    /// How a connection ended.
    enum ConnectionEnd: Sendable, Equatable {
        /// It could not be made, or was lost.
        case lost(String)
        /// It was closed during its handshake: again and again so, the other side is another coordinator than the token's.
        case shut
        /// The token is not let in.
        case denied
        /// The coordinator cannot tell whom it lets in.
        case undecided
        /// The other side has no keys.
        case withoutKeys
    }

    /// From the start of an attempt until the connection stands: the coordinator looks at the token between two steps.
    static let connectMilliseconds: Int64 = 6000
    /// From there until the answer, which is on the coordinator's disk by then.
    static let answerMilliseconds: Int64 = 5000
    private static let retryMilliseconds: ClosedRange<Int64> = 50...1000
    /// A coordinator may end during a handshake; not so often in a row.
    private static let shutMax = 3

    private enum State {
        /// Made, not started.
        case idle
        /// The socket is connecting.
        case connecting(deadline: Int64)
        /// The key was sent.
        case waiting(deadline: Int64)
        /// The next attempt is at `retryAt`.
        case pausing(retryAt: Int64)
        case over
    }

    private let giveUpAt: Int64
    private var state = State.idle
    private var pauseMilliseconds = Self.retryMilliseconds.lowerBound
    private var shutInARow = 0
    /// Why the last attempt came to nothing.
    private var cause = EnrolmentError.Cause.unreachable("nobody has answered")

    init(giveUpAt: Int64) { self.giveUpAt = giveUpAt }

    /// When ``tick(at:)`` is due at the latest; nil: never.
    var deadline: Int64? {
        switch state {
        case .idle, .over: nil
        case .connecting(let deadline), .waiting(let deadline), .pausing(let deadline): min(deadline, giveUpAt)
        }
    }

    // MARK: Inputs

    mutating func start(at now: Int64) -> [Action] {
        guard case .idle = state else { return [] }
        return connect(at: now)
    }

    /// The connection takes messages.
    mutating func connected(at now: Int64) -> [Action] {
        guard case .connecting = state else { return [] }
        shutInARow = 0
        state = .waiting(deadline: now + Self.answerMilliseconds)
        return [.enrol]
    }

    mutating func receive(_ message: WireCoordinatorMessage, at now: Int64) -> [Action] {
        guard case .waiting = state else { return [] }
        switch message.body {
        case .enrolled(let enrolled): return end(.enrolled(enrolled))
        case .refusal(let refusal) where refusal.isFinal: return end(.failed(.refused(refusal)))
        case .refusal(let refusal): return pause(.unavailable(refusal.message), at: now)
        case .farewell, .helloWanted: return pause(.unreachable("the coordinator has just stopped"), at: now)
        case .welcome, .heartbeatAnswer, .dispatch, .stop, .acknowledgement, .blobRequest, .blobChunk, .response, .events,
            .elementReceipts, .productReceipts, .outputReceipts, nil:
            return []
        }
    }

    mutating func lost(_ end: ConnectionEnd, at now: Int64) -> [Action] {
        switch state {
        case .idle, .pausing, .over: return []
        case .connecting, .waiting: break
        }
        if end == .shut { shutInARow += 1 } else { shutInARow = 0 }
        switch end {
        case .lost(let reason): return pause(.unreachable(reason), at: now)
        case .shut where shutInARow >= Self.shutMax: return self.end(.failed(.otherCoordinator))
        case .shut: return pause(.otherCoordinator, at: now)
        case .denied: return self.end(.failed(.denied))
        case .undecided: return pause(.unavailable(ZAPVerdict.undecidedText), at: now)
        case .withoutKeys: return self.end(.failed(.withoutKeys))
        }
    }

    /// Time has passed; see ``deadline``.
    mutating func tick(at now: Int64) -> [Action] {
        switch state {
        case .idle, .over: return []
        case .connecting, .waiting, .pausing: break
        }
        if now >= giveUpAt { return end(.failed(cause)) }
        switch state {
        case .connecting(let deadline) where now >= deadline:
            return pause(.unreachable("no connection within \(Self.connectMilliseconds) ms"), at: now)
        case .waiting(let deadline) where now >= deadline:
            return pause(.unreachable("connected, but not answered within \(Self.answerMilliseconds) ms"), at: now)
        case .pausing(let retryAt) where now >= retryAt: return connect(at: now)
        case .idle, .connecting, .waiting, .pausing, .over: return []
        }
    }

    // MARK: Transitions

    private mutating func connect(at now: Int64) -> [Action] {
        state = .connecting(deadline: now + Self.connectMilliseconds)
        return [.connect]
    }

    private mutating func pause(_ cause: EnrolmentError.Cause, at now: Int64) -> [Action] {
        self.cause = cause
        state = .pausing(retryAt: now + pauseMilliseconds)
        pauseMilliseconds = min(pauseMilliseconds * 2, Self.retryMilliseconds.upperBound)
        return [.disconnect]
    }

    private mutating func end(_ ending: Ending) -> [Action] {
        state = .over
        return [.disconnect, .end(ending)]
    }
}
