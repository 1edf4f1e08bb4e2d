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
        /// Removes what is not to be kept, and was not stored or asked about since.
        case sweep(keeping: Set<BlobDigest>, unusedSince: Date)
        /// What a receiver gets, too large for a message.
        case store(StoreID, Received)
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
        case graph(PullID, Result<Graph, TranslationError>)
        case elements(PullID, Result<[[UInt8]], TranslationError>)
        /// What came is not what was named.
        case rejected(PullID, reason: String)
        case part(PeerID, BlobDigest, offset: UInt64, BlobStore.Part)
        case stored(StoreID, BlobKey)
        /// So many values were removed, of so many bytes.
        case swept(count: Int, bytes: UInt64)
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

    init(store: BlobStore, report: @escaping @Sendable (BlobService.Event) -> Void) {
        self.store = store
        self.report = report
    }

    mutating func perform(_ jobs: [BlobService.Job]) throws(BlobStoreError) {
        for job in jobs {
            try perform(job)
            if complete.count >= CoordinatorLimits.valuesPerSync { try keepComplete() }
        }
        try keepComplete()
    }

    private mutating func keepComplete() throws(BlobStoreError) {
        guard !complete.isEmpty else { return }
        try store.keep(complete.map { ($0.file, $0.key) })
        for value in complete { report(.kept(value.pull)) }
        complete.removeAll(keepingCapacity: true)
    }

    private mutating func perform(_ job: BlobService.Job) throws(BlobStoreError) {
        switch job {
        case .begin(let pull, let key, let kind):
            if case .value = kind, try store.holds(key) {
                try store.touch(key)
                return report(.present(pull))
            }
            incoming[pull] = Incoming(key: key, kind: kind, file: try store.makeIncoming())
            report(.ready(pull))
        case .append(let pull, let bytes):
            guard let blob = incoming[pull] else { return }
            try bytes.withUnsafeBytes { bytes throws(BlobStoreError) in try blob.file.append(bytes) }
            report(.appended(pull))
        case .finish(let pull):
            guard let blob = incoming.removeValue(forKey: pull) else { return }
            try finish(pull, blob)
        case .abandon(let pull):
            incoming.removeValue(forKey: pull)?.file.discard()
        case .read(let peer, let digest, let offset, let length):
            report(.part(peer, digest, offset: offset, try store.read(digest, offset: offset, length: length)))
        case .sweep(let digests, let date):
            let (count, bytes) = try store.sweep(keeping: digests, unusedSince: date)
            report(.swept(count: count, bytes: bytes))
        case .store(let id, let received):
            report(.stored(id, try store.store(Self.serialized(received))))
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
                        return try Graph(wire: try Self.decode(WireGraph.self, bytes))
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
