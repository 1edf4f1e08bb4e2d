import CZMQ
import Foundation

/// Immutable bytes, shared without copying between the socket they came from, whoever reads them, and the next socket.
///
/// `@unchecked Sendable`: the bytes never change after `init`, neither those of the ZeroMQ message (which only this object
/// refers to, and only for reading and for its release in `deinit`) nor those of the array or `Data` it holds.
public final class Buffer: @unchecked Sendable {
    private enum Storage {
        /// A message that was received; ours to close. Its address must not change: small messages hold their bytes inside.
        case message(UnsafeMutablePointer<zmq_msg_t>)
        case array([UInt8])
        case data(Data)
    }

    /// From here on lending memory to libzmq is cheaper than copying it.
    static let lentBytesMin = 8 * 1024

    private let storage: Storage
    /// How many bytes.
    public let count: Int

    public init(_ bytes: [UInt8]) {
        storage = .array(bytes)
        count = bytes.count
    }

    public init(_ bytes: Data) {
        storage = .data(bytes)
        count = bytes.count
    }

    /// Takes a received message over; `message` is empty afterwards.
    init(taking message: inout zmq_msg_t) {
        let pointer = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: 1)
        zmq_msg_init(pointer)
        zmq_msg_move(pointer, &message)
        storage = .message(pointer)
        count = zmq_msg_size(pointer)
    }

    deinit {
        guard case .message(let pointer) = storage else { return }
        zmq_msg_close(pointer)
        pointer.deallocate()
    }

    /// Calls `body` with the bytes; the pointer is not to be used outside.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .message(let pointer):
            defer { extendLifetime(self) }
            return try body(UnsafeRawBufferPointer(start: zmq_msg_data(pointer), count: count))
        case .array(let bytes):
            return try bytes.withUnsafeBufferPointer { elements throws(Failure) in try body(UnsafeRawBufferPointer(elements)) }
        case .data(let bytes):
            return try bytes.bytes.withUnsafeBytes { part throws(Failure) in try body(part) }
        }
    }

    /// The bytes as `Data`, without a copy but for the smallest.
    public var data: Data {
        switch storage {
        case .data(let bytes): bytes
        case .array(let bytes): Data(bytes)
        case .message(let pointer):
            switch zmq_msg_data(pointer) {
            case .some(let start) where count >= 64:
                Data(bytesNoCopy: start, count: count, deallocator: .custom { [self] _, _ in extendLifetime(self) })
            case .some(let start): Data(bytes: start, count: count)
            case nil: Data()
            }
        }
    }

    /// How the ZAP handler called the connection that this frame came from; nil: there was none, or it was not received.
    var userID: String? { withProperty(Self.userIDProperty) { $0.map { String(cString: $0) } } }
    /// The address of the host that it came from; nil: it has none, or the frame was not received.
    var peerAddress: String? {
        withProperty("Peer-Address") { $0.map { String(cString: $0) } }.flatMap { PeerAddress.isOfIP($0) ? $0 : nil }
    }

    private static let userIDProperty: StaticString = "User-Id"

    func isSent(by userID: String?) -> Bool {
        withProperty(Self.userIDProperty) { known in
            guard let known, let userID else { return known == nil && userID == nil }
            return userID.withCString { strcmp(known, $0) == 0 }
        }
    }

    private func withProperty<Result>(_ name: StaticString, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard case .message(let pointer) = storage else { return body(nil) }
        defer { extendLifetime(self) }
        return body(zmq_msg_gets(pointer, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)))
    }

    /// Makes a message of these bytes that can be sent: lent to libzmq when large, copied when small.
    func withMessage<Result>(_ body: (inout zmq_msg_t) -> Result) throws(ZMQError) -> Result {
        var message = zmq_msg_t()
        guard initialize(&message) == 0 else { throw ZMQError(operation: "making a message of \(count) bytes") }
        defer { zmq_msg_close(&message) }  // after a successful send the message is empty
        return body(&message)
    }

    private func initialize(_ message: inout zmq_msg_t) -> Int32 {
        withUnsafeBytes { bytes in
            guard count >= Self.lentBytesMin, let start = bytes.baseAddress else {
                let code = zmq_msg_init_size(&message, count)
                if code == 0, let start = bytes.baseAddress, count > 0 {
                    zmq_msg_data(&message).copyMemory(from: start, byteCount: count)
                }
                return code
            }
            // The pointer outlives this call: it points into heap storage of an array, a `Data` of more than a few bytes or a
            // ZeroMQ message, which nobody changes and which this object keeps; libzmq holds the object until it has sent.
            let owner = Unmanaged.passRetained(self)
            let code = zmq_msg_init_data(
                &message, UnsafeMutableRawPointer(mutating: start), count,
                { _, hint in
                    guard let hint else { return }
                    Unmanaged<Buffer>.fromOpaque(hint).release()
                }, owner.toOpaque())
            if code != 0 { owner.release() }
            return code
        }
    }
}
