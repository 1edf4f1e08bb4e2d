import CZMQ

/// A connection that asks to be let in.
public struct ZAPRequest: Sendable {
    fileprivate let routingID: RoutingID
    fileprivate let number: Buffer
    /// Where it comes from: the address of a host.
    public let address: String
    /// With what it proves itself; nil: with nothing that counts here.
    public let key: PublicKey?
}

/// What a connection is told that asks to be let in.
public enum ZAPVerdict: Sendable, Hashable {
    case allowed
    case denied
    /// That cannot be told at the moment: it is not let in.
    case unavailable

    /// What `unavailable` means to who asks. The path is not told to strangers.
    static let undecidedText =
        "its list of authorised keys cannot be read, so that it lets nobody in; on its host its log names the file and what mends it, and so does "
        + "`aop keys list`, \(KeyDirectory.unnamed)"
}

/// Decides which keys are let in (ZeroMQ's authentication protocol, RFC 27). One for a context, bound before anything listens there;
/// when it is gone, nobody is let in any more.
///
/// Belongs to one thread.
public final class ZAPSocket {
    /// Of all sockets with keys. Not empty: libzmq asks nobody then.
    static let domain = "aop"
    /// A request has eight frames behind the routing id; more are thrown away.
    private static let framesMax = 8

    let handle: SocketHandle

    /// - Throws: ``ZMQError``, also when the context has one.
    public init(context: ZMQContext) throws(ZMQError) {
        // REP and ROUTER are allowed; anything else ends the process with an assertion.
        handle = try SocketHandle(ZMQ_ROUTER, context: context)
        try handle.set(ZMQ_LINGER, "LINGER", to: 0 as Int32)
        // One message per handshake: none may be lost, and each connection has but one.
        try handle.set(ZMQ_SNDHWM, "SNDHWM", to: 0 as Int32)
        try handle.set(ZMQ_RCVHWM, "RCVHWM", to: 0 as Int32)
        guard zmq_bind(try handle.open(), "inproc://zeromq.zap.01") == 0 else { throw ZMQError(operation: "binding the ZAP handler") }
    }

    /// The next request; nil: none is there. Each has to be answered. What is no request is skipped, and its connection times out.
    public func receive() throws(ZMQError) -> ZAPRequest? {
        while let (routingID, frames) = try receiveFrames() {
            // An empty frame, the version, the request's number, the domain, the address, a routing id, the mechanism, the key.
            guard frames.count >= 7, frames[0].count == 0, Self.text(frames[1]) == "1.0" else { continue }
            var key: PublicKey?
            if Self.text(frames[3]) == Self.domain, Self.text(frames[6]) == "CURVE", frames.count == 8 {
                key = frames[7].withUnsafeBytes { PublicKey(bytes: $0) }
            }
            return ZAPRequest(routingID: routingID, number: frames[2], address: Self.text(frames[4]), key: key)
        }
        return nil
    }

    /// Answers. What the connection sends later names the key (``RouterMessage/key``).
    public func answer(_ request: ZAPRequest, _ verdict: ZAPVerdict) throws(ZMQError) {
        let (status, text, name) =
            switch (verdict, request.key) {
            case (.allowed, .some(let key)): ("200", "OK", key.text)
            case (.denied, _), (.allowed, nil): ("400", "this key is not authorised", "")
            case (.unavailable, _): ("500", "the authorised keys cannot be read", "")
            }
        let empty = Buffer([UInt8]())
        let frames = [empty, Self.buffer("1.0"), request.number, Self.buffer(status), Self.buffer(text), Self.buffer(name), empty]
        _ = try handle.send(request.routingID)
        for (index, frame) in frames.enumerated() { _ = try handle.send(frame, more: index + 1 < frames.count) }
    }

    /// From here on nobody is let in.
    public func close() { handle.close(lingerMilliseconds: 0) }

    private func receiveFrames() throws(ZMQError) -> (RoutingID, [Buffer])? {
        var message = zmq_msg_t()
        zmq_msg_init(&message)
        defer { zmq_msg_close(&message) }
        guard try handle.receive(into: &message) else { return nil }
        let routingID = RoutingID(UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: zmq_msg_size(&message)))
        var frames: [Buffer] = []
        var more = zmq_msg_more(&message) != 0
        while more, try handle.receive(into: &message) {
            more = zmq_msg_more(&message) != 0
            if frames.count <= Self.framesMax { frames.append(Buffer(taking: &message)) }
        }
        return (routingID, frames)
    }

    private static func text(_ frame: Buffer) -> String { frame.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    private static func buffer(_ text: String) -> Buffer { Buffer(Array(text.utf8)) }
}
