import Foundation
import Glibc
import Testing
import Wire

@Suite(.serialized) struct SocketTests {
    enum Transport: CaseIterable { case inproc, tcp, ipc }

    static func endpoint(_ transport: Transport) throws -> Endpoint {
        switch transport {
        case .inproc: try Endpoint("inproc://\(UUID().uuidString)")
        case .tcp: try Endpoint("tcp://127.0.0.1:0")
        case .ipc: try Endpoint("ipc://\(NSTemporaryDirectory())aop-\(UUID().uuidString.prefix(8))")
        }
    }

    /// A ROUTER and a DEALER that are connected, both of this test's thread.
    final class Pair {
        let context: ZMQContext
        let router: RouterSocket
        let dealer: DealerSocket
        let endpoint: Endpoint

        init(_ transport: Transport) throws {
            context = try ZMQContext()
            router = try RouterSocket(context: context)
            dealer = try DealerSocket(context: context)
            endpoint = try router.bind(SocketTests.endpoint(transport))
            try dealer.connect(endpoint)
        }

        deinit {
            dealer.close()
            router.close()
            context.terminate()
        }

        func send(_ frames: [Buffer]) throws {
            var poller = Poller()
            let token = poller.add(dealer)
            poller.watchWritable(token, true)
            let deadline = BootClock.milliseconds() + 60_000
            while try dealer.send(frames) == .full {
                try #require(BootClock.milliseconds() < deadline, "the dealer did not become writable")
                _ = try poller.wait(until: deadline)
            }
        }

        func receive() throws -> RouterMessage {
            var poller = Poller()
            _ = poller.add(router)
            let deadline = BootClock.milliseconds() + 60_000
            while true {
                if let message = try router.receive() { return message }
                try #require(BootClock.milliseconds() < deadline, "nothing came to the router")
                _ = try poller.wait(until: deadline)
            }
        }

        func answer() throws -> [Buffer] {
            var poller = Poller()
            _ = poller.add(dealer)
            let deadline = BootClock.milliseconds() + 60_000
            while true {
                if let frames = try dealer.receive() { return frames }
                try #require(BootClock.milliseconds() < deadline, "nothing came to the dealer")
                _ = try poller.wait(until: deadline)
            }
        }
    }

    static func bytes(_ buffer: Buffer) -> [UInt8] { buffer.withUnsafeBytes { Array($0) } }

    @Test(arguments: Transport.allCases) func frames_goThereAndBackUnchanged(transport: Transport) throws {
        let pair = try Pair(transport)
        // Empty; inside the message itself; copied; lent.
        for count in [0, 1, 29, 33, 34, 1000, 8191, 8192, 300_000] {
            let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            try pair.send([Buffer(content), Buffer(Data(content))])
            let message = try pair.receive()
            #expect(message.frames.count == 2)
            #expect(message.frames.allSatisfy { Self.bytes($0) == content })
            #expect(message.frames.allSatisfy { $0.data == Data(content) })
            #expect((message.fileDescriptor != nil) == (transport != .inproc), "\(transport): \(message)")
            // On to the next socket, as it came.
            #expect(try pair.router.send(to: message.routingID, frames: message.frames) == .sent)
            #expect(try pair.answer().map(Self.bytes) == [content, content])
        }
    }

    @Test func aBuffer_outlivesItsSocketAndContext() throws {
        let buffer: Buffer
        do {
            let pair = try Pair(.tcp)
            try pair.send([Buffer([UInt8](repeating: 3, count: 100_000))])
            buffer = try pair.receive().frames[0]
        }
        let data = buffer.data
        #expect(data.count == 100_000 && data.allSatisfy { $0 == 3 })
    }

    @Test func lentMemory_isReleasedWhenSent() throws {
        let pair = try Pair(.tcp)
        weak var gone: Buffer?
        do {
            let buffer = Buffer([UInt8](repeating: 1, count: 1_000_000))
            gone = buffer
            try pair.send([buffer])
        }
        _ = try pair.receive()
        pair.dealer.close()
        // libzmq lets go on its own thread, at the latest when the context ends.
        pair.router.close()
        pair.context.terminate()
        #expect(gone == nil)
    }

    @Test func nobodyThere_isUnroutable() throws {
        let pair = try Pair(.tcp)
        try pair.send([Buffer([1])])
        let message = try pair.receive()
        let monitor = try pair.router.makeMonitor()
        var poller = Poller()
        let token = poller.add(monitor)
        pair.dealer.close()
        let deadline = BootClock.milliseconds() + 60_000
        var event: MonitorEvent?
        while event == nil, BootClock.milliseconds() < deadline {
            if try poller.wait(until: deadline).isReadable(token) { event = try monitor.receive() }
        }
        #expect(event == .disconnected(fileDescriptor: try #require(message.fileDescriptor)))
        // The event comes from libzmq's own thread; the router learns of it while it receives.
        repeat {
            try #require(BootClock.milliseconds() < deadline)
            #expect(try pair.router.receive() == nil)
        } while try pair.router.send(to: message.routingID, frames: [Buffer([2])]) != .unroutable
        monitor.close()
    }

