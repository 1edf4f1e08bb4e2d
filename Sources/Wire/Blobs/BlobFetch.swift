import Foundation

/// The asking side of one large value: which parts to ask for, and what came, in order and verified.
///
/// A value that is stepped: it neither sends nor stores. At most `window` parts are on their way at any time.
/// ```swift
/// var fetch = BlobFetch(reference: reference)
/// for request in fetch.start() { send(request) }
/// // with each chunk of this digest:
/// for step in fetch.receive(chunk, buffer) { … }
/// ```
public struct BlobFetch: Sendable {
    /// What to do next, in this order.
    public enum Step: Sendable {
        /// Ask the holder for these parts.
        case requests([WireBlobRequest])
        /// The next bytes of the value. They are not to be trusted before `finished`.
        case bytes(offset: UInt64, Buffer)
        /// All bytes came and their digest is the one asked for.
        case finished
        /// The value cannot be had from this holder; nothing more will come.
        case failed(reason: String)
    }

    private enum State {
        /// Parts are on their way or ahead of the next byte that is due.
        case fetching
        case ended
    }

    public let reference: WireBlobReference

    private let window: Int
    private var state = State.fetching
    /// The first byte that has not been asked for.
    private var askedUpTo: UInt64 = 0
    /// The first byte that has not been handed on.
    private var deliveredUpTo: UInt64 = 0
    /// By offset, parts that were asked for: nil until they come, then kept until all before them have come.
    private var parts: [UInt64: Buffer?] = [:]
    /// nil: whoever takes the bytes verifies them.
    private var hasher: BlobHasher?

    /// - Parameter verifies: whether ``Step/finished`` says that the digest fits, not only that all bytes came. Without it, whoever
    ///   takes the bytes has to look.
    public init(reference: WireBlobReference, window: Int = Limits.blobWindow, verifies: Bool = true) {
        self.reference = reference
        self.window = max(1, window)
        hasher = verifies ? BlobHasher() : nil
    }

    /// The first requests.
    public mutating func start() -> [WireBlobRequest] {
        // Also an empty value has one part, so that its end is an answer like any other.
        if reference.size == 0, parts.isEmpty {
            parts[0] = .some(nil)
            return [request(at: 0)]
        }
        return askForMore()
    }

    /// After the connection was made anew: asks again for the parts that were on their way.
    public func resume() -> [WireBlobRequest] {
        switch state {
        case .ended: []
        case .fetching: parts.filter { $0.value == nil }.keys.sorted().map { request(at: $0) }
        }
    }

    /// A part came. One that was not asked for, or came twice, changes nothing.
    public mutating func receive(_ chunk: WireBlobChunk, _ bytes: Buffer?) -> [Step] {
        switch state {
        case .ended: return []
        case .fetching: break
        }
        guard chunk.digest == reference.digest, let place = parts[chunk.offset], place == nil else { return [] }
        if chunk.missing { return fail("is not held any more by the peer that offered it") }
        guard chunk.size == reference.size else { return fail("has \(chunk.size) bytes, not \(reference.size)") }
        guard let bytes, bytes.count == length(at: chunk.offset) else {
            return fail("came with a part of \(bytes?.count ?? 0) bytes at \(chunk.offset); \(length(at: chunk.offset)) were asked for")
        }
        parts[chunk.offset] = .some(bytes)
        return deliver()
    }

    private mutating func deliver() -> [Step] {
        var steps: [Step] = []
        while case .some(.some(let bytes)) = parts[deliveredUpTo] {
            parts[deliveredUpTo] = nil
            hasher?.update(bytes)
            steps.append(.bytes(offset: deliveredUpTo, bytes))
            deliveredUpTo += UInt64(bytes.count)
            if deliveredUpTo == reference.size { return steps + end() }
        }
        let requests = askForMore()
        if !requests.isEmpty { steps.append(.requests(requests)) }
        return steps
    }

    private mutating func end() -> [Step] {
        guard hasher.map({ Data($0.finalize().bytes) == reference.digest }) ?? true else {
            return fail("came with other bytes than its digest says")
        }
        state = .ended
        return [.finished]
    }

    private mutating func fail(_ reason: String) -> [Step] {
        state = .ended
        parts = [:]
        let name = BlobDigest(reference.digest)?.hexadecimal ?? "of \(reference.digest.count) bytes, not \(BlobDigest.count),"
        return [.failed(reason: "the value \(name) \(reason)")]
    }

    private mutating func askForMore() -> [WireBlobRequest] {
        var requests: [WireBlobRequest] = []
        while parts.count < window, askedUpTo < reference.size {
            parts[askedUpTo] = .some(nil)
            requests.append(request(at: askedUpTo))
            askedUpTo += UInt64(length(at: askedUpTo))
        }
        return requests
    }

    private func length(at offset: UInt64) -> Int {
        Int(min(UInt64(Limits.blobChunkBytes), reference.size - offset))
    }

    private func request(at offset: UInt64) -> WireBlobRequest {
        WireBlobRequest.with {
            $0.digest = reference.digest
            $0.offset = offset
            $0.length = UInt32(length(at: offset))
        }
    }
}

extension WireBlobRequest {
    /// The bytes that are asked for, of a value of `size` bytes: cut to the value's end and to ``Limits/blobChunkBytes``.
    /// Nil: it begins behind the value's end.
    public func range(inValueOf size: Int) -> Range<Int>? {
        guard let start = Int(exactly: offset), start <= size else { return nil }
        return start..<(start + min(size - start, Int(length), Limits.blobChunkBytes))
    }
}
