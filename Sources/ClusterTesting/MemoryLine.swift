import Cluster
import Wire

/// The line of a program's connection to a cluster in memory. The connection owns it, and it the cluster: that stops when nobody
/// can ask anything of it any more.
final class MemoryLine: MemoryCarrier {
    private let hub: MemoryHub

    init(to hub: MemoryHub) { self.hub = hub }

    deinit { hub.stop() }

    func enter() { hub.enter() }
    func send(_ message: WirePeerMessage, attachment: Buffer?) { hub.send(message) }

    var readings: (boot: Int64, wall: Int64) { hub.readings }
    func lookAgain() { hub.lookAgain() }
    func attach(_ peer: any MemoryPeer, incarnation: UInt64) -> any MessageCarrier { hub.attach(peer, incarnation: incarnation) }
}
