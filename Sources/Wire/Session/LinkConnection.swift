/// The socket of one session, its monitor, and what waits to be sent. Belongs to the link's thread.
final class LinkConnection {
    enum SendOutcome {
        case sent
        /// It waits for room in the socket.
        case kept
        /// More than `Limits.outboxBytes` would wait.
        case overflow
    }

    /// Tells this connection's answers from those of earlier ones.
    let number: UInt64
    let dealer: DealerSocket
    let monitor: SocketMonitor
    private var outbox = Outbox()

    init(number: UInt64, to endpoint: Endpoint, context: ZMQContext, connectTimeoutMilliseconds: Int) throws(ZMQError) {
        self.number = number
        dealer = try DealerSocket(context: context, connectTimeoutMilliseconds: connectTimeoutMilliseconds)
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
    func end() throws(ZMQError) -> String? {
        while let event = try monitor.receive() {
            switch event {
            case .disconnected: return "the connection was closed by the other side"
            case .closed: return "nobody listens there, or the host cannot be reached"
            case .handshakeFailed(let reason): return "the connection's handshake failed: \(reason)"
            case .stopped: return "the socket was closed"
            case .connected, .accepted, .handshakeSucceeded, .acceptFailed, .other: continue
            }
        }
        return nil
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
