import Executing
import Foundation
import Wire

/// What running units write, cut to its limit per attempt and stream, until it is sent.
///
/// While the coordinator is away it is kept: the limit bounds it.
struct OutputSpool {
    private struct Attempt {
        var nextIndex: UInt64 = 0
        var written: [WireOutputStream: Int] = [:]
    }

    private var attempts: [UnitKey: Attempt] = [:]
    private var chunks: [WireOutputChunk] = []
    private let limitBytes: Int

    init(limitBytes: Int = Limits.outputSpoolBytes) { self.limitBytes = limitBytes }

    mutating func append(_ bytes: [UInt8], stream: WireOutputStream, of key: UnitKey, at: Int64) {
        var attempt = attempts[key] ?? Attempt()
        let written = attempt.written[stream] ?? 0
        guard written <= limitBytes else { return }  // `truncated` was said
        let part = bytes.prefix(limitBytes - written)
        chunks.append(
            .with {
                $0.unit = key.unit
                $0.attempt = key.attempt
                $0.stream = stream
                $0.index = attempt.nextIndex
                $0.at = at
                $0.bytes = Data(part)
                $0.truncated = part.count < bytes.count
            })
        attempt.nextIndex += 1
        attempt.written[stream] = written + bytes.count
        attempts[key] = attempt
    }

    /// The attempt has ended.
    mutating func close(_ key: UnitKey) { attempts[key] = nil }

    /// Drops what has not been sent of a unit nobody wants.
    mutating func discard(_ key: UnitKey) {
        attempts[key] = nil
        if !chunks.isEmpty { chunks.removeAll { $0.unit == key.unit && $0.attempt == key.attempt } }
    }

    /// What is to be sent, in messages of bounded size.
    mutating func take() -> [WireOutputBatch] {
        guard !chunks.isEmpty else { return [] }
        let batches = Batching.split(chunks, limitBytes: Limits.pageBytes) { $0.bytes.count + 64 }
        chunks.removeAll(keepingCapacity: true)
        return batches.map { part in .with { $0.chunks = part } }
    }
}
