import CZMQ
import Glibc

/// The file of an ipc endpoint this process listens on. libzmq replaces whatever is at the path when it binds, also a file
/// that is no socket and the socket of a live process: so it is looked at first.
struct SocketFile {
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Makes sure that binding takes nothing away from anybody: nothing is at `endpoint`'s path, or a socket where nobody listens.
    static func prepare(_ endpoint: Endpoint) throws(ZMQError) {
        guard let path = endpoint.path, let status = status(of: path) else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ZMQError(
                operation: "bind", errno: EEXIST,
                message: "bind \(endpoint) failed: the path exists and is not a socket; choose another one")
        }
        if isAnswered(path) { throw ZMQError(operation: "bind", endpoint: endpoint, errno: EADDRINUSE) }
    }

    /// The file that a bind has just made; nil for other transports.
    init?(of endpoint: Endpoint) {
        guard let path = endpoint.path, let status = Self.status(of: path) else { return nil }
        self.path = path
        device = status.st_dev
        inode = status.st_ino
    }

    /// Removes the file, unless another process has put its own there. One that stays is harmless: the next bind replaces it.
    func remove() {
        guard let status = Self.status(of: path), status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// Whether a process accepts connections at this socket.
    private static func isAnswered(_ path: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        // EAGAIN: a listener whose queue is full.
        return result == 0 || errno != ECONNREFUSED
    }
}
