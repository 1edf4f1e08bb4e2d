import Foundation
import Testing
import Wire

/// What stands before a coordinator that is away: it takes connections, as a tunnel or a proxy does, and closes them at once.
final class ClosingListener {
    private let descriptor: Int32

    init(at endpoint: Endpoint) throws {
        let port = try #require(endpoint.port)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var (yes, address) = (Int32(1), sockaddr_in())
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4) == 0
                    && bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(descriptor, 16) == 0
            }
        }
        guard isListening else { throw Missing(what: "a listener at \(endpoint): \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// Waits for the next connection, and closes it.
    func closeNext() {
        let connection = accept(descriptor, nil, nil)
        #expect(connection >= 0)
        close(connection)
    }
}
