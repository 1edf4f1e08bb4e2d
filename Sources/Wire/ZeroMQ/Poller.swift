import CZMQ

/// Waits for sockets, monitors, mailboxes and file descriptors at once, on the thread that owns them.
///
/// ```swift
/// var poller = Poller()
/// let mail = poller.add(mailbox)
/// let ready = try poller.wait(until: BootClock.milliseconds() + 500)
/// if ready.isReadable(mail) { … mailbox.drain() … }
/// ```
/// It keeps what it watches alive, except for plain file descriptors. Remove a socket before closing it.
public struct Poller {
    /// One thing that is watched.
    public struct Token: Hashable, Sendable {
        fileprivate let index: Int
        fileprivate var bit: UInt64 { 1 << UInt64(index) }
    }

    /// What a wait found. Level-triggered: what was not read is ready again.
    public struct Ready: Sendable, Hashable {
        fileprivate var readable: UInt64 = 0
        fileprivate var writable: UInt64 = 0

        public func isReadable(_ token: Token) -> Bool { readable & token.bit != 0 }
        public func isWritable(_ token: Token) -> Bool { writable & token.bit != 0 }
        /// The wait ended by its deadline or by a signal.
        public var isEmpty: Bool { readable | writable == 0 }
    }

    /// Who owns the place in `items` of the same index.
    private enum Watched {
        case nothing
        case socket(SocketHandle)
        case mailbox(AnyObject)
        case fileDescriptor
    }

    private var items: [zmq_pollitem_t] = []
    private var watched: [Watched] = []

    public init() {}

    public mutating func add(_ socket: RouterSocket) -> Token { add(socket.handle) }
    public mutating func add(_ socket: DealerSocket) -> Token { add(socket.handle) }
    public mutating func add(_ socket: ZAPSocket) -> Token { add(socket.handle) }
    public mutating func add(_ monitor: SocketMonitor) -> Token { add(monitor.handle) }
    public mutating func add<Element>(_ mailbox: Mailbox<Element>) -> Token {
        add(.mailbox(mailbox), zmq_pollitem_t(socket: nil, fd: mailbox.fileDescriptor, events: Int16(ZMQ_POLLIN), revents: 0))
    }

    /// Watches a descriptor that the caller keeps open.
    public mutating func add(fileDescriptor: Int32) -> Token {
        add(.fileDescriptor, zmq_pollitem_t(socket: nil, fd: fileDescriptor, events: Int16(ZMQ_POLLIN), revents: 0))
    }

    private mutating func add(_ handle: SocketHandle) -> Token {
        add(.socket(handle), zmq_pollitem_t(socket: handle.pointer, fd: -1, events: Int16(ZMQ_POLLIN), revents: 0))
    }

    private mutating func add(_ thing: Watched, _ item: zmq_pollitem_t) -> Token {
        if let free = watched.firstIndex(where: { if case .nothing = $0 { true } else { false } }) {
            items[free] = item
            watched[free] = thing
            return Token(index: free)
        }
        precondition(items.count < 64, "a Poller watches at most 64 things")
        items.append(item)
        watched.append(thing)
        return Token(index: items.count - 1)
    }

    /// Stops watching; the token may be given out again.
    public mutating func remove(_ token: Token) {
        items[token.index] = zmq_pollitem_t(socket: nil, fd: -1, events: 0, revents: 0)
        watched[token.index] = .nothing
    }

    /// Whether to wait for room to write as well. Off at first. A ROUTER is writable while any of its connections is.
    public mutating func watchWritable(_ token: Token, _ isWatched: Bool) {
        items[token.index].events = Int16(isWatched ? ZMQ_POLLIN | ZMQ_POLLOUT : ZMQ_POLLIN)
    }

    /// Waits until something is ready, `deadline` (boot milliseconds; nil: none) has passed, or a signal came.
    ///
    /// - Throws: ``ZMQError`` when a socket was closed or its context terminated.
    public mutating func wait(until deadline: Int64?) throws(ZMQError) -> Ready {
        guard let deadline else { return try wait(timeoutMilliseconds: -1) }
        let remaining = deadline.subtractingReportingOverflow(BootClock.milliseconds())
        return try wait(timeoutMilliseconds: remaining.overflow ? 0 : Int(max(0, min(remaining.partialValue, 3_600_000))))
    }

    /// Waits for at most so long; negative: without limit.
    public mutating func wait(timeoutMilliseconds: Int) throws(ZMQError) -> Ready {
        for case .socket(let handle) in watched where handle.pointer == nil {
            throw ZMQError(operation: "polling a closed socket", errno: ENOTSOCK)
        }
        let count = zmq_poll(&items, Int32(items.count), timeoutMilliseconds)
        guard count >= 0 else {
            let code = zmq_errno()
            if code == EINTR { return Ready() }
            throw ZMQError(operation: "polling", errno: code)
        }
        var ready = Ready()
        guard count > 0 else { return ready }
        for (index, item) in items.enumerated() where item.revents != 0 {
            let bit = Token(index: index).bit
            // An error of a descriptor shows when it is read.
            if item.revents & Int16(ZMQ_POLLIN | ZMQ_POLLERR) != 0 { ready.readable |= bit }
            if item.revents & Int16(ZMQ_POLLOUT) != 0 { ready.writable |= bit }
        }
        return ready
    }
}
