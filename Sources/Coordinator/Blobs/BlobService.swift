import Foundation
import Scheduling
import SwiftProtobuf
import Wire

/// Names one large value on its way in.
struct PullID: Hashable, Sendable {
    let rawValue: UInt64
}

/// Names a value that is being stored for a dispatch.
struct StoreID: Hashable, Sendable {
    let rawValue: UInt64
}

/// The blob store on its own thread: nobody else waits for files.
///
/// Jobs are done in order, but that values which are complete go to the disk together, behind the other jobs that came with
/// them. Each answer is told through `report`.
final class BlobService: Sendable {
    /// What becomes of a value that comes in.
    enum Kind: Sendable {
        /// Kept under its digest.
        case value
        /// A serialized `WireGraph`: read, then removed; the journal keeps it.
        case graph
        /// Serialized `WireElements`: read, then removed; the journal keeps them.
        case elements
    }

    enum Job: Sendable {
        case begin(PullID, BlobKey, Kind)
        case append(PullID, Buffer)
        case finish(PullID)
        case abandon(PullID)
        case read(PeerID, BlobDigest, offset: UInt64, length: Int)
        /// Removes what is not to be kept, and was not stored or asked about for a while.
        case sweep(keeping: Set<BlobDigest>)
        /// Removes these.
        case remove(Set<BlobDigest>)
        /// What a receiver gets, too large for a message.
        case store(StoreID, Received)
        /// There may be room by now for what waits for that.
        case retry

        /// The value that it is about, if it comes from somebody.
        fileprivate var pull: PullID? {
            switch self {
            case .begin(let pull, _, _), .append(let pull, _), .finish(let pull), .abandon(let pull): pull
            case .read, .sweep, .remove, .store, .retry: nil
            }
        }
    }

    enum Event: Sendable {
        /// The value is there already: nothing needs to be asked for.
        case present(PullID)
        /// Bytes may come.
        case ready(PullID)
        /// One `append` is in the file: more may be asked for.
        case appended(PullID)
        /// On the disk, under its name.
        case kept(PullID)
        case graph(PullID, Result<ExaminedGraph, TranslationError>)
        case elements(PullID, Result<[[UInt8]], TranslationError>)
        /// What came is not what was named.
        case rejected(PullID, reason: String)
        case part(PeerID, BlobDigest, offset: UInt64, BlobStore.Part)
        case stored(StoreID, BlobKey)
        /// There is no room for it, or no file may be so large. It is not tried again.
        case notStored(StoreID, BlobStoreError)
        /// No file may be so large. Nothing is left of it.
        case tooLarge(PullID, BlobStoreError)
        /// There is no room for what has come, or is to come. Nothing is lost of it; it waits for a `retry`. Comes with each one, too.
        case noRoom([PullID], BlobStoreError)
        /// Nothing waits for room any more.
        case room
        /// So many values were removed, of so many bytes.
        case swept(count: Int, bytes: UInt64)
        /// These are still there: somebody copies the store.
        case notRemoved(Set<BlobDigest>)
        /// No file can be opened until connections are closed: everybody's large values wait. Comes again and again.
        case outOfDescriptors
        /// The end: files cannot be relied on. Nothing more is done.
        case failed(BlobStoreError)
    }

    private let jobs = WorkQueue<Job>()
    private let thread: OSThread

    /// Starts the thread. `report` runs on it and must not block.
    ///
    /// - Throws: `ThreadError`.
    init(_ store: BlobStore, report: @escaping @Sendable (Event) -> Void) throws(ThreadError) {
        thread = try OSThread(name: "aop-blobs") { [jobs] in
            var store = store
            store.mayWaitForDescriptor = {
                report(.outOfDescriptors)
                return !jobs.hasClosed
            }
            var worker = BlobWorker(store: store, report: report)
            while case .jobs(let list) = jobs.take() {
                do throws(BlobStoreError) { try worker.perform(list) } catch {
                    jobs.close()
                    report(.failed(error))
                    return
                }
            }
        }
    }

