import Foundation
import Synchronization
import Wire

/// The coordinator's side of the protocol, as far as a worker's tests need it: welcomes whoever comes, answers
/// heartbeats, keeps what is said, and says what it is told to.
final class FakeCoordinator: Sendable {
    struct Peer: Sendable {
        let id: RoutingID
        let hello: WireHello
    }

    private struct State {
        var peers: [Peer] = []
        var messages: [(from: WireHello, message: WirePeerMessage, attachment: Buffer?)] = []
        var isClosed = false
        /// Neither welcomes nor answers heartbeats.
        var isSilent = false
        /// What whoever says hello hears.
        var refusal: WireRefusal?
        var refusedCount = 0
    }

    private enum Command: Sendable {
        case send(RoutingID, WireCoordinatorMessage, Buffer?)
        case close
    }

    let endpoint: Endpoint
    private let state = Mutex(State())
    private let commands: Mailbox<Command>
    private let done = DispatchSemaphore(value: 0)

    init() throws {
        let commands = try Mailbox<Command>()
        self.commands = commands
        let ready = DispatchSemaphore(value: 0)
        let bound = Mutex<Result<Endpoint, any Error>?>(nil)
        // `self` is not complete before the endpoint is known.
        let loop = Mutex<(@Sendable (RouterSocket) -> Void)?>(nil)
        let start = DispatchSemaphore(value: 0)
        let box = Box(bound, loop)
        OwnedThread.start {
            do {
                let context = try ZMQContext()
                let socket = try RouterSocket(context: context)
                let endpoint = try socket.bind(try Endpoint("tcp://127.0.0.1:0"))
                box.bound.withLock { $0 = .success(endpoint) }
                ready.signal()
                start.wait()
                box.loop.withLock { $0 }?(socket)
                socket.close()
                context.terminate()
            } catch {
                box.bound.withLock { $0 = .failure(error) }
                ready.signal()
            }
        }
        ready.wait()
        guard let result = box.bound.withLock({ $0 }) else { throw Failure.notBound }
        endpoint = try result.get()
        box.loop.withLock {
            $0 = { [weak self, done] socket in
                // Ends with `close`, which every test calls through `deinit`.
                Self.run(socket, commands: commands) { [weak self] from, message, attachment, send in
                    self?.take(from, message, attachment, send)
                }
                done.signal()
            }
        }
        start.signal()
    }

    deinit { commands.post(.close) }

    enum Failure: Error { case notBound, missing(String) }

    private final class Box: Sendable {
        let bound: Mutex<Result<Endpoint, any Error>?>
        let loop: Mutex<(@Sendable (RouterSocket) -> Void)?>
        init(_ bound: consuming Mutex<Result<Endpoint, any Error>?>, _ loop: consuming Mutex<(@Sendable (RouterSocket) -> Void)?>) {
            self.bound = bound
            self.loop = loop
        }
    }

    private enum OwnedThread {
        static func start(_ body: @escaping @Sendable () -> Void) {
            let thread = Thread(block: body)
            thread.stackSize = Limits.decodingStackBytes
            thread.start()
        }
    }

    private static func run(
        _ socket: RouterSocket, commands: Mailbox<Command>,
        take: (RoutingID, WirePeerMessage, Buffer?, (RoutingID, WireCoordinatorMessage) -> Void) -> Void
    ) {
        func send(_ peer: RoutingID, _ message: WireCoordinatorMessage, _ attachment: Buffer? = nil) {
            guard let frames = try? message.frames(attachment: attachment) else { return }
            _ = try? socket.send(to: peer, frames: frames)
        }
        var poller = Poller()
        _ = poller.add(socket)
        _ = poller.add(commands)
        while true {
            _ = try? poller.wait(timeoutMilliseconds: 1000)
            for command in commands.drain() {
                switch command {
                case .send(let peer, let message, let attachment): send(peer, message, attachment)
                case .close: return
                }
            }
            while let message = try? socket.receive() {
                guard let decoded = try? WirePeerMessage(frames: message.frames) else { continue }
                take(message.routingID, decoded, message.frames.count == 2 ? message.frames[1] : nil) { send($0, $1) }
            }
        }
    }

