import CZMQ

/// A peer's socket: one connection to a coordinator, for one session.
///
/// Belongs to one thread. It never reconnects by itself: a session that ended gets a new socket, so that nothing queued for
/// one coordinator can reach its successor.
public final class DealerSocket {
    let handle: SocketHandle

    /// - Parameter key: what it proves itself with; nil: nothing is encrypted.
    /// - Parameter connectTimeoutMilliseconds: how long the system may try to reach the host.
    /// - Throws: ``ZMQError``.
    public init(context: ZMQContext, key: PeerKey? = nil, connectTimeoutMilliseconds: Int = 1000) throws(ZMQError) {
        handle = try SocketHandle(ZMQ_DEALER, context: context)
        try handle.setCommonOptions()
        // Queue nothing for a connection that does not exist: such messages are lost without a word.
        try handle.set(ZMQ_IMMEDIATE, "IMMEDIATE", to: 1 as Int32)
        try handle.set(ZMQ_CONNECT_TIMEOUT, "CONNECT_TIMEOUT", to: Int32(clamping: connectTimeoutMilliseconds))
        try handle.set(ZMQ_RECONNECT_IVL, "RECONNECT_IVL", to: -1 as Int32)
        try handle.set(ZMQ_RECONNECT_IVL_MAX, "RECONNECT_IVL_MAX", to: 0 as Int32)
        try handle.set(ZMQ_PROBE_ROUTER, "PROBE_ROUTER", to: 0 as Int32)
        if let key { try handle.useKey(key) }
    }

    /// Begins to connect; a monitor and ``Poller`` tell when it has succeeded.
    public func connect(_ endpoint: Endpoint) throws(ZMQError) {
        try handle.set(ZMQ_IPV6, "IPV6", to: endpoint.needsIPv6 ? 1 : 0 as Int32)
        guard zmq_connect(try handle.open(), endpoint.zmqText) == 0 else { throw ZMQError(operation: "connect", endpoint: endpoint) }
    }

    /// The frames of the next message; nil when there is none.
    public func receive() throws(ZMQError) -> [Buffer]? {
        var message = zmq_msg_t()
        zmq_msg_init(&message)
        defer { zmq_msg_close(&message) }
        return try handle.receiveFrames(into: &message)?.frames
    }

    /// Sends a message as a whole or not at all: ``SendResult/full`` when there is no connection (yet) or its queue is full.
    public func send(_ frames: [Buffer]) throws(ZMQError) -> SendResult {
        precondition(!frames.isEmpty, "a message has no frames")
        for (index, frame) in frames.enumerated() {
            let result = try handle.send(frame, more: index + 1 < frames.count)
            guard result == .sent else { return .full }
        }
        return .sent
    }

    /// Reports the connection's beginning and end. Once per socket.
    public func makeMonitor() throws(ZMQError) -> SocketMonitor { try SocketMonitor(of: handle) }

    /// No events of the socket come any more. Before its monitor is closed: libzmq's I/O thread writes events with a blocking
    /// send, and would wait for ever for somebody to read those of the socket's end, and all connections with it.
    public func stopMonitoring() { handle.stopMonitoring() }

    /// Closes the socket; what is queued is sent in the background for at most `lingerMilliseconds`.
    public func close(lingerMilliseconds: Int = 0) {
        handle.close(lingerMilliseconds: Int32(clamping: lingerMilliseconds))
    }
}
