import Glibc
import Scheduling
import Wire

/// Clients within this process.
extension CoordinatorLoop {
    func receive(_ message: LocalMessage, over link: LocalLink) throws {
        switch message {
        case .opened:
            let peer = Peer(
                id: peers.drawID(), routingID: .none, fileDescriptor: nil, incarnation: 0, host: "this process",
                pid: UInt32(clamping: getpid()), version: ProductVersion.current,
                authority: link.authority, role: .client, local: link, now: now.boot)
            peers.insert(peer)
            locals[ObjectIdentifier(link)] = peer.id
            link.tell(.welcome(welcome(name: peer.host, drop: [])))
        case .message(let frames):
            guard let peer = locals[ObjectIdentifier(link)].flatMap({ peers[$0] }) else { return link.tell(.ended) }
            let wire: WirePeerMessage
            do throws(WireError) { wire = try WirePeerMessage(frames: frames) } catch { return note(.garbage, peer, "\(error)") }
            try receive(wire, frames, fromLocal: peer)
        case .closed:
            guard let peer = locals.removeValue(forKey: ObjectIdentifier(link)).flatMap({ peers[$0] }) else { return }
            forget(peer, "it has closed its connection")
        }
    }

    /// Local clients do what others do when they are told of the end: they go.
    func endLocals() {
        for id in locals.values {
            guard let peer = peers[id] else { continue }
            peers.remove(peer)
            unflushed.remove(id)
            peer.local?.tell(.ended)
        }
        locals = [:]
    }

    /// Puts a message into the peer's hands.
    func transmit(_ frames: [Buffer], to peer: Peer) throws -> SendResult {
        let result: SendResult
        if let local = peer.local {
            local.tell(.message(frames))
            result = .sent
        } else {
            result = try router.send(to: peer.routingID, frames: frames)
            if result == .sent { meter.sent(bytes: frames.reduce(0) { $0 + $1.count }) }
        }
        return result
    }
}
