import Foundation

/// What became of using an address for a moment.
package enum SocketTrial: Hashable, Sendable {
    case free
    case taken
    case impossible(String)

    /// Listens there and stops at once.
    package static func listen(host: String, port: UInt16) -> SocketTrial {
        with(host: host, port: port, passive: true) { descriptor, address, length in
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            guard bind(descriptor, address, length) == 0, Glibc.listen(descriptor, 1) == 0 else {
                return errno == EADDRINUSE ? .taken : .impossible(String(cString: strerror(errno)))
            }
            return .free
        }
    }

    /// - Parameter passive: the address is one to listen on.
    package static func with(
        host: String, port: UInt16, passive: Bool, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> SocketTrial
    ) -> SocketTrial {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = passive ? AI_PASSIVE : 0
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host == "*" ? nil : host, "\(port)", &hints, &found)
        guard code == 0, let entry = found, let address = entry.pointee.ai_addr else {
            return .impossible(String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(entry.pointee.ai_family, entry.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .impossible(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        return body(descriptor, address, entry.pointee.ai_addrlen)
    }
}
