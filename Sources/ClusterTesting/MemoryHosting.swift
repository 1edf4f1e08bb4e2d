import Cluster
import Foundation
import Synchronization
import Wire

/// The connection of what executes in the program, which owns it: that keeps the cluster, and is not kept by it.
final class MemoryHosting: MessageCarrier {
    private struct Held {
        weak var peer: (any MemoryPeer)?
    }

    private let held: Mutex<Held>
    private let incarnation: UInt64
    private let life: @Sendable () -> UInt64
    private let carry: @Sendable (MemoryHosting, WirePeerMessage, _ life: UInt64) -> Void
    private let entered = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - life: which life of the coordinator this is.
    ///   - carry: is given a message, and the life of the coordinator that it is meant for.
    init(
        _ peer: any MemoryPeer, incarnation: UInt64, life: @escaping @Sendable () -> UInt64,
        carry: @escaping @Sendable (MemoryHosting, WirePeerMessage, _ life: UInt64) -> Void
    ) {
        held = Mutex(Held(peer: peer))
        (self.incarnation, self.life, self.carry) = (incarnation, life, carry)
    }

    /// Nil: the program has let go of it.
    var peer: (any MemoryPeer)? { held.withLock { $0.peer } }

    func enter() { entered.store(life(), ordering: .releasing) }

    func send(_ message: WirePeerMessage, attachment: Buffer?) { carry(self, message, entered.load(ordering: .acquiring)) }

    /// Nil: there is nobody to say it.
    var hello: WireHello? {
        guard let executor = peer?.hello() else { return nil }
        return .with {
            $0.protocolMajor = ProtocolVersion.major
            $0.role = .executor
            $0.incarnation = incarnation
            $0.host = "memory"
            $0.pid = UInt32(getpid())
            $0.executor = executor
        }
    }

    func receive(_ message: WireCoordinatorMessage) {
        if case .welcome(let welcome)? = message.body {
            peer?.tell(.attached(welcome, sameCoordinator: false))
        } else {
            peer?.tell(.message(message, attachment: nil))
        }
    }
}
