import Foundation
import Testing

@testable import Wire

/// A listener with keys, and who may connect.
@Suite struct CurveTests {
    private static let limitMilliseconds: Int64 = 60_000

    struct Sides {
        let context: ZMQContext
        let server: KeyPair
        let directory: KeyTests.Directory
        let zap: ZAPSocket
        let router: RouterSocket
        let endpoint: Endpoint

        init() throws {
            (context, server, directory) = (try ZMQContext(), try KeyPair(), try KeyTests.Directory())
            zap = try ZAPSocket(context: context)
            router = try RouterSocket(context: context)
            try router.useKey(of: server)
            endpoint = try router.bind(try Endpoint("tcp://127.0.0.1:0"))
        }

        func key(_ name: String, serverKey: PublicKey? = nil) throws -> PeerKey {
            let path = "\(directory.path)/\(name).key"
            try KeyFile(name: name, pair: try KeyPair(), serverKey: serverKey ?? server.publicKey).write(to: path)
            return try PeerKey(contentsOf: path)
        }

        /// Connects with the key and says `hello`; returns what came first: the message, or the event that ended it.
        func meet(_ key: PeerKey?, _ verdict: (ZAPRequest) -> ZAPVerdict) throws -> (RouterMessage?, MonitorEvent?) {
            let dealer = try DealerSocket(context: context, key: key)
            let monitor = try dealer.makeMonitor()
            try dealer.connect(endpoint)
            defer {
                dealer.stopMonitoring()
                dealer.close()
                monitor.close()
            }
            var poller = Poller()
            let socket = poller.add(dealer)
            poller.watchWritable(socket, true)
            _ = (poller.add(zap), poller.add(router), poller.add(monitor))
            let deadline = BootClock.milliseconds() + CurveTests.limitMilliseconds
            while BootClock.milliseconds() < deadline {
                let ready = try poller.wait(until: deadline)
                if ready.isWritable(socket) {
                    _ = try dealer.send([Buffer(Array("hello".utf8))])
                    poller.watchWritable(socket, false)
                }
                while let request = try zap.receive() { try zap.answer(request, verdict(request)) }
                if let message = try router.receive() { return (message, nil) }
                while let event = try monitor.receive() {
                    switch event {
                    case .connected, .handshakeSucceeded, .accepted: continue
                    default: return (nil, event)
                    }
                }
            }
            throw WaitIsOver()
        }
    }

    struct WaitIsOver: Error {}

    @Test func authorisedKey_isLetIn_andItsMessagesNameIt() throws {
        let sides = try Sides()
        let key = try sides.key("a")
        let (message, event) = try sides.meet(key) { $0.key == key.publicKey && $0.address == "127.0.0.1" ? .allowed : .denied }
        #expect(event == nil)
        #expect(message?.key == key.publicKey)
        #expect(message?.isSent(with: key.publicKey) == true)
        #expect(message?.isSent(with: try KeyPair().publicKey) == false)
        #expect(message?.isSent(with: nil) == false)
        #expect(message?.frames.first?.data == Data("hello".utf8))
    }

    @Test func unknownKey_isDenied_andToldSo() throws {
        let sides = try Sides()
        let (message, event) = try sides.meet(try sides.key("a")) { _ in .denied }
        #expect(message == nil)
        #expect(event == .handshakeDenied(status: 400))
    }

    @Test func keysThatCannotBeLookedUp_areDenied() throws {
        let sides = try Sides()
        let (message, event) = try sides.meet(try sides.key("a")) { _ in .unavailable }
        #expect(message == nil)
        #expect(event == .handshakeDenied(status: 500))
    }

    @Test func noKey_andAKeyForAnotherCoordinator_areNotEvenAskedAbout() throws {
        let sides = try Sides()
        let none = try sides.meet(nil) { _ in
            Issue.record("the handler was asked")
            return .allowed
        }
        #expect(none.0 == nil)
        #expect(none.1.map(isEnd) == true, "\(none)")
        let wrong = try sides.meet(try sides.key("b", serverKey: try KeyPair().publicKey)) { _ in
            Issue.record("the handler was asked")
            return .allowed
        }
        #expect(wrong.0 == nil)
        #expect(wrong.1.map(isEnd) == true, "\(wrong)")
    }

    /// Which side finds out first is a matter of time.
    private func isEnd(_ event: MonitorEvent) -> Bool {
        switch event {
        case .securityMismatch, .disconnected, .handshakeFailed: true
        default: false
        }
    }

    @Test func handlerGone_nobodyIsLetIn() throws {
        let sides = try Sides()
        let key = try sides.key("a")
        _ = try sides.meet(key) { _ in .allowed }
        sides.zap.close()
        let dealer = try DealerSocket(context: sides.context, key: key)
        let monitor = try sides.router.makeMonitor()
        try dealer.connect(sides.endpoint)
        defer { dealer.close() }
        var poller = Poller()
        _ = (poller.add(monitor), poller.add(sides.router))
        let deadline = BootClock.milliseconds() + Self.limitMilliseconds
        while BootClock.milliseconds() < deadline {
            _ = try poller.wait(until: deadline)
            #expect(try sides.router.receive() == nil)
            while let event = try monitor.receive() {
                if case .handshakeSucceeded = event { Issue.record("it was let in") }
                if case .handshakeFailed = event {
                    sides.router.close()
                    return monitor.close()
                }
            }
        }
        throw WaitIsOver()
    }

    @Test func secondHandlerOfOneContext_isRefused() throws {
        let context = try ZMQContext()
        let first = try ZAPSocket(context: context)
        #expect(throws: ZMQError.self) { try ZAPSocket(context: context) }
        first.close()
    }
}
