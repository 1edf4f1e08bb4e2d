import Foundation
import Glibc
import Synchronization

/// The life of a link's thread: receives, steps ``PeerSession``, does what it says. Made and used on that thread alone.
final class LinkRunner {
    /// Messages taken from the socket before anything else gets its turn.
    private static let receiveBatch = 256

    /// A coordinator may end during a handshake; not so often in a row.
    private static let shutMax = 3
    /// What a handshake with a key may take on top of the connection itself.
    private static let handshakeMilliseconds: Int64 = 5000
    /// A coordinator that takes in a graph of a million nodes is not heard for some seconds; asked again it would have to do that twice.
    private static let clientLeaseMilliseconds: Int64 = 10_000

    private let configuration: PeerLink.Configuration
    private let context: ZMQContext
    private let shared: LinkShared
    private let handler: @Sendable (PeerLink.Event) -> Void
    /// Asks the peer for hellos and heartbeats; a peer that hangs holds this queue up, not the link.
    private let questions = DispatchQueue(label: "aop.link.questions")

    private var session: PeerSession
    private var poller = Poller()
    private var connection: (link: LinkConnection, socket: Poller.Token, events: Poller.Token)?
    private var connections: UInt64 = 0
    private var sessions: UInt64 = 0
    private var isAwaitingHeartbeat = false
    private var shutInARow = 0
    private var hasEnded = false

    init(
        _ configuration: PeerLink.Configuration, context: ZMQContext, shared: LinkShared,
        handler: @escaping @Sendable (PeerLink.Event) -> Void
    ) {
        self.configuration = configuration
        self.context = context
        self.shared = shared
        self.handler = handler
        var waits = PeerSession.Configuration()
        waits.connectTimeoutMilliseconds = Int64(max(1, configuration.connectTimeoutMilliseconds))
        // A coordinator looks at the key first, between two steps.
        if configuration.key != nil { waits.connectTimeoutMilliseconds += Self.handshakeMilliseconds }
        waits.reconnectMaximumMilliseconds = Int64(max(1, configuration.reconnectMaximumMilliseconds))
        waits.reconnectMinimumMilliseconds = min(waits.reconnectMinimumMilliseconds, waits.reconnectMaximumMilliseconds)
        waits.afterRefusal = configuration.afterRefusal
        if configuration.role == .client { waits.leaseMinimumMilliseconds = Self.clientLeaseMilliseconds }
        session = PeerSession(waits)
    }

    func run() {
        switch shared.mailbox {
        case .failure(let error):
            handler(.refused(.with { $0.message = "the link to \(configuration.endpoint) cannot work: \(error)" }))
        case .success(let mailbox):
            let mail = poller.add(mailbox)
            perform(session.start(at: BootClock.milliseconds()))
            while !hasEnded { turn(mailbox, mail) }
        }
        shared.session.store(0, ordering: .releasing)
    }

    /// Waits, then handles what came: messages before the connection's end, and both before the clock.
    private func turn(_ mailbox: Mailbox<LinkOrder>, _ mail: Poller.Token) {
        var ready = Poller.Ready()
        attempt { () throws(ZMQError) in ready = try poller.wait(until: session.deadline) }
        if let current = connection {
            attempt { () throws(ZMQError) in
                if ready.isReadable(current.socket) { try receive(current.link) }
                if ready.isReadable(current.events), isCurrent(current.link), let end = try current.link.end() { lose(end) }
                if ready.isWritable(current.socket), isCurrent(current.link) { try write(current.link) }
            }
        }
        if ready.isReadable(mail) {
            // Each on its own: a connection that fails must not swallow the order to close.
            for order in mailbox.drain() where !hasEnded { attempt { () throws(ZMQError) in try obey(order) } }
        }
        if !hasEnded { perform(session.tick(at: BootClock.milliseconds())) }
    }

    /// A failing socket ends its session, not the link.
    private func attempt(_ body: () throws(ZMQError) -> Void) {
        do throws(ZMQError) { try body() } catch { lose("\(error)") }
    }

