import CZMQ
import Synchronization

/// A ZeroMQ context: one per process is enough. It owns libzmq's I/O thread.
///
/// Its sockets keep it alive; it is terminated when the last reference goes.
public final class ZMQContext: Sendable {
    /// libzmq allows a context to be used by any thread, so the pointer may cross them; `nil` once terminated.
    private struct Handle: @unchecked Sendable {
        var pointer: UnsafeMutableRawPointer?
    }

    /// Below this, remote peers without credentials can crash or stall the process (CVE-2020-15166, CVE-2021-20235).
    private static let oldestVersion = (major: Int32(4), minor: Int32(3), patch: Int32(3))

    private let handle: Mutex<Handle>

    /// - Throws: ``ZMQError`` when libzmq is older than 4.3.3 or has no memory, descriptors or threads for a context.
    public init() throws(ZMQError) {
        var major: Int32 = 0
        var minor: Int32 = 0
        var patch: Int32 = 0
        zmq_version(&major, &minor, &patch)
        guard (major, minor, patch) >= (Self.oldestVersion.major, Self.oldestVersion.minor, Self.oldestVersion.patch) else {
            throw ZMQError(
                operation: "loading libzmq", errno: ENOTSUP,
                message: "libzmq \(major).\(minor).\(patch) has known security holes; install 4.3.3 or newer (Debian: libzmq5)")
        }
        // It aborts the process when it has no threads for its first socket: one for messages, one that closes sockets.
        do { try OSThread.checkRoom(for: 2) } catch {
            throw ZMQError(operation: "creating a ZeroMQ context", errno: error.errno, message: "\(error)")
        }
        guard let pointer = zmq_ctx_new() else { throw ZMQError(operation: "creating a ZeroMQ context") }
        // One I/O thread moves about a million messages a second: more than the coordinator decides.
        guard zmq_ctx_set(pointer, ZMQ_IO_THREADS, 1) == 0, zmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, 1023) == 0 else {
            let error = ZMQError(operation: "configuring a ZeroMQ context")
            zmq_ctx_term(pointer)
            throw error
        }
        handle = Mutex(Handle(pointer: pointer))
    }

    deinit { terminate() }

    /// Frees the context. Waits until each of its sockets is closed and has sent, or given up after its linger, what it holds:
    /// close links and sockets first. Harmless when called twice; sockets cannot be created afterwards.
    public func terminate() {
        let pointer = handle.withLock { handle in
            defer { handle.pointer = nil }
            return handle
        }.pointer
        guard let pointer else { return }
        while zmq_ctx_term(pointer) != 0, zmq_errno() == EINTR {}
    }

    func makeSocket(_ type: Int32) throws(ZMQError) -> UnsafeMutableRawPointer {
        // Created under the lock, so that the context cannot be freed meanwhile.
        let (pointer, code) = handle.withLock { handle -> (Handle, Int32) in
            guard let context = handle.pointer else { return (Handle(pointer: nil), ETERM) }
            let socket = zmq_socket(context, type)
            return (Handle(pointer: socket), socket == nil ? zmq_errno() : 0)
        }
        guard let socket = pointer.pointer else { throw ZMQError(operation: "creating a ZeroMQ socket", errno: code) }
        return socket
    }
}
