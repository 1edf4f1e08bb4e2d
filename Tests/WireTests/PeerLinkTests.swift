import Foundation
import Synchronization
import Testing
import Wire

@Suite(.serialized) struct PeerLinkTests {
    let context: ZMQContext
    let events = EventLog<PeerLink.Event>()

    init() throws { context = try ZMQContext() }

    func link(_ endpoint: Endpoint, _ change: (inout PeerLink.Configuration) -> Void = { _ in }) -> PeerLink {
        var configuration = PeerLink.Configuration(endpoint: endpoint, role: .client, cookie: [1, 2, 3], incarnation: 99)
        change(&configuration)
        return PeerLink(configuration, context: context) { [events] in events.append($0) }
    }

    func attached(_ what: String = "attached") throws -> (WireWelcome, Bool) {
        try events.next(what) { event in
            guard case .attached(let welcome, let same) = event else { return nil }
            return (welcome, same)
        }
    }

    func detached() throws -> String {
        try events.next("detached") { event in
            guard case .detached(let reason, _) = event else { return nil }
            return reason
        }
    }

    func hello(_ coordinator: FakeCoordinator) throws -> WireHello {
        try coordinator.received.next("hello") { message in
            guard case .hello(let hello) = message.body else { return nil }
            return hello
        }
    }

    @Test(arguments: SocketTests.Transport.allCases) func attaches_exchangesMessages_andSaysGoodbye(transport: SocketTests.Transport) throws
    {
        let coordinator = try FakeCoordinator(at: SocketTests.endpoint(transport), context: context)
        let link = link(coordinator.endpoint) { $0.capabilities = ["x"] }
        link.send(.with { $0.request = .with { $0.id = 1 } })  // nobody there: dropped
        try link.start()
        let (welcome, same) = try attached()
        link.enter()
        #expect(welcome.epoch == 1 && !same && link.isAttached)
        let hello = try hello(coordinator)
        #expect(hello.protocolMajor == 1 && hello.productVersion == ProductVersion.current && hello.role == .client)
        #expect(
            hello.cookie == Data([1, 2, 3]) && hello.incarnation == 99 && hello.host == HostName.current && hello.pid == UInt32(getpid()))
        #expect(hello.capabilities == ["x"] && hello.lastCoordinatorIncarnation == 0 && !hello.hasExecutor)

        for id in 2...1001 { link.send(.with { $0.request = .with { $0.id = UInt64(id) } }) }
        for id in 2...1001 {
            let received = try coordinator.received.next("request \(id)") { message -> UInt64? in
                guard case .request(let request) = message.body else { return nil }
                return request.id
            }
            #expect(received == UInt64(id))
        }
        let bytes = Buffer([UInt8](repeating: 5, count: 100_000))
        coordinator.send(.with { $0.blobChunk = .with { $0.size = 100_000 } }, attachment: bytes)
        let attachment = try events.next("chunk") { event -> Buffer? in
            guard case .message(_, let attachment) = event else { return nil }
            return attachment
        }
        #expect(attachment.data == bytes.data)

