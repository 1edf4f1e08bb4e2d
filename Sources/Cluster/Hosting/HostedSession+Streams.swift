import AOperation
import Executing
import Foundation
import Wire

/// What hosted operations send while they execute, and what they receive of that of others: as on a worker, by the coordinator's spool.
extension HostedSession {
    /// To be called before the operation executes.
    /// - Returns: to be called when its body has ended.
    func connectStreams(
        of operation: AOperation, _ key: UnitKey, _ assignment: WireAssignment, _ mirrors: Mirrors
    ) -> @Sendable () -> Void {
        let endsSending = relayElements(of: operation, key)
        let endsReading = openStream(for: operation, assignment, mirrors)
        return {
            endsSending?()
            endsReading?()
        }
    }

    private func relayElements(of operation: AOperation, _ key: UnitKey) -> (@Sendable () -> Void)? {
        guard let sender = operation as? any PartialResultOperation, type(of: sender).canSendElsewhere else { return nil }
        let relay = ElementRelay(name: operation.errorName, host: HostName.current) { [weak self] event in
            guard let self else { return }
            desk.async { self.receive(event, of: key) }
        }
        let relaying = sender.relayPartialResults { await relay.pass($0) }
        state.withLock { $0.elements.open(key, relay.gate, sent: relaying.sentCount) }
        return relaying.close
    }

    private func openStream(
        for operation: AOperation, _ assignment: WireAssignment, _ mirrors: Mirrors
    ) -> (@Sendable () -> Void)? {
        guard assignment.hasStream, let receiver = operation as? any StreamReceiver, let streams else { return nil }
        let path = assignment.stream.path
        // As the program knows it.
        let open = streams.opener(error: { failure in mirrors.graph.error(failure, of: mirrors.graph.places[path] ?? 0) }) {
            [desk] job in desk.async(execute: job)
        }
        return receiver.receive(streamOf: mirrors.graph.member(at: path)?.operation?.errorName ?? path) { open(assignment) }
    }

    private func receive(_ event: ElementRelay.Event, of key: UnitKey) {
        state.withLock { $0.elements.receive(event, of: key) }
        // Its outcome is known: it cannot send what it wants to.
        if case .failed = event { stopBody(key) }
        sendElements()
    }

    func sendElements() {
        let now = readings.boot
        for batch in state.withLock({ $0.elements.take(now: now) }) { send(.with { $0.elements = batch }) }
    }

    func receive(_ receipts: [WireElementReceipt]) {
        let now = readings.boot
        for end in state.withLock({ $0.elements.receive(receipts, now: now) }) { report(end) }
        armTimer()
    }

    /// What it has produced is on the coordinator's disk; its elements may not be.
    func admit(_ report: WireUnitReport) {
        if let end = state.withLock({ $0.elements.admit(report) }) { self.report(end) }
    }

    func report(_ report: WireUnitReport) { send(.with { $0.reports.reports = [report] }) }
}
