import CZMQ

/// What a send came to. No send ever blocks.
public enum SendResult: Sendable, Hashable {
    case sent
    /// The peer's queue is at its high-water mark, or there is no connection yet: try again when the socket is writable.
    case full
    /// ROUTER only: this connection does not exist (any more).
    case unroutable
}

/// A libzmq socket and the calls all kinds share. Belongs to one thread.
final class SocketHandle {
    let context: ZMQContext
    private(set) var pointer: UnsafeMutableRawPointer?

    init(_ type: Int32, context: ZMQContext) throws(ZMQError) {
        self.context = context
        pointer = try context.makeSocket(type)
    }

    deinit { close(lingerMilliseconds: 0) }

    /// See ``DealerSocket/stopMonitoring()``. Does nothing to a socket that is closed.
    func stopMonitoring() {
        if let pointer { zmq_socket_monitor(pointer, nil, 0) }
    }

    /// Closes the socket; what it still holds is sent in the background for at most `lingerMilliseconds`.
    func close(lingerMilliseconds: Int32) {
        guard let pointer else { return }
        self.pointer = nil
        var linger = lingerMilliseconds
        // Fails only for a pointer that is no socket; the socket is released in any case.
        zmq_setsockopt(pointer, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
        zmq_close(pointer)
    }

    func open() throws(ZMQError) -> UnsafeMutableRawPointer {
        guard let pointer else { throw ZMQError(operation: "using a closed socket", errno: ENOTSOCK) }
        return pointer
    }

    func set(_ option: Int32, _ name: String, to value: Int32) throws(ZMQError) {
        var value = value
        guard zmq_setsockopt(try open(), option, &value, MemoryLayout<Int32>.size) == 0 else {
            throw ZMQError(operation: "setting \(name) to \(value)")
        }
    }

    func set(_ option: Int32, _ name: String, to value: Int64) throws(ZMQError) {
        var value = value
        guard zmq_setsockopt(try open(), option, &value, MemoryLayout<Int64>.size) == 0 else {
            throw ZMQError(operation: "setting \(name) to \(value)")
        }
    }

    func set(_ option: Int32, _ name: String, to text: String) throws(ZMQError) {
        let pointer = try open()
        guard zmq_setsockopt(pointer, option, text, text.utf8.count) == 0 else {
            throw ZMQError(operation: "setting \(name) to `\(text)`")
        }
    }

    /// An option whose value must not appear in an error.
    func setSecretly(_ option: Int32, _ name: String, to text: String) throws(ZMQError) {
        let pointer = try open()
        guard zmq_setsockopt(pointer, option, text, text.utf8.count) == 0 else { throw ZMQError(operation: "setting \(name)") }
    }

    func lastEndpoint() throws(ZMQError) -> String {
        let pointer = try open()
        var bytes = [UInt8](repeating: 0, count: 512)
        var count = bytes.count
        guard zmq_getsockopt(pointer, ZMQ_LAST_ENDPOINT, &bytes, &count) == 0 else { throw ZMQError(operation: "reading LAST_ENDPOINT") }
        return String(decoding: bytes.prefix(count).prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Receives one frame into `message`. False: nothing there.
    func receive(into message: inout zmq_msg_t) throws(ZMQError) -> Bool {
        let pointer = try open()
        while true {
            if zmq_msg_recv(&message, pointer, ZMQ_DONTWAIT) >= 0 { return true }
            switch zmq_errno() {
            case EINTR: continue
            case EAGAIN: return false
            case let code: throw ZMQError(operation: "receiving", errno: code)
            }
        }
    }

    /// Receives the rest of a message, or a whole one: its frames up to one more than the protocol has, and where they came
    /// from. Nil: nothing there. Parts of one message arrive together, so only the first can be missing.
    func receiveFrames(into message: inout zmq_msg_t) throws(ZMQError) -> (frames: [Buffer], fileDescriptor: Int32?)? {
        var frames: [Buffer] = []
        var fileDescriptor: Int32?
        repeat {
            guard try receive(into: &message) else { return nil }
            let more = zmq_msg_more(&message) != 0
            if frames.isEmpty {
                let source = zmq_msg_get(&message, ZMQ_SRCFD)
                fileDescriptor = source >= 0 ? source : nil
            }
            if frames.count <= Limits.messageFrames { frames.append(Buffer(taking: &message)) }
            if !more { return (frames, fileDescriptor) }
        } while true
    }

    /// Sends one frame.
    func send(_ frame: Buffer, more: Bool) throws(ZMQError) -> SendResult {
        let pointer = try open()
        let code = try frame.withMessage { message in
            Self.attempt { zmq_msg_send(&message, pointer, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) }
        }
        return try Self.result(code)
    }

    /// Sends a routing id in front of a message.
    func send(_ routingID: RoutingID) throws(ZMQError) -> SendResult {
        let pointer = try open()
        let code = routingID.withUnsafeBytes { bytes in
            Self.attempt { zmq_send(pointer, bytes.baseAddress, bytes.count, ZMQ_DONTWAIT | ZMQ_SNDMORE) }
        }
        return try Self.result(code)
    }

    /// Calls until it is not interrupted by a signal; 0 or an error number.
    private static func attempt(_ call: () -> Int32) -> Int32 {
        while true {
            if call() >= 0 { return 0 }
            let code = zmq_errno()
            if code != EINTR { return code }
        }
    }

    private static func result(_ code: Int32) throws(ZMQError) -> SendResult {
        switch code {
        case 0: .sent
        case EAGAIN: .full
        case EHOSTUNREACH: .unroutable
        default: throw ZMQError(operation: "sending", errno: code)
        }
    }
}
