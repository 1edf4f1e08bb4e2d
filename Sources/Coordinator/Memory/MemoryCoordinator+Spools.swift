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

    func earlierLabel(_ unit: UnitID, _ attempt: Attempt) -> AttemptLabels.Label? { scheduler.earlierLabel(unit, attempt) }

    func append(_ runs: [ElementRun]) {
        unspooled.runs += runs
        guard acknowledgesUnspooled else { return }
        acknowledge(
            runs.map { run in
                ElementReceipt(
                    peer: run.peer, unit: run.unit, attempt: run.attempt, next: run.elements.last.map { $0.index + 1 } ?? run.first,
                    isClosed: run.isClosed)
            })
    }

    func append(_ records: [OutputRecord]) { unspooled.records += records }

    /// Puts what has come into the spools, and tells those who wait for it.
    func spool() {
        let (runs, records) = unspooled
        unspooled = ([], [])
        do {
            if !runs.isEmpty {
                let receipts = try spools.elements { try $0.append(runs) }
                acknowledge(receipts)
                if receipts.contains(where: { $0.full != nil }), isAllDurable {
                    try spools.elements { try $0.remove(scheduler.ended(of: $0.submissions)) }
                }
            }
            guard !records.isEmpty else { return }
            acknowledge(OutputReceipt.receipts(for: records, try spools.output { try $0.append(records) }))
            noteOutput(of: Set(records.map(\.unit.submission)))
        } catch {
            preconditionFailure("a spool in memory cannot be written: \(error)")
        }
    }

    func read(_ ticket: ElementTicket, _ query: ElementQuery) {
        do { page(ticket, try spools.elements { try $0.read(query) }) } catch {
            unreadable(ticket.read, .elements(ticket.unit), "\(error)")
        }
    }

    func read(_ ticket: OutputTicket, _ query: OutputQuery) {
        do { page(ticket, try spools.output { try $0.read(query) }) } catch { unreadable(ticket.read, .output(ticket.unit), "\(error)") }
    }
}

/// For simulations, in which what comes into the spools takes its time.
extension MemoryCoordinator {
    /// Whether something is on its way into the spools.
    package var hasUnspooled: Bool { !unspooled.runs.isEmpty || !unspooled.records.isEmpty }

    /// What was on its way into the spools is there. Returns what is answered to that.
    package func finishSpooling() -> [Delivery] {
        spool()
        return release()
    }

    /// Readers that have waited long enough look once more, and are answered.
    package func answerLongWaits(at now: Instant) {
        self.now = now
        expireWaits()
    }

    /// How much the spool of partial results takes, and may take.
    package var spooledBytes: Int64 { spools.elementsBytes }
    package var spooledBytesMax: Int64 {
        get { spools.elementsBytesMax }
        set { spools.elementsBytesMax = newValue }
    }
}
