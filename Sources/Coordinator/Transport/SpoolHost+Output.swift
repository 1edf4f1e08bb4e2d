import Scheduling
import Wire

/// What operations print, from executors to the spool.
extension SpoolHost {
    func receive(_ batch: WireOutputBatch, from peer: PeerID) {
        var records: [OutputRecord] = []
        var unwanted: [AttemptName: UInt64] = [:]
        /// It is not to be sent again.
        func refuse(_ chunk: WireOutputChunk, _ name: AttemptName) {
            guard chunk.hasKeepsFrom, chunk.index < CoordinatorLimits.outputIndices else { return }
            unwanted[name] = max(unwanted[name] ?? 0, chunk.index + 1)
        }
        for chunk in batch.chunks {
            let unit = UnitID(rawValue: chunk.unit)
            let attempt = Attempt(rawValue: chunk.attempt)
            guard let label = anyLabel(unit, attempt, of: peer) else {
                note(.strayOutput, of: peer, "output of an attempt that it does not hold")
                refuse(chunk, AttemptName(unit: unit, attempt: attempt))
                continue
            }
            guard chunk.bytes.count <= Limits.outputSpoolBytes, let stream = OutputRecord.Stream(wire: chunk.stream) else {
                note(.violation, of: peer, "a piece of output of \(chunk.bytes.count) bytes")
                refuse(chunk, AttemptName(unit: unit, attempt: attempt))
                continue
            }
            guard chunk.index < CoordinatorLimits.outputIndices else {
                note(.violation, of: peer, "a piece of output with the index \(chunk.index)")
                continue
            }
            records.append(
                OutputRecord(
                    unit: unit, attempt: attempt, attemptNumber: label.number, path: label.path, stream: stream,
                    index: chunk.index, at: chunk.at, bytes: [UInt8](chunk.bytes), isTruncated: chunk.truncated,
                    keptFrom: chunk.hasKeepsFrom ? chunk.keepsFrom : nil, sender: peer))
        }
        acknowledge(
            unwanted.sorted { ($0.key.unit, $0.key.attempt) < ($1.key.unit, $1.key.attempt) }.map { name, next in
                OutputReceipt(peer: peer, unit: name.unit, attempt: name.attempt, standing: OutputStanding(next: next))
            })
        guard !records.isEmpty else { return }
        append(records)
    }

    /// Of an attempt that the peer holds, or has held: what it wrote may come, or come again, when its end is known.
    private func anyLabel(_ unit: UnitID, _ attempt: Attempt, of peer: PeerID) -> AttemptLabels.Label? {
        let holder = incarnation(of: peer)
        return labels.label(unit, attempt, of: holder) ?? labels.ended(unit, attempt, of: holder) ?? earlierLabel(unit, attempt)
    }

    /// Output is stored, or could not be.
    func acknowledge(_ receipts: [OutputReceipt]) {
        var byPeer: [PeerID: [OutputReceipt]] = [:]
        for receipt in receipts { byPeer[receipt.peer, default: []].append(receipt) }
        for (peer, receipts) in byPeer.sorted(by: { $0.key < $1.key }) {
            send(.with { $0.outputReceipts.receipts = receipts.map(\.wire) }, to: peer)
        }
    }
}

extension OutputReceipt {
    fileprivate var wire: WireOutputReceipt {
        var wire = WireOutputReceipt()
        wire.unit = unit.rawValue
        wire.attempt = attempt.rawValue
        wire.next = standing.next
        wire.refused = standing.isRefused
        return wire
    }
}

extension OutputRecord.Stream {
    fileprivate init?(wire: WireOutputStream) {
        switch wire {
        case .stdout: self = .stdout
        case .stderr: self = .stderr
        case .log: self = .log
        case .UNRECOGNIZED: return nil
        }
    }
}
