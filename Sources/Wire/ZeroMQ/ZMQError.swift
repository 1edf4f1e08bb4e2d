import CZMQ

/// A call of libzmq that failed: which, on what endpoint, why, and what to do.
public struct ZMQError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was being done, e.g. `bind`.
    public let operation: String
    public let endpoint: Endpoint?
    /// libzmq's error number (`EADDRINUSE`, `ETERM`, …).
    public let errno: Int32
    /// The whole story, with the next step.
    public let message: String

    init(operation: String, endpoint: Endpoint? = nil, errno: Int32 = zmq_errno()) {
        self.operation = operation
        self.endpoint = endpoint
        self.errno = errno
        let cause = "\(operation)\(endpoint.map { " \($0)" } ?? "") failed: \(String(cString: zmq_strerror(errno)))"
        message = Self.remedy(errno, endpoint: endpoint).map { "\(cause); \($0)" } ?? cause
    }

    init(operation: String, errno: Int32, message: String) {
        self.operation = operation
        endpoint = nil
        self.errno = errno
        self.message = message
    }

    public var description: String { message }

    private static func remedy(_ code: Int32, endpoint: Endpoint?) -> String? {
        switch code {
        case EADDRINUSE: "another process listens there: stop it, or choose another endpoint"
        case EADDRNOTAVAIL, ENODEV: "the host part must be an address of this host"
        case EACCES: endpoint?.path == nil ? "ports below 1024 need privileges: choose a higher one" : "the directory must be writable"
        case ENOENT: "the directory of the socket must exist"
        case EMFILE: "the process has no free file descriptors or ZeroMQ sockets: raise `ulimit -n`"
        case ETERM: "the ZeroMQ context has been terminated"
        default: nil
        }
    }
}
