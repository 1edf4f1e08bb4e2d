import CZMQ
import Synchronization

/// What happened to a socket's connections.
public enum MonitorEvent: Sendable, Hashable {
    case connected(fileDescriptor: Int32)
    case accepted(fileDescriptor: Int32)
    /// The connection is ready for messages.
    case handshakeSucceeded(fileDescriptor: Int32)
    /// `isClosed`: the other side went, or a timeout was over; else what it sent was wrong.
    case handshakeFailed(reason: String, isClosed: Bool)
    /// The ZAP handler did not let it in: 400, or 500 when it could not tell.
    case handshakeDenied(status: Int32)
    /// One side asks for keys, and the other one does not.
    case securityMismatch
    case disconnected(fileDescriptor: Int32)
    /// An attempt to connect ended without success, or a listener was closed.
    case closed(fileDescriptor: Int32)
    /// The socket is gone: everything it held has been sent or given up.
    case stopped
    /// Another event of libzmq, by its number.
    case other(UInt16)
}

/// Events of one socket's connections, read on that socket's thread.
public final class SocketMonitor {
    let handle: SocketHandle

    private static let nextNumber = Atomic<UInt64>(0)

    init(of socket: SocketHandle) throws(ZMQError) {
        let number = Self.nextNumber.add(1, ordering: .relaxed).newValue
        let address = "inproc://aop.monitor.\(number)"
        // Not EVENT_ALL: newer versions add events. Not EVENT_ACCEPT_FAILED: with no descriptor left it comes faster than it can be read.
        let events =
            ZMQ_EVENT_CONNECTED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED
            | ZMQ_EVENT_MONITOR_STOPPED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
            | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
        guard zmq_socket_monitor(try socket.open(), address, events) == 0 else { throw ZMQError(operation: "monitoring a socket") }
        handle = try SocketHandle(ZMQ_PAIR, context: socket.context)
        // Unlimited: libzmq's I/O thread writes events with a blocking send, and all connections would wait with it.
        try handle.set(ZMQ_RCVHWM, "RCVHWM", to: 0 as Int32)
        try handle.set(ZMQ_LINGER, "LINGER", to: 0 as Int32)
        guard zmq_connect(try handle.open(), address) == 0 else { throw ZMQError(operation: "connecting to a socket's monitor") }
    }

    /// The next event; nil when there is none.
    public func receive() throws(ZMQError) -> MonitorEvent? {
        var message = zmq_msg_t()
        zmq_msg_init(&message)
        defer { zmq_msg_close(&message) }
        // First frame: event number (16 bits) and value (32 bits), in the host's byte order. Second: the endpoint.
        guard let frames = try handle.receiveFrames(into: &message)?.frames, let first = frames.first else { return nil }
        guard first.count >= 6 else { return .other(0) }
        return first.withUnsafeBytes { bytes in
            Self.event(bytes.loadUnaligned(as: UInt16.self), value: bytes.loadUnaligned(fromByteOffset: 2, as: Int32.self))
        }
    }

    /// Stops reading. Close it after its socket, or events are lost.
    public func close() { handle.close(lingerMilliseconds: 0) }

    private static func event(_ number: UInt16, value: Int32) -> MonitorEvent {
        switch Int32(number) {
        case ZMQ_EVENT_CONNECTED: .connected(fileDescriptor: value)
        case ZMQ_EVENT_ACCEPTED: .accepted(fileDescriptor: value)
        case ZMQ_EVENT_CLOSED: .closed(fileDescriptor: value)
        case ZMQ_EVENT_DISCONNECTED: .disconnected(fileDescriptor: value)
        case ZMQ_EVENT_MONITOR_STOPPED: .stopped
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: .handshakeSucceeded(fileDescriptor: value)
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: .handshakeFailed(reason: String(cString: zmq_strerror(value)), isClosed: true)
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL where value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH: .securityMismatch
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL where value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC:
            .handshakeFailed(reason: "what it has encrypted was not meant for the coordinator's key", isClosed: false)
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
            .handshakeFailed(reason: "the other side does not speak ZMTP (0x\(String(value, radix: 16)))", isClosed: false)
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: .handshakeDenied(status: value)
        default: .other(number)
        }
    }
}
