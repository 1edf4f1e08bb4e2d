import Foundation

@testable import AOperation

/// A TCP server on the loopback.
final class LocalServer: Sendable {
    enum Manner {
        /// Has a port, and refuses connections.
        case refusing
        /// Has a port, and its queue of connections is full: further ones get no answer.
        case full
        /// Accepts connections and says nothing.
        case silent
        /// Answers every connection with this text.
        case answering(String)
    }

    let port: UInt16
    private let descriptor: Int32
    private let fillers: [Int32]

    init(_ manner: Manner) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        port = try Self.bind(descriptor)
        switch manner {
        case .refusing:
            fillers = []
        case .full:
            listen(descriptor, 0)
            fillers = (0..<4).map { [port] _ in Self.connect(to: port) }
        case .silent:
            listen(descriptor, 16)
            fillers = []
        case .answering(let text):
            listen(descriptor, 16)
            fillers = []
            Thread.detachNewThread { [descriptor] in Self.serve(descriptor, text) }
        }
    }

    deinit {
        for filler in fillers { close(filler) }
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    func url(_ scheme: String = "http") -> URL? { URL(string: "\(scheme)://127.0.0.1:\(port)/") }

    private static func bind(_ descriptor: Int32) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                Glibc.bind(descriptor, generic, length) == 0 ? getsockname(descriptor, generic, &length) : -1
            }
        }
        guard status == 0 else { throw Failed(text: "no port: \(String(cString: strerror(errno)))") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Begins to connect, and does not wait for that.
    private static func connect(to port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                _ = Glibc.connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    private static func serve(_ descriptor: Int32, _ text: String) {
        while true {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { return }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            _ = recv(connection, &buffer, buffer.count, 0)
            _ = send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL))
            close(connection)
        }
    }
}
