import Foundation
import Testing
import Wire

/// Enough of a coordinator for a link: a thread with a ROUTER that answers hellos and heartbeats.
final class FakeCoordinator: Sendable {
    struct Script: Sendable {
        var welcome = WireWelcome.with {
            $0.epoch = 1
            $0.coordinatorIncarnation = 1
            $0.heartbeatMilliseconds = 50
            $0.leaseMilliseconds = 120_000
            $0.orphanLimitMilliseconds = 240_000
        }
        var refusal: WireRefusal?
        /// Answer nothing at all.
        var isMute = false
        var answersHeartbeats = true

        /// Leases that a test waits for, and that a busy machine does not end.
        static var withShortLeases: Script {
            var script = Script()
            script.welcome.leaseMilliseconds = 2_000
            script.welcome.orphanLimitMilliseconds = 3_000
            return script
        }
    }

    private enum Order: Sendable {
        case send(WireCoordinatorMessage, Buffer?)
        case script(Script)
        case raw([Buffer])
        /// Stop reading until the next script.
        case pause
        case stop
    }

    let endpoint: Endpoint
    /// What its peers sent, except for heartbeats.
    let received = EventLog<WirePeerMessage>()
    let heartbeats = EventLog<WireHeartbeat>()
    private let orders: Mailbox<Order>
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter endpoint: nil: a free tcp port.
    init(_ script: Script = Script(), at endpoint: Endpoint? = nil, context: ZMQContext) throws {
        let orders = try Mailbox<Order>()
        self.orders = orders
        let wanted = try endpoint ?? Endpoint("tcp://127.0.0.1:0")
        let bound = EventLog<Result<Endpoint, ZMQError>>()
        let ended = ended, received = received, heartbeats = heartbeats
        Thread {
            defer { ended.signal() }
            do {
                let router = try RouterSocket(context: context)
                defer { router.close(lingerMilliseconds: 200) }
                bound.append(.success(try router.bind(wanted)))
                try Self.serve(router, orders, script, received, heartbeats)
            } catch let error as ZMQError {
                bound.append(.failure(error))
            } catch {
                preconditionFailure("\(error)")
            }
        }.start()
        self.endpoint = try bound.next("the fake coordinator's bind") { $0 }.get()
    }

    func send(_ message: WireCoordinatorMessage, attachment: Buffer? = nil) { orders.post(.send(message, attachment)) }
    func send(raw frames: [Buffer]) { orders.post(.raw(frames)) }
    func pause() { orders.post(.pause) }
    func change(_ script: Script) { orders.post(.script(script)) }

    func stop() {
        orders.post(.stop)
        ended.wait()
    }

    private static func serve(
        _ router: RouterSocket, _ orders: Mailbox<Order>, _ script: Script, _ received: EventLog<WirePeerMessage>,
        _ heartbeats: EventLog<WireHeartbeat>
    ) throws {
        var script = script
        var peer: RoutingID?
        var poller = Poller()
        _ = poller.add(orders)
        var isReading = true
        var token = poller.add(router)
        while true {
            _ = try poller.wait(until: nil)
            while isReading, let message = try router.receive() {
                let id = message.routingID
                let body = try WirePeerMessage(frames: message.frames)
                if case .hello = body.body { peer = id }
                if case .heartbeat(let heartbeat) = body.body { heartbeats.append(heartbeat) } else { received.append(body) }
                guard let answer = answer(to: body, script) else { continue }
                _ = try router.send(to: id, frames: try answer.frames())
            }
            for order in orders.drain() {
                switch order {
                case .send(let message, let attachment):
                    if let peer { _ = try router.send(to: peer, frames: try message.frames(attachment: attachment)) }
                case .raw(let frames):
                    if let peer { _ = try router.send(to: peer, frames: frames) }
                case .script(let changed):
                    script = changed
                    if !isReading { token = poller.add(router) }
                    isReading = true
                case .pause:
                    if isReading { poller.remove(token) }
                    isReading = false
                case .stop: return
                }
            }
        }
    }

    private static func answer(to message: WirePeerMessage, _ script: Script) -> WireCoordinatorMessage? {
        switch message.body {
        case .hello where script.isMute: nil
        case .hello: script.refusal.map { refusal in .with { $0.refusal = refusal } } ?? .with { $0.welcome = script.welcome }
        case .heartbeat(let heartbeat) where script.answersHeartbeats && !script.isMute:
            .with { $0.heartbeatAnswer = .with { $0.sentAt = heartbeat.sentAt } }
        default: nil
        }
    }
}
