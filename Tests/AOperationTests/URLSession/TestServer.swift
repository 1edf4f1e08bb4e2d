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
    /// when the head of a request is there, and reads the body itself.
    init(_ routes: [String: Route], readsBodies: Bool = true) throws {
        (listener, port) = try Self.bindLoopback()
        guard listen(listener, 512) == 0 else {
            let number = errno
            close(listener)
            throw CannotListen(number: number)
        }
        self.routes = routes
        self.readsBodies = readsBodies
        Thread.detachNewThread { [self] in accept() }
    }

    /// A socket with a port of the loopback address that nobody else has.
    static func bindLoopback() throws -> (socket: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw CannotListen(number: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else {
            let number = errno
            close(descriptor)
            throw CannotListen(number: number)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
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
        var number = 0
        while let request = stream.readRequest(withBody: readsBodies) {
            number += 1
            let exchange = Exchange(request, number: number, on: stream)
            let path = String(request.target.prefix { $0 != "?" })
            if let route = routes[path] { route(exchange) } else { exchange.respond(404) }
            if exchange.isOver { break }
        }
        connections.withLock { _ = $0.open.remove(connection) }
        close(connection)
    }
}

/// A port where nobody listens, and nobody else can while this is held.
final class DeadPort: Sendable {
    private let descriptor: Int32
    let url: URL

    /// To be closed when it was used.
    init() throws {
        let (descriptor, port) = try TestServer.bindLoopback()
        self.descriptor = descriptor
        url = URL(string: "http://127.0.0.1:\(port)/") ?? URL(fileURLWithPath: "/not-a-url")
    }

    func close() { Foundation.close(descriptor) }
}
