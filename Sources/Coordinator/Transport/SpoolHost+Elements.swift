import Scheduling
import Wire

/// Partial results, from executors to the spool.
extension SpoolHost {
    func receive(_ batch: WireElementBatch, from peer: PeerID) {
        var runs: [ElementRun] = []
        for run in batch.runs {
            let unit = UnitID(rawValue: run.unit)
            let attempt = Attempt(rawValue: run.attempt)
            guard let label = labels.label(unit, attempt, of: incarnation(of: peer)) else {
                note(.strayOutput, of: peer, "partial results of an attempt that it does not hold")
                continue
            }
            let elements = run.elements.compactMap(ElementRun.Element.init(wire:))
            guard elements.count == run.elements.count, run.first < CoordinatorLimits.outputIndices else {
                note(.violation, of: peer, "a partial result that is too large, or has no index")
                continue
            }
            runs.append(
                ElementRun(
                    peer: peer, unit: unit, attempt: attempt, number: label.number, first: run.first, elements: elements,
                    isClosed: run.closed))
        }
        guard !runs.isEmpty else { return }
        append(runs)
    }

    /// Runs are in the spool, or there was no room for them.
    func acknowledge(_ receipts: [ElementReceipt]) {
        var byPeer: [PeerID: [ElementReceipt]] = [:]
        for receipt in receipts { byPeer[receipt.peer, default: []].append(receipt) }
        for id in byPeer.keys.sorted() {
            guard let receipts = byPeer[id] else { continue }
            send(.with { $0.elementReceipts.receipts = receipts.map(\.wire) }, to: id)
        }
        for receipt in receipts {
            noteHeldBack(receipt)
            wake(.elements(receipt.unit))
        }
    }

    /// Those who look are told why an operation is held back.
    private func noteHeldBack(_ receipt: ElementReceipt) {
        let name = AttemptName(unit: receipt.unit, attempt: receipt.attempt)
        if receipt.full == nil {
            guard heldBack.remove(name) != nil else { return }
        } else {
            guard heldBack.insert(name).inserted else { return }
            // Some have ended meanwhile.
            if heldBack.count > 1000 { heldBack = heldBack.filter { labels.label($0.unit, $0.attempt) != nil } }
        }
        inputs.append(.heldBack(receipt.peer, receipt.unit, receipt.attempt, reason: receipt.full))
    }
}

extension ElementRun.Element {
    fileprivate init?(wire: WireElement) {
        guard wire.bytes.count <= Limits.partialResultBytes, wire.index < CoordinatorLimits.outputIndices,
            let encoding = UInt8(exactly: wire.encoding.rawValue), encoding <= 3
        else { return nil }
        self.init(index: wire.index, encoding: encoding, bytes: [UInt8](wire.bytes))
    }

    fileprivate var wire: WireElement {
        var wire = WireElement()
        wire.index = index
        wire.encoding = WireValueEncoding(rawValue: Int(encoding)) ?? .bytes
        wire.bytes = .init(bytes)
        return wire
    }
}

extension ElementReceipt {
    fileprivate var wire: WireElementReceipt {
        var wire = WireElementReceipt()
        wire.unit = unit.rawValue
        wire.attempt = attempt.rawValue
        wire.next = next
        wire.closed = isClosed
        wire.full = full ?? ""
        return wire
    }
}

extension ElementPage {
    /// - Parameter isEnded: nothing will follow what is stored.
    /// - Parameter failures: why the operation that has ended did not succeed.
    func wire(attempt: Int, id: String, isEnded: Bool, failures: [Failure]) -> WireElementPage {
        var wire = WireElementPage()
        wire.attempt = UInt32(clamping: attempt)
        wire.elements = elements.map(\.wire)
        wire.next = next
        wire.ended = isEnded && !more
        if wire.ended { wire.failures = failures.map(\.wire) }
        wire.id = id
        return wire
    }
}