    func post(_ job: Job) { jobs.post(job) }

    /// Waits until every job that was posted is done.
    func close() {
        jobs.close()
        thread.join()
    }
}

/// What the blob thread does.
private struct BlobWorker {
    private struct Incoming {
        let key: BlobKey
        let kind: BlobService.Kind
        let file: IncomingBlob
    }

    private var store: BlobStore
    private let report: @Sendable (BlobService.Event) -> Void
    private var incoming: [PullID: Incoming] = [:]
    /// Those that are complete, and not on the disk yet.
    private var complete: [(pull: PullID, file: IncomingBlob, key: BlobKey)] = []
    /// What waits for room on the disk, in order.
    private var waiting: [BlobService.Job] = []
    /// Why; nil: nothing waits.
    private var shortage: BlobStoreError?
    private var isShortageToTell = false

    init(store: BlobStore, report: @escaping @Sendable (BlobService.Event) -> Void) {
        self.store = store
        self.report = report
    }

    mutating func perform(_ jobs: [BlobService.Job]) throws(BlobStoreError) {
        for job in jobs {
            try begin(job)
            if complete.count >= CoordinatorLimits.valuesPerSync { try keepComplete() }
        }
        try keepComplete()
        guard isShortageToTell else { return }
        isShortageToTell = false
        report(shortage.map { .noRoom(waiting.compactMap(\.pull) + complete.map(\.pull), $0) } ?? .room)
    }

    /// What is for a value that waits for room waits behind it.
    private mutating func begin(_ job: BlobService.Job) throws(BlobStoreError) {
        switch job {
        case .retry: try retry()
        case .abandon(let pull):
            waiting.removeAll { $0.pull == pull }
            complete.removeAll { $0.pull == pull }
            incoming.removeValue(forKey: pull)?.file.discard()
        case .store(let id, _):
            // Whatever is for the same peer would wait with it.
            do throws(BlobStoreError) { try perform(job) } catch {
                guard error.obstacle != .disk else { throw error }
                report(.notStored(id, error))
            }
        default:
            if let pull = job.pull, waiting.contains(where: { $0.pull == pull }) { return waiting.append(job) }
            do throws(BlobStoreError) { try perform(job) } catch {
                if error.obstacle == .fileSize, let pull = job.pull {
                    incoming.removeValue(forKey: pull)?.file.discard()
                    return report(.tooLarge(pull, error))
                }
                try hold(error)
                waiting.append(job)
            }
        }
    }

    private mutating func retry() throws(BlobStoreError) {
        guard shortage != nil else { return }
        (shortage, isShortageToTell) = (nil, true)
        let jobs = waiting
        waiting = []
        for job in jobs { try begin(job) }
    }

    /// - Throws: the error, unless room is all that is missing.
    private mutating func hold(_ error: BlobStoreError) throws(BlobStoreError) {
        guard error.obstacle == .room else { throw error }
        if shortage == nil { (shortage, isShortageToTell) = (error, true) }
    }

    private mutating func keepComplete() throws(BlobStoreError) {
        guard !complete.isEmpty else { return }
        do throws(BlobStoreError) { try store.keep(complete.map { ($0.file, $0.key) }) } catch { return try hold(error) }
        for value in complete { report(.kept(value.pull)) }
        complete.removeAll(keepingCapacity: true)
    }

    /// Bytes that are still to come of what has begun.
    private var promisedBytes: UInt64 {
        incoming.values.reduce(0) { $0 + ($1.key.size > $1.file.size ? $1.key.size - $1.file.size : 0) }
    }

