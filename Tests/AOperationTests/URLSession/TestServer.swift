import Foundation

@testable import AOperation

/// A small HTTP/1.1 server on a loopback port of its own, with a thread for each connection.
///
/// A route is a closure that answers one request, on that thread; it may block. Nothing is left when `stop()` was
/// called and the routes have returned.
final class TestServer: Sendable {
    typealias Route = @Sendable (Exchange) -> Void

    struct CannotListen: Error { let number: Int32 }

    let port: UInt16
    private let listener: Int32
    private let routes: [String: Route]
    private let readsBodies: Bool
    private let connections = Guarded<Connections>(Connections())

    private struct Connections {
        var open: Set<Int32> = []
        var accepted = 0
        var isStopped = false
    }

    /// `routes` are found by path; what is not there is answered with 404. Unless it `readsBodies`, a route is called
    /// when the head of a request is there, and gets no body.
    init(_ routes: [String: Route], readsBodies: Bool = true) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw CannotListen(number: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 512) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else {
            let number = errno
            close(listener)
            throw CannotListen(number: number)
        }
        self.listener = listener
        self.routes = routes
        self.readsBodies = readsBodies
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    convenience init(_ path: String, _ route: @escaping Route) throws {
        try self.init([path: route])
    }

    func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(fileURLWithPath: "/not-a-url")
    }

    /// How many connections there have been.
    var connectionsAccepted: Int { connections.withLock { $0.accepted } }

    /// Closes everything; routes that read or write notice it.
    func stop() {
        connections.withLock { connections in
            guard !connections.isStopped else { return }
            connections.isStopped = true
            shutdown(listener, Int32(SHUT_RDWR))
            // Under the lock: none of these is closed, and its number another's, before it is taken out.
            for connection in connections.open { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private func accept() {
        while true {
            let connection = Foundation.accept(listener, nil, nil)
            guard connection >= 0 else {
                if errno == EINTR { continue }
                break
            }
            let isWanted = connections.withLock { connections in
                guard !connections.isStopped else { return false }
                connections.open.insert(connection)
                connections.accepted += 1
                return true
            }
            guard isWanted else {
                close(connection)
                continue
            }
            Thread.detachNewThread { [self] in serve(connection) }
        }
        close(listener)
    }

    private func serve(_ connection: Int32) {
        let stream = ByteStream(connection)
        while let request = stream.readRequest(withBody: readsBodies) {
            let exchange = Exchange(request, on: stream)
            let path = String(request.target.prefix { $0 != "?" })
            if let route = routes[path] { route(exchange) } else { exchange.respond(404) }
            if exchange.isOver || !readsBodies { break }
        }
        connections.withLock { _ = $0.open.remove(connection) }
        close(connection)
    }
}
