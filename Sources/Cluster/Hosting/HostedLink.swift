import Foundation
import Wire

/// How a hosted session reaches its coordinator.
enum HostedLink: Sendable {
    case network(PeerLink, ZMQContext)
    case memory(any MessageCarrier)

    func enter() {
        switch self {
        case .network(let link, _): link.enter()
        case .memory(let carrier): carrier.enter()
        }
    }

    func send(_ message: WirePeerMessage, _ attachment: Buffer?) {
        switch self {
        case .network(let link, _): link.send(message, attachment: attachment)
        case .memory(let carrier): carrier.send(message, attachment: attachment)
        }
    }

    /// - Parameter goodbye: why it is over, if nothing is left of it.
    func close(goodbye: String?) async {
        switch self {
        case .network(let link, let context):
            await withCheckedContinuation { continuation in
                // Waits for the link's thread: not on a thread of the cooperative pool.
                OSThread.detach(name: "aop-close") {
                    link.close(goodbye: goodbye, flushMilliseconds: 1000)
                    context.terminate()
                    continuation.resume()
                }
            }
        case .memory(let carrier):
            if let goodbye { carrier.send(.with { $0.goodbye.reason = goodbye }, attachment: nil) }
        }
    }
}

extension HostedSession: MemoryPeer {
    package func tell(_ event: PeerLink.Event) { desk.sync { handle(event) } }

    package var deadline: Int64? {
        state.withLock { state in [state.executor.deadline, state.elements.deadline].compactMap(\.self).min() }
    }

    package func tick() {
        desk.sync {
            sendElements()
            step { $0.tick(now: $1, at: $2) }
        }
    }

    package var openCount: Int {
        state.withLock { $0.bodies.count + $0.ending + $0.unclaimed.values.reduce(0) { $0 + $1.count } }
    }

    package var readerCount: Int { desk.sync { streams?.openCount ?? 0 } }

    package var isSending: Bool { desk.sync { state.withLock { $0.elements.isUnderWay } } }

    package var isStopping: Bool { state.withLock { $0.stopping > 0 } }
}
