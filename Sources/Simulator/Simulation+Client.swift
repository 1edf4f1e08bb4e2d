import Coordinator
import Scheduling
import Wire

/// The client's side of the coordinator.
extension Simulation {
    /// On one connection what is asked first comes first.
    func ask(_ request: ClientRequest) {
        lastFromClient = max(lastFromClient, now + 1 + random.below(Int64(3)))
        put(.client(.asks(request, start: start)), at: lastFromClient)
    }

    func ask(_ request: WireRequest) {
        lastFromClient = max(lastFromClient, now + 1 + random.below(Int64(3)))
        put(.client(.asksToRead(request, start: start)), at: lastFromClient)
    }

    func happen(_ event: ClientEvent) {
        switch event {
        case .asks(let request, let start):
            guard let coordinator, let clientPeer, start == self.start else { return }
            clientRequests[coordinator.ask(request.body, of: clientPeer)] = request
            wake()
        case .answered(let request, let reply, let start): if start == self.start { client.answered(request, reply) }
        case .asksToRead(let request, let start):
            guard let coordinator, let clientPeer, start == self.start else { return }
            deliver(coordinator.receive(.with { $0.request = altered(request, from: clientPeer) }, from: clientPeer, at: instant))
            wake()
        case .reads(let response, let start): if start == self.start { client.receive(response) }
        case .beginsToRead(let id): client.beginToRead(id)
        case .hears(let events, let start): if start == self.start { client.hears(events) }
        case .connects:
            guard let coordinator else { return put(.client(.connects), at: now + 200) }
            clientPeer = coordinator.connect()
            client.connected()
        case .lost(let start):
            guard start == self.start || coordinator == nil || clientPeer == nil else { return }
            if !client.isConnected { return }
            client.disconnected()
            put(.client(.connects), at: now + random.below(Int64(500)))
        case .acts:
            if let index = client.submissions.indices.first(where: { !submitted.contains($0) }) {
                submitted.insert(index)
                client.submit(index)
            } else {
                client.meddle()
            }
        case .settles:
            client.settle()
            put(.client(.settles), at: now + 5_000)
        }
    }
}