    private func take(
        _ from: RoutingID, _ message: WirePeerMessage, _ attachment: Buffer?, _ send: (RoutingID, WireCoordinatorMessage) -> Void
    ) {
        let (isSilent, refusal) = state.withLock { ($0.isSilent, $0.refusal) }
        switch message.body {
        case .hello? where isSilent, .heartbeat? where isSilent: break
        case .hello? where refusal != nil:
            send(from, .with { $0.refusal = refusal ?? WireRefusal() })
            state.withLock { $0.refusedCount += 1 }
        case .hello(let hello)?:
            state.withLock { $0.peers.append(Peer(id: from, hello: hello)) }
            send(
                from,
                .with {
                    $0.welcome = .with {
                        $0.epoch = 1
                        $0.coordinatorIncarnation = 99
                        $0.name = "fake/\(hello.executor.index)"
                        $0.heartbeatMilliseconds = 200
                        $0.leaseMilliseconds = 3000
                        $0.lockLeaseMilliseconds = 4000
                        $0.orphanLimitMilliseconds = 600_000
                    }
                })
        case .heartbeat(let heartbeat)?:
            send(from, .with { $0.heartbeatAnswer = .with { $0.sentAt = heartbeat.sentAt } })
        default:
            state.withLock { state in
                guard let hello = state.peers.last(where: { $0.id == from })?.hello else { return }
                state.messages.append((hello, message, attachment))
            }
        }
    }

    // MARK: For tests

    var executors: [Peer] { state.withLock { $0.peers.filter { $0.hello.role == .executor } } }
    var supervisors: [Peer] { state.withLock { $0.peers.filter { $0.hello.role == .supervisor } } }

    func fallSilent() { state.withLock { $0.isSilent = true } }
    func speakAgain() { state.withLock { $0.isSilent = false } }

    /// From now on it refuses every hello like this; nil: it welcomes again.
    func refuse(_ code: WireRefusal.Code?) {
        state.withLock { state in
            state.refusal = code.map { code in
                .with {
                    $0.code = code
                    $0.message = "no"
                }
            }
        }
    }

    var refusedCount: Int { state.withLock { $0.refusedCount } }

    /// Forgets everybody who is connected, as a coordinator that was started anew.
    func forgetPeers() {
        let peers = state.withLock { state in
            defer { state.peers = [] }
            return state.peers
        }
        for peer in peers { send(to: peer, .with { $0.helloWanted = .init() }) }
    }

    func send(to peer: Peer, attachment: Buffer? = nil, _ message: WireCoordinatorMessage) {
        commands.post(.send(peer.id, message, attachment))
    }

    /// Waits for the n-th executor that says hello.
    func executor(_ number: Int = 0) async throws -> Peer {
        guard try await eventually({ self.executors.count > number }) else { throw Failure.missing("executor \(number)") }
        return executors[number]
    }

    var reports: [WireUnitReport] {
        state.withLock { $0.messages.flatMap { $0.message.reports.reports } }
    }

    func end(of unit: UInt64) async throws -> WireAttemptEnd {
        let find: @Sendable () -> WireAttemptEnd? = { [self] in
            for report in reports where report.unit == unit { if case .ended(let end)? = report.body { return end } }
            return nil
        }
        guard try await eventually({ find() != nil }), let end = find() else { throw Failure.missing("end of \(unit)") }
        return end
    }

    var ended: [WireExecutorEnded] {
        state.withLock { $0.messages.compactMap { if case .executorEnded(let ended)? = $0.message.body { ended } else { nil } } }
    }

    var chunks: [(WireBlobChunk, Buffer?)] {
        state.withLock {
            $0.messages.compactMap { if case .blobChunk(let chunk)? = $0.message.body { (chunk, $0.attachment) } else { nil } }
        }
    }

    var blobRequests: [WireBlobRequest] {
        state.withLock { $0.messages.compactMap { if case .blobRequest(let request)? = $0.message.body { request } else { nil } } }
    }

    var output: [WireOutputChunk] { state.withLock { $0.messages.flatMap { $0.message.output.chunks } } }
}

extension WireAssignment {
    static func shell(_ unit: UInt64, _ line: String, _ change: (inout WireAssignment) -> Void = { _ in }) -> Self {
        .with {
            $0.unit = unit
            $0.attempt = 1 << 32 | unit
            $0.submission = "s"
            $0.path = "n\(unit)"
            $0.attemptNumber = 1
            $0.operation = "shell"
            $0.version = 1
            $0.parameters = (try? JSONEncoder().encode(["run": line])) ?? Data()
            change(&$0)
        }
    }
}

extension FakeCoordinator {
    func dispatch(_ assignments: [WireAssignment], to peer: Peer) {
        send(to: peer, .with { $0.dispatch = .with { $0.assignments = assignments } })
    }
}
