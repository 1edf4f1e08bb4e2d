import Foundation
import Testing

/// systemd's end of `NOTIFY_SOCKET`.
final class NotifySocket {
    let path: String
    private let descriptor: Int32
    /// The lines of all datagrams so far, in order.
    private(set) var lines: [String] = []

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(descriptor >= 0 && bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        try #require(bound == 0, "bind: errno \(errno)")
    }

    deinit { close(descriptor) }

    /// Takes what has come.
    /// - Returns: all lines so far.
    func read() -> [String] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { return lines }
            lines += String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }
}
