import Scheduling
import Wire

/// What operations print, from executors to the spool.
extension SpoolHost {
    func receive(_ batch: WireOutputBatch, from peer: PeerID) {
        var records: [OutputRecord] = []
        for chunk in batch.chunks {
            let unit = UnitID(rawValue: chunk.unit)
            let attempt = Attempt(rawValue: chunk.attempt)
            guard let label = labels.label(unit, attempt, of: incarnation(of: peer)) else {
                note(.strayOutput, of: peer, "output of an attempt that it does not hold")
                continue
            }
            guard chunk.bytes.count <= Limits.outputSpoolBytes, let stream = OutputRecord.Stream(wire: chunk.stream) else {
                note(.violation, of: peer, "a piece of output of \(chunk.bytes.count) bytes")
                continue
            }
            guard chunk.index < CoordinatorLimits.outputIndices else {
                note(.violation, of: peer, "a piece of output with the index \(chunk.index)")
                continue
            }
            records.append(
                OutputRecord(
                    unit: unit, attempt: attempt, attemptNumber: label.number, path: label.path, stream: stream,
                    index: chunk.index, at: chunk.at, bytes: [UInt8](chunk.bytes), isTruncated: chunk.truncated))
        }
        guard !records.isEmpty else { return }
        append(records)
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
