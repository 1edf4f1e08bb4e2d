import Scheduling
import Wire

/// The spools are databases in memory: what is in them lives through a crash of the coordinator.
extension MemoryCoordinator: SpoolHost {
    func incarnation(of peer: PeerID) -> UInt64? { nil }

    /// Peers are of this process, and send nothing that they should not.
    func note(_ kind: ProtocolCounters.Kind, of peer: PeerID, _ text: String) {}

    func send(_ message: WireCoordinatorMessage, to peer: PeerID) {
        if isThere(peer) { outbox.append(Delivery(peer: peer.rawValue, content: .message(message))) }
    }

    func append(_ runs: [ElementRun]) { unspooled.runs += runs }

    func append(_ records: [OutputRecord]) { unspooled.records += records }

    /// Puts what has come into the spools, and tells those who wait for it.
    func spool() {
        let (runs, records) = unspooled
        unspooled = ([], [])
        do {
            if !runs.isEmpty { acknowledge(try elements.append(runs)) }
            guard !records.isEmpty else { return }
            try output.append(records)
            noteOutput(of: Set(records.map(\.unit.submission)))
        } catch {
            preconditionFailure("a spool in memory cannot be written: \(error)")
        }
    }

    func read(_ ticket: ElementTicket, _ query: ElementQuery) {
        do { page(ticket, try elements.read(query)) } catch { unreadable(ticket.read, .elements(ticket.unit), "\(error)") }
    }

    func read(_ ticket: OutputTicket, _ query: OutputQuery) {
        do { page(ticket, try output.read(query)) } catch { unreadable(ticket.read, .output(ticket.unit), "\(error)") }
    }
}
