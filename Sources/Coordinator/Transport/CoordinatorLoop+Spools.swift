import Scheduling
import Wire

/// The spools are files, each with a thread of its own.
extension CoordinatorLoop: SpoolHost {
    func isThere(_ peer: PeerID) -> Bool { peers[peer] != nil }

    func incarnation(of peer: PeerID) -> UInt64? { peers[peer]?.incarnation }

    func ask(_ body: Request, _ pending: PendingRequest, of peer: PeerID) {
        if let peer = peers[peer] { ask(body, pending, of: peer) }
    }

    func send(_ message: WireCoordinatorMessage, to peer: PeerID) {
        if let peer = peers[peer] { send(message, to: peer) }
    }

    func note(_ kind: ProtocolCounters.Kind, of peer: PeerID, _ text: String) {
        counters.note(
            kind, from: peers[peer]?.source ?? .unknown, "\(peers[peer]?.place ?? "a peer that is gone"): \(text)", now.boot, logger)
    }

    func earlierLabel(_ unit: UnitID, _ attempt: Attempt) -> AttemptLabels.Label? { scheduler.earlierLabel(unit, attempt) }

    func append(_ runs: [ElementRun]) {
        outputBytesInFlight += runs.reduce(0) { $0 + $1.spooledBytes }
        elements.post(.append(runs))
    }

    func append(_ records: [OutputRecord]) {
        outputBytesInFlight += records.reduce(0) { $0 + $1.spooledBytes }
        output.post(.append(records))
    }

    func read(_ ticket: ElementTicket, _ query: ElementQuery) { elements.post(.read(ticket, query)) }

    func read(_ ticket: OutputTicket, _ query: OutputQuery) { output.post(.read(ticket, query)) }

    /// What the thread of the partial results' spool says.
    func receive(_ event: ElementService.Event) {
        switch event {
        case .stored(let receipts, let bytes):
            outputBytesInFlight -= bytes
            acknowledge(receipts)
        case .full(let submissions):
            // Ends that are on the disk as well; the others are there at the next try.
            if isAllDurable { elements.post(.remove(scheduler.ended(of: submissions))) }
        case .page(let ticket, let page): self.page(ticket, page)
        case .unreadable(let ticket, let reason): unreadable(ticket.read, .elements(ticket.unit), reason)
        }
    }

    /// What the thread of the output's spool says.
    func receive(_ event: OutputService.Event) {
        switch event {
        case .taken(let bytes): outputBytesInFlight -= bytes
        case .stored(let submissions, let receipts):
            noteOutput(of: submissions)
            acknowledge(receipts)
        case .page(let ticket, let page): self.page(ticket, page)
        case .unreadable(let ticket, let reason): unreadable(ticket.read, .output(ticket.unit), reason)
        }
    }
}