    @Test func aPeerThatDoesNotRead_isFullAfterABoundedNumber() throws {
        let pair = try Pair(.tcp)
        try pair.send([Buffer([1])])
        let id = try pair.receive().routingID
        let large = Buffer([UInt8](repeating: 0, count: 100_000))
        var count = 0
        while try pair.router.send(to: id, frames: [large]) == .sent {
            count += 1
            try #require(count < 10_000, "sends are not bounded")
        }
        #expect(count >= 1000)
        // Everything that was sent arrives, in spite of the refusals.
        for _ in 0..<count { #expect(try pair.answer()[0].count == 100_000) }
    }

    @Test func withoutAConnection_aDealerIsFull() throws {
        let context = try ZMQContext()
        let dealer = try DealerSocket(context: context)
        #expect(try dealer.send([Buffer([1]), Buffer([2])]) == .full)
        dealer.close()
        context.terminate()
    }

    @Test func manyFrames_areNotKept() throws {
        let pair = try Pair(.tcp)
        try pair.send((0..<1000).map { _ in Buffer([1]) })
        let message = try pair.receive()
        #expect(message.frames.count == Limits.messageFrames + 1)
        #expect(throws: WireError.tooManyFrames(3)) { try WirePeerMessage(frames: message.frames) }
        try pair.send([Buffer([9])])
        #expect(try pair.receive().frames.map(Self.bytes) == [[9]])
    }

    @Test func aFrameAboveTheLimit_endsTheConnection() throws {
        let pair = try Pair(.tcp)
        let monitor = try pair.dealer.makeMonitor()
        var poller = Poller()
        _ = poller.add(monitor)
        try pair.send([Buffer([UInt8](repeating: 0, count: Limits.messageBytes + 1))])
        let deadline = BootClock.milliseconds() + 60_000
        var isGone = false
        while !isGone, BootClock.milliseconds() < deadline {
            _ = try poller.wait(until: deadline)
            while let event = try monitor.receive() { if case .disconnected = event { isGone = true } }
        }
        #expect(isGone)
        #expect(try pair.router.receive() == nil)
        monitor.close()
    }

    @Test func aTakenAddress_isNamedWithTheRemedy() throws {
        let pair = try Pair(.tcp)
        let second = try RouterSocket(context: pair.context)
        #expect { try second.bind(pair.endpoint) } throws: {
            "\($0)"
                == "bind \(pair.endpoint) failed: Address already in use; another process listens there: stop it, or choose another endpoint"
        }
        second.close()
    }

    @Test func anAddressOfAnotherHost_isNamedWithTheRemedy() throws {
        let context = try ZMQContext()
        let router = try RouterSocket(context: context)
        #expect { try router.bind(Endpoint("tcp://192.0.2.1:7600")) } throws: { "\($0)".contains("must be an address of this host") }
        #expect { try router.bind(Endpoint("ipc:///nonexistent/dir/s")) } throws: {
            "\($0)".contains("the directory of the socket must exist")
        }
        router.close()
        #expect { try router.receive() } throws: { "\($0)" == "using a closed socket failed: Socket operation on non-socket" }
        context.terminate()
        #expect { try RouterSocket(context: context) } throws: { "\($0)".contains("the ZeroMQ context has been terminated") }
    }

    @Test func ipv6_works() throws {
        let context = try ZMQContext()
        let router = try RouterSocket(context: context)
        let endpoint = try router.bind(Endpoint("tcp://[::1]:0"))
        #expect(endpoint.isLoopback && endpoint.port != 0)
        router.close()
        context.terminate()
    }

    @Test func anIpcPath_isTakenFromADeadProcessOnly() throws {
        let endpoint = try Self.endpoint(.ipc)
        let path = try #require(endpoint.path)
        let context = try ZMQContext()
        let router = try RouterSocket(context: context)

        #expect(FileManager.default.createFile(atPath: path, contents: Data("precious".utf8)))
        #expect { try router.bind(endpoint) } throws: {
            "\($0)" == "bind \(endpoint) failed: the path exists and is not a socket; choose another one"
        }
        #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))
        try FileManager.default.removeItem(atPath: path)

        // A socket that was bound and whose process is gone.
        let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(dead, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        try #require(result == 0)
        Glibc.close(dead)
        #expect(try router.bind(endpoint) == endpoint)

        let second = try RouterSocket(context: context)
        #expect { try second.bind(endpoint) } throws: { "\($0)".contains("another process listens there") }
        second.close()
        router.close()
        context.terminate()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func pollingAClosedSocket_isAnError() throws {
        let context = try ZMQContext()
        let router = try RouterSocket(context: context)
        var poller = Poller()
        let token = poller.add(router)
        router.close()
        #expect { try poller.wait(timeoutMilliseconds: 0) } throws: { "\($0)".hasPrefix("polling a closed socket failed") }
        poller.remove(token)
        #expect(try poller.wait(timeoutMilliseconds: 0).isEmpty)
        context.terminate()
    }
}
