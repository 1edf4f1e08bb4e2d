import DequeModule
import Foundation
import Wire

/// The large values an executor holds in memory: results that the coordinator has not taken yet, and inputs that units
/// wait for. Each is kept while a unit needs it, and for a while afterwards: who receives a value often runs where it was made.
package struct BlobShelf {
    private struct Entry {
        let bytes: Data
        var users: Set<UnitKey> = []
        /// Since which release nobody needs it.
        var idleSince: UInt64 = 0
    }

    private var entries: [BlobDigest: Entry] = [:]
    private var byUser: [UnitKey: [BlobDigest]] = [:]
    /// Those that nobody needs, the first to go first; with some that somebody needs again, or that stand here once more.
    private var idle: Deque<(digest: BlobDigest, since: UInt64)> = []
    private var idleBytes = 0
    private var releases: UInt64 = 0
    private let idleBytesMax: Int

    /// Bytes of values that nobody needs at the moment.
    package static let idleBytesMax = 32 << 20
    /// Larger ones go at once: they may be in files.
    package static let idleValueBytesMax = 1 << 20

    package init(idleBytesMax: Int = Self.idleBytesMax) { self.idleBytesMax = idleBytesMax }

    package mutating func put(_ bytes: Data, digest: BlobDigest, for user: UnitKey) {
        if entries[digest] == nil { entries[digest] = Entry(bytes: bytes, users: [user]) } else if !take(digest, for: user) { return }
        byUser[user, default: []].append(digest)
    }

    /// - Returns: whether it is new to the user.
    private mutating func take(_ digest: BlobDigest, for user: UnitKey) -> Bool {
        guard entries[digest]?.users.insert(user).inserted == true else { return false }
        if let entry = entries[digest], entry.users.count == 1 { idleBytes -= entry.bytes.count }
        return true
    }

    package func bytes(_ digest: BlobDigest) -> Data? { entries[digest]?.bytes }

    package func bytes(_ reference: WireBlobReference) -> Data? { reference.blobDigest.flatMap { bytes($0) } }

    /// All values kept for `user`.
    package func blobs(of user: UnitKey) -> [BlobDigest: Data] {
        var result: [BlobDigest: Data] = [:]
        for digest in byUser[user] ?? [] { result[digest] = bytes(digest) }
        return result
    }

    /// Marks a held value as needed by `user` too.
    /// - Returns: false when it is not held.
    package mutating func use(_ digest: BlobDigest, for user: UnitKey) -> Bool {
        guard entries[digest] != nil else { return false }
        if take(digest, for: user) { byUser[user, default: []].append(digest) }
        return true
    }

    /// `user` needs nothing any more.
    package mutating func release(_ user: UnitKey) {
        for digest in byUser.removeValue(forKey: user) ?? [] {
            entries[digest]?.users.remove(user)
            if entries[digest]?.users.isEmpty == true { rest(digest) }
        }
    }

    /// Nobody needs it at the moment.
    private mutating func rest(_ digest: BlobDigest) {
        guard let count = entries[digest]?.bytes.count, count <= min(Self.idleValueBytesMax, idleBytesMax) else {
            entries[digest] = nil
            return
        }
        releases += 1
        entries[digest]?.idleSince = releases
        idle.append((digest, releases))
        idleBytes += count
        while idleBytes > idleBytesMax, let first = idle.popFirst() {
            guard isIdle(first) else { continue }
            idleBytes -= entries.removeValue(forKey: first.digest)?.bytes.count ?? 0
        }
        if idle.count > 2 * entries.count + Self.idleSlack { idle = Deque(idle.filter { isIdle($0) }) }
    }

    private func isIdle(_ place: (digest: BlobDigest, since: UInt64)) -> Bool {
        guard let entry = entries[place.digest] else { return false }
        return entry.users.isEmpty && entry.idleSince == place.since
    }

    /// So many places that mean nothing any more do not matter.
    private static let idleSlack = 64

    /// The answer to a request for a part.
    package func answer(_ request: WireBlobRequest) -> (WireBlobChunk, Buffer?) {
        var chunk = WireBlobChunk.with {
            $0.digest = request.digest
            $0.offset = request.offset
        }
        guard let digest = BlobDigest(request.digest), let bytes = bytes(digest), let range = request.range(inValueOf: bytes.count)
        else {
            chunk.missing = true
            return (chunk, nil)
        }
        chunk.size = UInt64(bytes.count)
        let start = bytes.startIndex + range.lowerBound
        return (chunk, Buffer(bytes[start..<(start + range.count)]))
    }
}
