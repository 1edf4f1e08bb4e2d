import Foundation
import Synchronization

/// An HTTP server of a test, on a port of the loopback address that nobody else has. It answers one request per connection, or
/// never.
public final class LocalHTTPServer: Sendable {
    public struct CannotListen: Error {
        public let errno: Int32
    }

    /// Without a path.
    public let address: String
    public let requests = Mutex(0)
    private let descriptor: Int32

    /// - Parameters:
    ///   - keepingOpen: a connection is left open behind its answer, so that one which is not whole does not end.
    ///   - answer: is given what was read of the request, and gives the whole answer; nil: there is none.
    public init(keepingOpen: Bool = false, _ answer: @escaping @Sendable (String) -> String?) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        guard bound else { throw CannotListen(errno: errno) }
        descriptor = listener
        address = "http://127.0.0.1:\(UInt16(bigEndian: place.sin_port))"
        Thread.detachNewThread { [weak self] in
            var open: [Int32] = []
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                let request = Self.readRequest(connection)
                self?.requests.withLock { $0 += 1 }
                let text = answer(request)
                if let text { Self.send(Array(text.utf8), to: connection) }
                if text == nil || keepingOpen { open.append(connection) } else { close(connection) }
            }
            for connection in open { close(connection) }
        }
    }

    /// The head, and as much of the body as that says there is.
    private static func readRequest(_ connection: Int32) -> String {
        var text = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let head = text.range(of: Data("\r\n\r\n".utf8)) {
                let lines = String(decoding: text[..<head.lowerBound], as: UTF8.self).lowercased().components(separatedBy: "\r\n")
                let length = lines.first { $0.hasPrefix("content-length:") }?.split(separator: ":").last.flatMap {
                    Int($0.trimmingCharacters(in: .whitespaces))
                }
                if text.count - head.upperBound >= length ?? 0 { break }
            }
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { break }
            text.append(contentsOf: buffer[..<count])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Until all is sent, or nobody takes it any more.
    private static func send(_ bytes: [UInt8], to connection: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// An answer with this status and body.
    public static func answer(_ status: Int, _ body: String, type: String = "application/json") -> String {
        "HTTP/1.1 \(status) Status\r\nContent-Type: \(type)\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }
}
