import Executing
import Foundation
import Wire

/// The large inputs that are on their way, each once however many units wait for it: a few at a time, the others in
/// order behind them, so that what the coordinator has to hold for this executor is bounded. A value that is too large for memory goes to a
/// file, whose writes the caller does not wait for.
struct InputFetches {
    /// What came of a chunk.
    enum Step {
        case ask([WireBlobRequest])
        /// The next bytes of a value that goes to a file.
        case write(SpilledValue, Buffer)
        /// To be asked for when what came is written: the disk sets the pace.
        case askWhenWritten(SpilledValue, [WireBlobRequest])
        /// All bytes came: to be told to ``stored(_:_:)`` when they are written.
        case store(BlobDigest, SpilledValue)
        /// All bytes are there.
        case arrived(BlobDigest, Data, waiting: [UnitKey])
        case failed(reason: String, waiting: [UnitKey])
    }

    private struct Fetch {
        var fetch: BlobFetch
        var bytes = Data()
        /// In the place of `bytes`, for what is too large for memory.
        var file: SpilledValue?
        var waiting: [UnitKey]
    }

    private let directory: String

    /// Values on their way at a time: enough to keep the connection busy.
    static let activeMax = 16

    private var fetches: [BlobDigest: Fetch] = [:]
    private var active: Set<BlobDigest> = []
    /// In the order in which they were wanted; some may not be wanted any more.
    private var queue: [BlobDigest] = []
    private var queueHead = 0
    private var wanted: [UnitKey: Set<BlobDigest>] = [:]

    /// - Parameter directory: where files are made for what is too large for memory.
    init(directory: String) { self.directory = directory }

    /// Whether `unit` waits for a value.
    func isAwaited(by unit: UnitKey) -> Bool { wanted[unit] != nil }

    /// Lets `unit` wait for a value.
    /// - Returns: what to ask the coordinator for.
    mutating func begin(_ reference: WireBlobReference, digest: BlobDigest, for unit: UnitKey) -> [WireBlobRequest] {
        guard wanted[unit, default: []].insert(digest).inserted else { return [] }
        if fetches[digest] != nil {
            fetches[digest]?.waiting.append(unit)
            return []
        }
        let file = reference.size >= UInt64(Limits.outputMemoryBytes) ? SpilledValue(in: directory) : nil
        fetches[digest] = Fetch(fetch: BlobFetch(reference: reference), file: file, waiting: [unit])
        queue.append(digest)
        return startQueued()
    }

    mutating func receive(_ chunk: WireBlobChunk, _ buffer: Buffer?) -> [Step] {
        guard let digest = BlobDigest(chunk.digest), var entry = fetches.removeValue(forKey: digest) else { return [] }
        var steps: [Step] = []
        for step in entry.fetch.receive(chunk, buffer) {
            switch (step, entry.file) {
            case (.requests(let requests), nil): steps.append(.ask(requests))
            case (.requests(let requests), let file?): steps.append(.askWhenWritten(file, requests))
            case (.bytes(_, let buffer), nil): buffer.withUnsafeBytes { entry.bytes.append(contentsOf: $0) }
            case (.bytes(_, let buffer), let file?): steps.append(.write(file, buffer))
            case (.finished, nil): return steps + end(digest, entry, .arrived(digest, entry.bytes, waiting: entry.waiting))
            case (.finished, let file?): steps.append(.store(digest, file))
            case (.failed(let reason), _): return steps + end(digest, entry, .failed(reason: reason, waiting: entry.waiting))
            }
        }
        fetches[digest] = entry
        return steps
    }

    /// All bytes of a value are in its file, or could not be written.
    mutating func stored(_ digest: BlobDigest, _ bytes: Result<Data, any Error>) -> [Step] {
        // Nobody waits for it any more.
        guard let entry = fetches.removeValue(forKey: digest) else { return [] }
        switch bytes {
        case .success(let bytes): return end(digest, entry, .arrived(digest, bytes, waiting: entry.waiting))
        case .failure(let error):
            return end(digest, entry, .failed(reason: "a received value cannot be kept: \(error)", waiting: entry.waiting))
        }
    }

    /// After the connection was made anew: what was on its way is asked for again.
    func resume() -> [WireBlobRequest] { active.flatMap { fetches[$0]?.fetch.resume() ?? [] } }

    /// `unit` does not wait any more. A fetch nobody waits for is given up.
    /// - Returns: what to ask the coordinator for instead.
    mutating func cancel(_ unit: UnitKey) -> [WireBlobRequest] {
        for digest in wanted.removeValue(forKey: unit) ?? [] {
            fetches[digest]?.waiting.removeAll { $0 == unit }
            guard fetches[digest]?.waiting.isEmpty == true else { continue }
            fetches[digest] = nil
            active.remove(digest)
        }
        return startQueued()
    }

    private mutating func end(_ digest: BlobDigest, _ entry: Fetch, _ step: Step) -> [Step] {
        active.remove(digest)
        for unit in entry.waiting {
            wanted[unit]?.remove(digest)
            if wanted[unit]?.isEmpty == true { wanted[unit] = nil }
        }
        let requests = startQueued()
        return requests.isEmpty ? [step] : [.ask(requests), step]
    }

    private mutating func startQueued() -> [WireBlobRequest] {
        var requests: [WireBlobRequest] = []
        while active.count < Self.activeMax, queueHead < queue.count {
            let digest = queue[queueHead]
            queueHead += 1
            guard fetches[digest] != nil, active.insert(digest).inserted else { continue }
            requests += fetches[digest]?.fetch.start() ?? []
        }
        if queueHead == queue.count || queueHead >= 1024 {
            queue.removeFirst(queueHead)
            queueHead = 0
        }
        return requests
    }
}
