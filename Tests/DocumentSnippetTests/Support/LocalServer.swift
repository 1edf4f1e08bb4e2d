import Foundation
import Glibc

/// A server on the loopback interface that answers each path with what it was given; it ends with its last reference.
///
/// Invariant behind `@unchecked Sendable`: constant.
final class LocalServer: @unchecked Sendable {
    struct Answer {
        var status: Int
        var body: String
    }

    struct SystemError: Error {
        let code = errno
    }

    private let socket: Int32
    private let port: UInt16

    init(answering answers: [String: Answer]) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw SystemError() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && listen(socket, 16) == 0 && getsockname(socket, address, &length) == 0
            }
        }
        guard isListening else { throw SystemError() }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { Self.serve(socket, answers) }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(fileURLWithPath: path)
    }

    /// One connection after the other, until the socket is closed.
    private static func serve(_ socket: Int32, _ answers: [String: Answer]) {
        while true {
            let connection = accept(socket, nil, nil)
            guard connection >= 0 else { return }
            if let path = requestedPath(connection) { respond(connection, answers[path] ?? Answer(status: 404, body: "")) }
            close(connection)
        }
    }

    /// Reads a request without a body up to its end.
    private static func requestedPath(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
        }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 2)
        return words.count > 1 ? String(words[1]) : nil
    }

    private static func respond(_ connection: Int32, _ answer: Answer) {
        let head = "HTTP/1.1 \(answer.status) Answer\r\nContent-Length: \(answer.body.utf8.count)\r\nConnection: close\r\n\r\n"
        let bytes = Array((head + answer.body).utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
