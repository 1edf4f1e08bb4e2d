import Glibc

/// Exchanges a join token for a key: a connection with the token's key on which one message is sent.
///
/// Belongs to one thread, which it blocks.
public struct EnrolmentLink {
    private let token: JoinToken
    private let endpoint: Endpoint
    private let context: ZMQContext
    private let frames: [Buffer]
    private var session: EnrolmentSession
    private var connection: Connection?
    private var ending: EnrolmentSession.Ending?

    /// The sockets of one attempt.
    private struct Connection {
        let dealer: DealerSocket
        let monitor: SocketMonitor
        var poller = Poller()
        let socket: Poller.Token
        let events: Poller.Token
        /// The handshake has been done.
        var isReady = false
    }

    /// Asks the coordinator at `endpoint` to authorise `key` in the token's place, and waits for its answer.
    ///
    /// - Parameter limitMilliseconds: how long it is tried while nobody answers.
    /// - Returns: whose the key is, and its roles, as the coordinator says. The same key again gets the same.
    /// - Throws: ``EnrolmentError``.
    public static func enrol(
        _ key: PublicKey, with token: JoinToken, at endpoint: Endpoint, limitMilliseconds: Int64, context: ZMQContext
    ) throws(EnrolmentError) -> (name: String, roles: [String]) {
        do {
            var link = try EnrolmentLink(key, token, endpoint, limitMilliseconds, context)
            switch try link.run() {
            case .enrolled(let enrolled): return (enrolled.name, enrolled.roles)
            case .failed(let cause): throw EnrolmentError(cause, token, endpoint)
            }
        } catch let error as EnrolmentError { throw error } catch let error as ZMQError {
            throw EnrolmentError(.socket(error), token, endpoint)
        } catch { preconditionFailure("an enrolment throws errors of libzmq and its own only, and this was \(error)") }
    }

    private init(_ key: PublicKey, _ token: JoinToken, _ endpoint: Endpoint, _ limitMilliseconds: Int64, _ context: ZMQContext) throws {
        (self.token, self.endpoint, self.context) = (token, endpoint, context)
        let enrol = WirePeerMessage.with {
            $0.enrol = .with {
                $0.protocolMajor = ProtocolVersion.major
                $0.productVersion = ProductVersion.current
                $0.publicKey = key.text
            }
        }
        frames = try enrol.frames()
        session = EnrolmentSession(giveUpAt: BootClock.milliseconds() + max(0, limitMilliseconds))
    }

    private mutating func run() throws(ZMQError) -> EnrolmentSession.Ending {
        defer { disconnect() }
        try perform(session.start(at: BootClock.milliseconds()))
        while true {
            if let ending { return ending }
            try turn()
        }
    }

    /// Waits, then handles what came: messages before the connection's end, and both before the clock.
    private mutating func turn() throws(ZMQError) {
        if var current = connection {
            let ready = try current.poller.wait(until: session.deadline)
            connection = current
            if ready.isWritable(current.socket) {
                connection?.poller.watchWritable(current.socket, false)
                try perform(session.connected(at: BootClock.milliseconds()))
            }
            while connection != nil, let frames = try current.dealer.receive() { try receive(frames) }
            while connection != nil, let event = try current.monitor.receive() {
                if let end = end(event) { try perform(session.lost(end, at: BootClock.milliseconds())) }
            }
        } else {
            var poller = Poller()
            _ = try poller.wait(until: session.deadline)
        }
        try perform(session.tick(at: BootClock.milliseconds()))
    }

    private mutating func receive(_ frames: [Buffer]) throws(ZMQError) {
        let message: WireCoordinatorMessage
        do throws(WireError) { message = try WireCoordinatorMessage(frames: frames) } catch {
            return try perform(session.lost(.lost("the coordinator sent \(error)"), at: BootClock.milliseconds()))
        }
        try perform(session.receive(message, at: BootClock.milliseconds()))
    }

    private mutating func end(_ event: MonitorEvent) -> EnrolmentSession.ConnectionEnd? {
        let isReady = connection?.isReady ?? false
        switch event {
        case .handshakeSucceeded:
            connection?.isReady = true
            return nil
        case .disconnected where !isReady, .handshakeFailed where !isReady: return .shut
        case .disconnected: return .lost("the connection was closed by the other side")
        case .closed: return .lost("nobody listens there, or the host cannot be reached")
        case .handshakeFailed(let reason, _): return .lost("the connection's handshake failed: \(reason)")
        case .handshakeDenied(status: 400): return .denied
        case .handshakeDenied: return .undecided
        case .securityMismatch: return .withoutKeys
        case .stopped: return .lost("the socket was closed")
        case .connected, .accepted, .other: return nil
        }
    }

    // MARK: Actions

    private mutating func perform(_ actions: [EnrolmentSession.Action]) throws(ZMQError) {
        for action in actions {
            switch action {
            case .connect: try connect()
            case .enrol:
                guard let connection else { preconditionFailure("enrolling without a connection: `connected` was said of none") }
                // It is writable, and this is its first message: there is room.
                if try connection.dealer.send(frames) != .sent {
                    try perform(session.lost(.lost("the connection took no message"), at: BootClock.milliseconds()))
                }
            case .disconnect: disconnect()
            case .end(let ending): self.ending = ending
            }
        }
    }

    private mutating func connect() throws(ZMQError) {
        disconnect()
        let dealer = try DealerSocket(context: context, key: PeerKey(token))
        let monitor = try dealer.makeMonitor()
        var poller = Poller()
        let (socket, events) = (poller.add(dealer), poller.add(monitor))
        poller.watchWritable(socket, true)
        connection = Connection(dealer: dealer, monitor: monitor, poller: poller, socket: socket, events: events)
        try dealer.connect(endpoint)
    }

    private mutating func disconnect() {
        guard let connection else { return }
        self.connection = nil
        connection.dealer.stopMonitoring()
        connection.dealer.close()
        connection.monitor.close()
    }
}