    // MARK: Socket

    private func isCurrent(_ link: LinkConnection) -> Bool { connection?.link === link }

    private func receive(_ link: LinkConnection) throws(ZMQError) {
        for _ in 0..<Self.receiveBatch {
            guard isCurrent(link), let frames = try link.dealer.receive() else { return }
            let message: WireCoordinatorMessage
            do throws(WireError) {
                message = try WireCoordinatorMessage(frames: frames)
            } catch .unknownBody {
                continue
            } catch {
                return lose("the coordinator sent \(error)")
            }
            perform(session.receive(message, at: BootClock.milliseconds()), (message, frames.count > 1 ? frames[1] : nil))
        }
    }

    /// The socket has room. Before the hello that means: the connection stands.
    private func write(_ link: LinkConnection) throws(ZMQError) {
        try link.flush()
        watchWritable(link)
        perform(session.connected(at: BootClock.milliseconds()))
    }

    private func watchWritable(_ link: LinkConnection) {
        guard let connection, connection.link === link else { return }
        poller.watchWritable(connection.socket, link.hasWaiting)
    }

    private func send(_ frames: [Buffer]) throws(ZMQError) {
        guard let link = connection?.link else { return }
        switch try link.send(frames) {
        case .sent: return
        case .kept: watchWritable(link)
        case .overflow: lose("more than \(Limits.outboxBytes) bytes wait for a coordinator that does not read (Limits.outboxBytes)")
        }
    }

    private func lose(_ end: LinkConnection.End) {
        if case .shut = end { shutInARow += 1 } else { shutInARow = 0 }
        switch end {
        // Who was welcomed before has the right keys: something between closes what it cannot pass on, a tunnel or a proxy.
        case .shut(let reason) where shutInARow >= Self.shutMax && sessions == 0:
            perform(session.denied(reason, at: BootClock.milliseconds()))
        case .lost(let reason), .shut(let reason): lose(reason)
        case .undecided(let reason): perform(session.lost(reason, isThere: true, at: BootClock.milliseconds()))
        case .denied(let reason): perform(session.denied(reason, at: BootClock.milliseconds()))
        }
    }

    private func lose(_ reason: String) {
        perform(session.lost("\(configuration.endpoint): \(reason)", at: BootClock.milliseconds()))
    }

    // MARK: Orders

    private func obey(_ order: LinkOrder) throws(ZMQError) {
        switch order {
        case .send(let frames, let meant):
            if meant == shared.session.load(ordering: .relaxed) { try send(frames) }
        case .unsendable(let reason, let meant):
            if meant == shared.session.load(ordering: .relaxed) { lose(reason) }
        case .hello(let hello, let number):
            if connection?.link.number == number { try greet(hello) }
        case .heartbeat(let heartbeat):
            isAwaitingHeartbeat = false
            if let heartbeat { try beat(heartbeat) }
        case .close(let goodbye, let flushMilliseconds):
            try finish(goodbye, flushMilliseconds)
        }
    }

    private func finish(_ goodbye: String?, _ flushMilliseconds: Int) throws(ZMQError) {
        let deadline = BootClock.milliseconds() + Int64(max(0, min(flushMilliseconds, 3_600_000)))
        if session.isAttached, let link = connection?.link {
            if let goodbye { try sendMessage(.with { $0.goodbye = .with { $0.reason = goodbye } }) }
            forget()
            perform(session.close())
            try link.finish(by: deadline)
        } else {
            perform(session.close())
        }
    }

    private func sendMessage(_ message: WirePeerMessage) throws(ZMQError) {
        let frames: [Buffer]
        do throws(WireError) { frames = try message.frames() } catch { return lose("a message of this process cannot be sent: \(error)") }
        try send(frames)
    }

