import CZMQ

/// A message that a ``RouterSocket`` received.
public struct RouterMessage: Sendable {
    /// The connection it came from; answer there.
    public let routingID: RoutingID
    /// The payload, at most one frame more than the protocol allows.
    public let frames: [Buffer]
    /// The descriptor of that connection, where the transport tells (tcp, ipc). ``MonitorEvent/disconnected(fileDescriptor:)``
    /// names the same one. Descriptors are used again: treat a disconnect as suspicion.
    public let fileDescriptor: Int32?

    /// The key of the connection it came from; nil: it has none. Not of the routing id's frame: libzmq 4.3.4 loses what it knows there.
    public var key: PublicKey? { frames.first?.userID.flatMap { PublicKey($0) } }

    /// The host that it came from; nil: the transport does not tell.
    public var address: String? { frames.first?.peerAddress }

    /// As `key == other`, without reading it anew for each message.
    public func isSent(with other: PublicKey?) -> Bool { frames.first?.isSent(by: other?.text) ?? false }
}

/// The coordinator's socket: many connections, each with a name that the socket gives it.
///
/// Belongs to one thread. Nothing here blocks, nothing is dropped in silence: a send says what became of it.
public final class RouterSocket {
    let handle: SocketHandle
    private var files: [SocketFile] = []

    /// - Throws: ``ZMQError``.
    public init(context: ZMQContext) throws(ZMQError) {
        handle = try SocketHandle(ZMQ_ROUTER, context: context)
        try handle.setCommonOptions()
        // Without it a message to a lost or slow connection disappears.
        try handle.set(ZMQ_ROUTER_MANDATORY, "ROUTER_MANDATORY", to: 1 as Int32)
        // Nobody takes a name over: names are ours, and peers are known by their hello.
        try handle.set(ZMQ_ROUTER_HANDOVER, "ROUTER_HANDOVER", to: 0 as Int32)
        try handle.set(ZMQ_PROBE_ROUTER, "PROBE_ROUTER", to: 0 as Int32)
        // Workers of a whole cluster reconnect at once after a restart.
        try handle.set(ZMQ_BACKLOG, "BACKLOG", to: 1024 as Int32)
    }

    /// Only who has a key that the context's ``ZAPSocket`` lets in can connect to endpoints bound from here on. That socket must be
    /// there first.
    public func useKey(of pair: KeyPair) throws(ZMQError) { try handle.useKey(of: pair) }

    /// Listens. May be called for several endpoints.
    ///
    /// The socket file of an ipc endpoint is protected by the mode of its directory. A socket left by a dead process is
    /// replaced; that of a live one, or another kind of file, is an error.
    /// - Returns: the endpoint as it is, with the port the system chose when 0 was asked for.
    /// - Throws: ``ZMQError``, e.g. when another process listens there.
    @discardableResult
    public func bind(_ endpoint: Endpoint) throws(ZMQError) -> Endpoint {
        try SocketFile.prepare(endpoint)
        try handle.set(ZMQ_IPV6, "IPV6", to: endpoint.needsIPv6 ? 1 : 0 as Int32)
        guard zmq_bind(try handle.open(), endpoint.zmqText) == 0 else { throw ZMQError(operation: "bind", endpoint: endpoint) }
        if let file = SocketFile(of: endpoint) { files.append(file) }
        guard endpoint.port == 0 else { return endpoint }
        let text = try handle.lastEndpoint()
        do {
            return try Endpoint(text)
        } catch {
            throw ZMQError(
                operation: "bind", errno: EINVAL, message: "libzmq bound \(endpoint) and calls it `\(text)`, which is no endpoint: \(error)"
            )
        }
    }

    /// Stops listening there; connections that exist go on.
    public func unbind(_ endpoint: Endpoint) throws(ZMQError) {
        guard zmq_unbind(try handle.open(), endpoint.zmqText) == 0 else { throw ZMQError(operation: "unbind", endpoint: endpoint) }
    }

    /// The next message; nil when there is none.
    public func receive() throws(ZMQError) -> RouterMessage? {
        var message = zmq_msg_t()
        zmq_msg_init(&message)
        defer { zmq_msg_close(&message) }
        guard try handle.receive(into: &message) else { return nil }
        let routingID = RoutingID(UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: zmq_msg_size(&message)))
        // An id without payload cannot come from a peer: libzmq always passes at least one frame behind it.
        guard zmq_msg_more(&message) != 0, let payload = try handle.receiveFrames(into: &message) else {
            return RouterMessage(routingID: routingID, frames: [], fileDescriptor: nil)
        }
        return RouterMessage(routingID: routingID, frames: payload.frames, fileDescriptor: payload.fileDescriptor)
    }

    /// Sends a message to a connection, as a whole or not at all.
    ///
    /// The socket learns of a connection's end while it receives: one that only sends may see `full` for a connection that is gone.
    public func send(to routingID: RoutingID, frames: [Buffer]) throws(ZMQError) -> SendResult {
        precondition(!frames.isEmpty, "a message to \(routingID) has no frames: libzmq would drop it in silence")
        let first = try handle.send(routingID)
        guard first == .sent else { return first }
        for (index, frame) in frames.enumerated() {
            // The queue's mark was checked with the id: what follows is taken, or dropped together with a connection that ended.
            guard try handle.send(frame, more: index + 1 < frames.count) == .sent else { return .unroutable }
        }
        return .sent
    }

    /// Reports connections' beginnings and ends. Once per socket.
    public func makeMonitor() throws(ZMQError) -> SocketMonitor { try SocketMonitor(of: handle) }

    /// Closes the socket and its connections; what is queued is sent in the background for at most `lingerMilliseconds`.
    public func close(lingerMilliseconds: Int = 0) {
        // Before the socket: a successor may listen at the same path from the next moment on.
        for file in files { file.remove() }
        files = []
        handle.close(lingerMilliseconds: Int32(clamping: lingerMilliseconds))
    }
}
