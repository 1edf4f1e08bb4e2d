/// The socket of one session, its monitor, and what waits to be sent. Belongs to the link's thread.
final class LinkConnection {
    enum SendOutcome {
        case sent
        /// It waits for room in the socket.
        case kept
        /// More than `Limits.outboxBytes` would wait.
        case overflow
    }

    enum End {
        case lost(String)
        /// The other side cannot tell now whom it lets in.
        case undecided(String)
        /// The other side will not have this key, or not be without one.
        case denied(String)
        /// It was closed during its handshake: if that happens again and again, the other side wants another key, or none.
        case shut(String)
    }

    /// Tells this connection's answers from those of earlier ones.
    let number: UInt64
    let dealer: DealerSocket
    let monitor: SocketMonitor
    private var outbox = Outbox()
    private let endpoint: Endpoint
    private let key: PeerKey?
    private let isWorker: Bool
    private var isReady = false

    init(
        number: UInt64, to endpoint: Endpoint, key: PeerKey?, isWorker: Bool, context: ZMQContext, connectTimeoutMilliseconds: Int
    ) throws(ZMQError) {
        self.number = number
        self.endpoint = endpoint
        self.key = key
        self.isWorker = isWorker
        dealer = try DealerSocket(context: context, key: key, connectTimeoutMilliseconds: connectTimeoutMilliseconds)
        monitor = try dealer.makeMonitor()
        try dealer.connect(endpoint)
    }

    var hasWaiting: Bool { !outbox.isEmpty }

    func send(_ frames: [Buffer]) throws(ZMQError) -> SendOutcome {
        if outbox.isEmpty, try dealer.send(frames) == .sent { return .sent }
        return outbox.append(frames, limitBytes: Limits.outboxBytes) ? .kept : .overflow
    }

    /// Sends what waits, as far as there is room.
    func flush() throws(ZMQError) {
        while let frames = outbox.first {
            guard try dealer.send(frames) == .sent else { return }
            outbox.removeFirst()
        }
    }

    /// Why the connection has ended, or nil while it has not.
    func end() throws(ZMQError) -> End? {
        while let event = try monitor.receive() {
            switch event {
            case .disconnected where !isReady, .handshakeFailed where !isReady:
                return .shut("the connection was closed during its handshake; \(handshakeRemedy)")
            case .disconnected: return .lost("the connection was closed by the other side")
            case .closed: return .lost("nobody listens there, or the host cannot be reached")
            case .handshakeFailed(let reason, _): return .lost("the connection's handshake failed: \(reason)")
            case .handshakeDenied(let status): return denial(status)
            case .securityMismatch: return mismatch
            case .stopped: return .lost("the socket was closed")
            case .handshakeSucceeded: isReady = true
            case .connected, .accepted, .other: continue
            }
        }
        return nil
    }

    private func denial(_ status: Int32) -> End {
        guard status == 400, let key else {
            return .undecided(ZAPVerdict.undecidedText)
        }
        return .denied(
            "the coordinator at \(endpoint) does not let the key \(key.publicKey) (\(key.path)) in; on its host, \(KeyDirectory.unnamed): "
                + "aop keys authorize \(key.name) '\(key.publicKey)' --role \(isWorker ? KeyRole.work : .submit)")
    }

    private var handshakeRemedy: String {
        key.map { "is the `server-key` in \($0.path) the coordinator's public key (`aop keys list` on its host, \(KeyDirectory.unnamed))?" }
            ?? "is it an aop coordinator, and does it ask for a key (--key-file FILE or --keys DIR, AOP_KEY, AOP_KEYS)?"
    }

    private var mismatch: End {
        if let key {
            .denied(
                "the coordinator at \(endpoint) uses no keys, and this process was given \(key.path); start it with its keys "
                    + "(aop coordinator --keys DIR), or take the key away here")
        } else {
            .denied(
                "the coordinator at \(endpoint) lets nobody in without a key; name one with --key-file FILE or --keys DIR "
                    + "(AOP_KEY, AOP_KEYS), or make one on its host, \(KeyDirectory.unnamed): aop keys generate NAME, "
                    + "aop keys authorize NAME --role \(isWorker ? KeyRole.work : .submit)")
        }
    }

    func abandon() {
        dealer.stopMonitoring()
        dealer.close()
        monitor.close()
    }

    /// How long libzmq may take to tell that a closed socket is gone.
    private static let endMilliseconds: Int64 = 500

    /// Closes once everything is sent, or at `deadline` (boot milliseconds).
    func finish(by deadline: Int64) throws(ZMQError) {
        defer { abandon() }
        var poller = Poller()
        let socket = poller.add(dealer)
        let events = poller.add(monitor)
        poller.watchWritable(socket, true)
        while hasWaiting, BootClock.milliseconds() < deadline {
            let ready = try poller.wait(until: deadline)
            if ready.isReadable(events), try end() != nil { return }
            // What still comes in is of no use any more, but must not keep the poll from waiting.
            if ready.isReadable(socket) { while try dealer.receive() != nil {} }
            try flush()
        }
        // libzmq sends the rest in the background and reports when the socket is really gone.
        poller.remove(socket)
        dealer.close(lingerMilliseconds: Int(max(0, deadline - BootClock.milliseconds())))
        // Its end is told a moment after its time is over, and has to be read: see `stopMonitoring`.
        let last = deadline + Self.endMilliseconds
        while BootClock.milliseconds() < last {
            guard try poller.wait(until: last).isReadable(events) else { continue }
            while let event = try monitor.receive() { if event == .stopped { return } }
        }
    }
}