        link.close(goodbye: "done", flushMilliseconds: 2000)
        #expect(!link.isAttached)
        let reason = try coordinator.received.next("goodbye") { message -> String? in
            guard case .goodbye(let goodbye) = message.body else { return nil }
            return goodbye.reason
        }
        #expect(reason == "done")
        link.close()
        coordinator.stop()
        context.terminate()
    }

    /// A host has so many threads and processes for a user.
    @Test func withoutAThread_itSaysSo_andNobodyWaitsForIt() throws {
        var configuration = PeerLink.Configuration(endpoint: try Endpoint("tcp://127.0.0.1:1"), role: .client, incarnation: 1)
        configuration.stackBytes = 1 << 50
        let link = PeerLink(configuration, context: try ZMQContext()) { _ in Issue.record("it has no thread to tell anything on") }
        let error = #expect(throws: ThreadError.self) { try link.start() }
        #expect(error?.description.contains("ulimit -u") == true)
        link.close()
        #expect(!link.isAttached)
    }

    @Test func detaches_whenTheCoordinatorEnds_andReattachesWithAFreshHello() throws {
        let counter = Counter()
        let first = try FakeCoordinator(context: context)
        let link = link(first.endpoint) { configuration in
            configuration.role = .executor
            configuration.executorHello = { .with { $0.slots = counter.next() } }
        }
        try link.start()
        _ = try attached()
        #expect(try hello(first).executor.slots == 1)
        let endpoint = first.endpoint
        first.stop()
        #expect(try detached().contains("closed by the other side"))
        #expect(!link.isAttached)
        // Nobody listens: told at every attempt.
        #expect(try detached().contains("nobody listens there"))
        #expect(try detached().contains("nobody listens there"))

        var script = FakeCoordinator.Script()
        script.welcome.coordinatorIncarnation = 2
        let second = try FakeCoordinator(script, at: endpoint, context: context)
        let (welcome, same) = try attached("attached again")
        #expect(welcome.coordinatorIncarnation == 2 && !same)
        let hello = try hello(second)
        #expect(hello.executor.slots > 1 && hello.lastCoordinatorIncarnation == 1)

        second.send(.with { $0.helloWanted = .init() })
        #expect(try detached().contains("does not know this connection"))
        #expect(try attached("attached a third time").1)
        link.close()
        second.stop()
        context.terminate()
    }

    /// What goes on from what was said in the session before must not be the first thing that the next one hears.
    @Test func whatIsSentBeforeASessionIsEntered_isDropped() throws {
        let first = try FakeCoordinator(context: context)
        let endpoint = first.endpoint
        let link = link(endpoint)
        try link.start()
        _ = try attached()
        #expect(try sendAndEnter(link, first, ids: 1, 2) == 2)
        first.stop()
        _ = try detached()
        let second = try FakeCoordinator(at: endpoint, context: context)
        _ = try attached("attached again")
        #expect(try sendAndEnter(link, second, ids: 3, 4) == 4)
        link.close()
        second.stop()
        context.terminate()
    }

    /// A tunnel takes connections also while there is nobody behind it.
    @Test func aCoordinatorThatIsAwayBehindATunnel_isWaitedFor() throws {
        let first = try FakeCoordinator(context: context)
        let endpoint = first.endpoint
        let link = link(endpoint)
        try link.start()
        _ = try attached()
        first.stop()
        _ = try detached()
        do {
            let tunnel = try ClosingListener(at: endpoint)
            for _ in 0..<6 { tunnel.closeNext() }
        }
        let second = try FakeCoordinator(at: endpoint, context: context)
        _ = try attached("attached again")
        #expect(!events.all.contains { if case .denied = $0 { true } else { false } })
        link.close()
        second.stop()
        context.terminate()
    }

    /// - Returns: the id that arrives first.
    private func sendAndEnter(_ link: PeerLink, _ coordinator: FakeCoordinator, ids before: UInt64, _ after: UInt64) throws -> UInt64 {
        #expect(!link.isAttached)
        link.send(.with { $0.request.id = before })
        link.enter()
        #expect(link.isAttached)
        link.send(.with { $0.request.id = after })
        return try coordinator.received.next("a request") { message -> UInt64? in
            guard case .request(let request) = message.body else { return nil }
            return request.id
        }
    }

    @Test func anIpcCoordinatorThatIsNotThere_isToldAtOnce() throws {
        let link = link(try SocketTests.endpoint(.ipc))
        try link.start()
        for _ in 0..<3 { #expect(try detached().contains("nobody listens there")) }
        link.close(goodbye: "never said", flushMilliseconds: 60_000)
        context.terminate()
    }

    @Test func aRefusal_isFinal() throws {
        var script = FakeCoordinator.Script()
        script.refusal = .with {
            $0.code = .version; $0.message = "protocol 1 is not 2: upgrade"
        }
        let coordinator = try FakeCoordinator(script, context: context)
        let link = link(coordinator.endpoint)
        try link.start()
        let refusal = try events.next("refused") { event -> WireRefusal? in
            guard case .refused(let refusal) = event else { return nil }
            return refusal
        }
        #expect(refusal.code == .version && refusal.message == "protocol 1 is not 2: upgrade")
        link.close()
        #expect(events.all.count == 1)
        coordinator.stop()
        context.terminate()
    }

    @Test func whoIsNotWelcomed_isDetachedAndTriesAgain() throws {
        var script = FakeCoordinator.Script()
        script.isMute = true
        let coordinator = try FakeCoordinator(script, context: context)
        let link = link(coordinator.endpoint)
        try link.start()
        #expect(try detached().contains("not welcomed within 2000 ms"))
        coordinator.change(FakeCoordinator.Script())
        _ = try attached()
        link.close()
        coordinator.stop()
        context.terminate()
    }

    @Test func heartbeats_keepTheLease_andTheirLossEndsIt() throws {
        let coordinator = try FakeCoordinator(.withShortLeases, context: context)
        let link = link(coordinator.endpoint) {
            $0.heartbeat = {
                .with {
                    $0.running = 3; $0.accepting = true
                }
            }
        }
        try link.start()
        _ = try attached()
        // 45 intervals of 50 ms are longer than the lease of 2 s.
        for _ in 0..<45 {
            let heartbeat = try coordinator.heartbeats.next("heartbeat") { $0 }
            #expect(heartbeat.running == 3 && heartbeat.accepting && heartbeat.sentAt > 0)
        }
        #expect(!events.all.contains { if case .leaseOver = $0 { true } else { false } })
        coordinator.stop()
        try events.next("leaseOver") { if case .leaseOver = $0 { () } else { nil } }
        try events.next("orphanLimitOver") { if case .orphanLimitOver = $0 { () } else { nil } }
        link.close()
        #expect(events.all.filter { if case .leaseOver = $0 { true } else { false } }.count == 1)
        context.terminate()
    }

    @Test func aPeerThatHangs_fallsSilent_andSaysHelloAgainWhenItGoesOn() throws {
        let coordinator = try FakeCoordinator(.withShortLeases, context: context)
        let gate = Gate()
        let link = link(coordinator.endpoint) {
            $0.heartbeat = {
                gate.pass(); return WireHeartbeat()
            }
        }
        try link.start()
        _ = try attached()
        _ = try coordinator.heartbeats.next("heartbeat") { $0 }
        gate.close()
        try events.next("leaseOver") { if case .leaseOver = $0 { () } else { nil } }
        _ = try detached()
        #expect(gate.waiting <= 1)
        gate.open()
        #expect(try attached("attached after the hang").1)
        link.close()
        coordinator.stop()
        context.terminate()
    }

    @Test func garbage_endsTheSession_andUnknownMessagesDoNot() throws {
        let coordinator = try FakeCoordinator(context: context)
        let link = link(coordinator.endpoint)
        try link.start()
        _ = try attached()
        coordinator.send(raw: [Buffer([0x9a, 0x06, 0x00])])
        coordinator.send(.with { $0.stop = .init() })
        try events.next("stop") { event -> Void? in
            guard case .message(let message, _) = event, case .stop = message.body else { return nil }
            return ()
        }
        coordinator.send(raw: [Buffer([0xff, 0xff])])
        #expect(try detached().contains("the coordinator sent a message that is not of the aop protocol"))
        _ = try attached("attached after garbage")
        link.close()
        coordinator.stop()
        context.terminate()
    }

    @Test func aMessageTooLarge_isSaid() throws {
        let coordinator = try FakeCoordinator(context: context)
        let link = link(coordinator.endpoint)
        try link.start()
        _ = try attached()
        link.enter()
        link.send(.with { $0.request = .with { $0.submit = .with { $0.key = String(repeating: "k", count: Limits.messageBytes) } } })
        #expect(try detached().contains("larger than Limits.messageBytes"))
        _ = try attached("attached again")
        link.close()
        coordinator.stop()
        context.terminate()
    }

    @Test func farewell_isToldBeforeDetached() throws {
        let coordinator = try FakeCoordinator(context: context)
        let link = link(coordinator.endpoint)
        try link.start()
        _ = try attached()
        coordinator.send(.with { $0.farewell = .with { $0.reason = "maintenance" } })
        try events.next("farewell") { if case .farewell("maintenance") = $0 { () } else { nil } }
        #expect(try detached().hasSuffix("the coordinator has stopped: maintenance"))
        link.close()
        coordinator.stop()
        context.terminate()
    }

    @Test func close_sendsWhatWaits() throws {
        let coordinator = try FakeCoordinator(context: context)
        let link = link(coordinator.endpoint)
        try link.start()
        _ = try attached()
        link.enter()
        let chunk = Buffer([UInt8](repeating: 1, count: Limits.blobChunkBytes))
        let count = 150  // 37 MiB: more than the sockets take at once
        for _ in 0..<count { link.send(.with { $0.blobChunk = .with { $0.size = 1 } }, attachment: chunk) }
        link.close(goodbye: "end", flushMilliseconds: 20_000)
        var chunks = 0
        try coordinator.received.next("goodbye") { message -> Void? in
            if case .blobChunk = message.body { chunks += 1 }
            if case .goodbye = message.body { return () }
            return nil
        }
        #expect(chunks == count)
        coordinator.stop()
        context.terminate()
    }

    @Test func aCoordinatorThatDoesNotRead_costsABoundedOutbox() throws {
        let script = FakeCoordinator.Script()
        let coordinator = try FakeCoordinator(script, context: context)
        let link = link(coordinator.endpoint)
        try link.start()
        _ = try attached()
        link.enter()
        coordinator.pause()
        let chunk = Buffer([UInt8](repeating: 1, count: 40_000))
        // 1000 fit the link's socket, 1000 the coordinator's, some the system's buffers, and 1672 the outbox.
        for _ in 0..<6000 { link.send(.with { $0.blobChunk = .with { $0.size = 1 } }, attachment: chunk) }
        #expect(try detached().hasSuffix("bytes wait for a coordinator that does not read (Limits.outboxBytes)"))
        coordinator.change(script)
        _ = try attached("attached again")
        link.close()
        coordinator.stop()
        context.terminate()
    }

    @Test func close_fromTheHandler_orBeforeTheStart_doesNotHang() throws {
        let idle = link(.standard)
        idle.close(goodbye: "x", flushMilliseconds: 10_000)
        try idle.start()
        idle.close()

        let coordinator = try FakeCoordinator(context: context)
        let box = LinkBox()
        let done = EventLog<Bool>()
        let link = PeerLink(.init(endpoint: coordinator.endpoint, role: .supervisor, incarnation: 1), context: context) { event in
            guard case .attached = event else { return }
            box.close()
            done.append(true)
        }
        box.set(link)
        try link.start()
        _ = try done.next("the handler") { $0 }
        link.close()
        coordinator.stop()
        context.terminate()
    }

    @Test func aLinkThatIsLetGo_ends() throws {
        let coordinator = try FakeCoordinator(context: context)
        do {
            let link = link(coordinator.endpoint)
            try link.start()
            _ = try attached()
        }
        coordinator.stop()
        // Returns only when the link's socket is closed.
        context.terminate()
    }

    final class Counter: Sendable {
        private let value = Atomic<UInt32>(0)
        func next() -> UInt32 { value.add(1, ordering: .relaxed).newValue }
    }

    final class LinkBox: Sendable {
        private let link = Mutex<PeerLink?>(nil)
        func set(_ link: PeerLink) { self.link.withLock { $0 = link } }
        func close() { link.withLock { $0 }?.close(goodbye: "from the handler") }
    }

    /// Lets threads pass while it is open.
    final class Gate: @unchecked Sendable {
        // Invariant: the fields are used only while `condition` is locked.
        private let condition = NSCondition()
        private var isOpen = true
        private var waiters = 0

        func pass() {
            condition.lock()
            waiters += 1
            while !isOpen { condition.wait() }
            waiters -= 1
            condition.unlock()
        }
        func close() { set(false) }
        func open() { set(true) }
        var waiting: Int {
            condition.lock()
            defer { condition.unlock() }
            return waiters
        }
        private func set(_ value: Bool) {
            condition.lock()
            isOpen = value
            condition.broadcast()
            condition.unlock()
        }
    }
}