    private mutating func perform(_ job: BlobService.Job) throws(BlobStoreError) {
        switch job {
        case .begin(let pull, let key, let kind):
            if case .value = kind, store.holds(key) {
                try store.touch(key)
                return report(.present(pull))
            }
            let file = try store.makeIncoming(size: key.size, promised: promisedBytes)
            incoming[pull] = Incoming(key: key, kind: kind, file: file)
            report(.ready(pull))
        case .append(let pull, let bytes):
            guard let blob = incoming[pull] else { return }
            try bytes.withUnsafeBytes { bytes throws(BlobStoreError) in try blob.file.append(bytes) }
            report(.appended(pull))
        case .finish(let pull):
            guard let blob = incoming.removeValue(forKey: pull) else { return }
            try finish(pull, blob)
        case .read(let peer, let digest, let offset, let length):
            report(.part(peer, digest, offset: offset, store.read(digest, offset: offset, length: length)))
        case .sweep(let digests):
            // Where somebody copies them, the next one does it.
            let removed = try store.sweep(
                keeping: digests, unusedSince: Self.ago(CoordinatorLimits.unusedValueSeconds), handedOverSince: Self.handedOverSince)
            if let removed { report(.swept(count: removed.count, bytes: removed.bytes)) }
        case .remove(let digests):
            let removed = try store.remove(digests, handedOverSince: Self.handedOverSince)
            report(removed.map { .swept(count: $0.count, bytes: $0.bytes) } ?? .notRemoved(digests))
        case .store(let id, let received):
            report(.stored(id, try store.store(Self.serialized(received))))
        case .abandon, .retry: preconditionFailure("\(job) is not something that may wait for room")
        }
    }

    private mutating func finish(_ pull: PullID, _ blob: Incoming) throws(BlobStoreError) {
        if let reason = store.mismatch(of: blob.file, with: blob.key) {
            blob.file.discard()
            return report(.rejected(pull, reason: reason))
        }
        switch blob.kind {
        case .value:
            blob.file.beginWriting()
            complete.append((pull, blob.file, blob.key))
        case .graph:
            let bytes = try blob.file.contents()
            blob.file.discard()
            report(
                .graph(
                    pull,
                    Self.reading { () throws(TranslationError) in
                        try Self.checkNodes(of: bytes)
                        let graph = try Graph(wire: try Self.decode(WireGraph.self, bytes))
                        // Here, where nobody waits for it: the loop would be held up by it.
                        return ExaminedGraph(examining: graph, by: CoordinatorConfiguration.graphLimits)
                    }))
        case .elements:
            let bytes = try blob.file.contents()
            blob.file.discard()
            report(
                .elements(
                    pull,
                    Self.reading { () throws(TranslationError) in
                        try ReportedEnd.elements(try Self.decode(WireElements.self, bytes))
                    }))
        }
    }

    private static var handedOverSince: Date { ago(CoordinatorLimits.handedOverValueSeconds) }

    private static func ago(_ seconds: Int) -> Date { Date(timeIntervalSinceNow: -TimeInterval(seconds)) }

    private static func reading<Value>(
        _ body: () throws(TranslationError) -> Value
    ) -> Result<Value, TranslationError> {
        do throws(TranslationError) { return .success(try body()) } catch { return .failure(error) }
    }

    /// Before it is decoded, which costs many times its size.
    private static func checkNodes(of graph: Data) throws(TranslationError) {
        do { try graph.withUnsafeBytes { try MessageScan.checkGraph($0) } } catch { throw TranslationError("\(error)") }
    }

    private static func decode<Message: SwiftProtobuf.Message>(
        _ type: Message.Type, _ bytes: Data
    ) throws(TranslationError) -> Message {
        do { return try Message(serializedBytes: bytes) } catch {
            throw TranslationError("the bytes handed over are not a serialized \(type): \(error)")
        }
    }

    private static func serialized(_ received: Received) -> Data {
        do { return try received.wire.serializedData() } catch {
            preconditionFailure("a WireReceived without required fields could not be serialized: \(error)")
        }
    }
}