    private func greet(_ executor: WireExecutorHello?) throws(ZMQError) {
        var hello = WireHello()
        hello.protocolMajor = ProtocolVersion.major
        hello.protocolMinor = ProtocolVersion.minor
        hello.role = configuration.role
        hello.productVersion = ProductVersion.current
        hello.cookie = Data(configuration.cookie ?? [])
        hello.host = configuration.host
        hello.pid = UInt32(getpid())
        hello.incarnation = configuration.incarnation
        hello.capabilities = configuration.capabilities
        hello.lastCoordinatorIncarnation = session.lastCoordinator
        hello.connection = UInt64(connections)
        if let executor { hello.executor = executor }
        // Taken before it is sent: the lease must not begin later than the coordinator can count.
        let now = BootClock.milliseconds()
        try sendMessage(.with { $0.hello = hello })
        perform(session.helloSent(at: now))
    }

    private func beat(_ heartbeat: WireHeartbeat) throws(ZMQError) {
        guard session.isAttached else { return }
        let now = BootClock.milliseconds()
        var heartbeat = heartbeat
        heartbeat.sentAt = UInt64(now)
        heartbeat.clock = WallClock.milliseconds()
        try sendMessage(.with { $0.heartbeat = heartbeat })
        perform(session.heartbeatSent(at: now))
    }

    // MARK: Actions

    private func perform(_ actions: [PeerSession.Action], _ message: (WireCoordinatorMessage, Buffer?)? = nil) {
        for action in actions {
            switch action {
            case .connect: connect()
            case .sayHello: sayHello()
            case .beat: askForHeartbeat()
            case .disconnect: disconnect()
            case .emit(let notice): emit(notice)
            case .deliver:
                guard let message else { preconditionFailure("deliver without a message: only `receive` returns it") }
                handler(.message(message.0, attachment: message.1))
            case .stop:
                disconnect()
                hasEnded = true
            }
        }
    }

    private func connect() {
        disconnect()
        connections += 1
        attempt { () throws(ZMQError) in
            let link = try LinkConnection(
                number: connections, to: configuration.endpoint, key: configuration.key, isWorker: configuration.role != .client,
                context: context,
                connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds)
            let socket = poller.add(link.dealer)
            connection = (link, socket, poller.add(link.monitor))
            poller.watchWritable(socket, true)
        }
    }

    private func disconnect() {
        guard let link = connection?.link else { return }
        forget()
        link.abandon()
    }

    private func forget() {
        shared.session.store(0, ordering: .releasing)
        guard let current = connection else { return }
        poller.remove(current.socket)
        poller.remove(current.events)
        connection = nil
    }

    private func sayHello() {
        guard let executorHello = configuration.executorHello else {
            return attempt { () throws(ZMQError) in try greet(nil) }
        }
        let number = connections
        questions.async { [shared] in shared.post(.hello(executorHello(), connection: number)) }
    }

    private func askForHeartbeat() {
        guard let heartbeat = configuration.heartbeat else {
            return attempt { () throws(ZMQError) in try beat(WireHeartbeat()) }
        }
        guard !isAwaitingHeartbeat else { return }
        isAwaitingHeartbeat = true
        questions.async { [shared] in shared.post(.heartbeat(heartbeat())) }
    }

    private func emit(_ notice: PeerSession.Notice) {
        switch notice {
        case .attached(let welcome, let sameCoordinator):
            sessions += 1
            shutInARow = 0
            shared.session.store(sessions, ordering: .releasing)
            handler(.attached(welcome, sameCoordinator: sameCoordinator))
        case .detached(let reason, let isThere): handler(.detached(reason: reason, isThere: isThere))
        case .leaseOver: handler(.leaseOver)
        case .lockLeaseEnding(let grace): handler(.lockLeaseEnding(graceMilliseconds: grace))
        case .orphanLimitOver: handler(.orphanLimitOver)
        case .refused(let refusal): handler(.refused(refusal))
        case .farewell(let reason): handler(.farewell(reason))
        case .denied(let reason): handler(.denied(reason: reason))
        }
    }
}
