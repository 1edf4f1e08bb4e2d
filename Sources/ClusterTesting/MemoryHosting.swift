import Cluster
import Foundation
import Wire

/// The connection of what executes in the program.
final class MemoryHosting: MessageCarrier {
    let peer: any MemoryPeer
    private let incarnation: UInt64
    private let carry: @Sendable (MemoryHosting, WirePeerMessage) -> Void

    init(_ peer: any MemoryPeer, incarnation: UInt64, carry: @escaping @Sendable (MemoryHosting, WirePeerMessage) -> Void) {
        (self.peer, self.incarnation, self.carry) = (peer, incarnation, carry)
    }

    func send(_ message: WirePeerMessage, attachment: Buffer?) { carry(self, message) }

    var hello: WireHello {
        .with {
            $0.protocolMajor = ProtocolVersion.major
            $0.role = .executor
            $0.incarnation = incarnation
            $0.host = "memory"
            $0.pid = UInt32(getpid())
            $0.executor = peer.hello()
        }
    }

    func receive(_ message: WireCoordinatorMessage) {
        if case .welcome(let welcome)? = message.body {
            peer.tell(.attached(welcome, sameCoordinator: false))
        } else {
            peer.tell(.message(message, attachment: nil))
        }
    }
}
