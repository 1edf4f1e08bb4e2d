import Foundation
import Wire

/// The large inputs that are on their way, each once however many units wait for it.
struct InputFetches {
    /// What came of a chunk.
    enum Step {
        case ask([WireBlobRequest])
        /// All bytes are there.
        case arrived(BlobDigest, Data, waiting: [UnitKey])
        case failed(reason: String, waiting: [UnitKey])
    }

    private struct Fetch {
        var fetch: BlobFetch
        var bytes: Data
        var waiting: [UnitKey]
    }

    private var fetches: [BlobDigest: Fetch] = [:]

    /// Lets `unit` wait for a value.
    /// - Returns: what to ask the coordinator for.
    mutating func begin(_ reference: WireBlobReference, digest: BlobDigest, for unit: UnitKey) -> [WireBlobRequest] {
        if fetches[digest] != nil {
            if fetches[digest]?.waiting.contains(unit) == false { fetches[digest]?.waiting.append(unit) }
            return []
        }
        var fetch = BlobFetch(reference: reference)
        let requests = fetch.start()
        fetches[digest] = Fetch(fetch: fetch, bytes: Data(), waiting: [unit])
        return requests
    }

    mutating func receive(_ chunk: WireBlobChunk, _ buffer: Buffer?) -> [Step] {
        guard let digest = BlobDigest(chunk.digest), var entry = fetches.removeValue(forKey: digest) else { return [] }
        var steps: [Step] = []
        for step in entry.fetch.receive(chunk, buffer) {
            switch step {
            case .requests(let requests): steps.append(.ask(requests))
            case .bytes(_, let buffer): buffer.withUnsafeBytes { entry.bytes.append(contentsOf: $0) }
            case .finished: return steps + [.arrived(digest, entry.bytes, waiting: entry.waiting)]
            case .failed(let reason): return steps + [.failed(reason: reason, waiting: entry.waiting)]
            }
        }
        fetches[digest] = entry
        return steps
    }

    /// After the connection was made anew: what was on its way is asked for again.
    func resume() -> [WireBlobRequest] { fetches.values.flatMap { $0.fetch.resume() } }

    /// `unit` does not wait any more. A fetch nobody waits for is given up.
    mutating func cancel(_ unit: UnitKey) {
        for (digest, fetch) in fetches where fetch.waiting.contains(unit) {
            fetches[digest]?.waiting.removeAll { $0 == unit }
            if fetches[digest]?.waiting.isEmpty == true { fetches[digest] = nil }
        }
    }
}
