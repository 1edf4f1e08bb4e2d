import Foundation
import Wire

/// The large values an executor holds in memory: results that the coordinator has not taken yet, and inputs that units
/// wait for. Each is kept while a unit needs it.
package struct BlobShelf {
    private struct Entry {
        let bytes: Data
        var users: Set<UnitKey>
    }

    private var entries: [BlobDigest: Entry] = [:]
    private var byUser: [UnitKey: [BlobDigest]] = [:]

    package init() {}

    package mutating func put(_ bytes: Data, digest: BlobDigest, for user: UnitKey) {
        guard entries[digest, default: Entry(bytes: bytes, users: [])].users.insert(user).inserted else { return }
        byUser[user, default: []].append(digest)
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
        if entries[digest]?.users.insert(user).inserted == true { byUser[user, default: []].append(digest) }
        return true
    }

    /// `user` needs nothing any more.
    package mutating func release(_ user: UnitKey) {
        for digest in byUser.removeValue(forKey: user) ?? [] {
            entries[digest]?.users.remove(user)
            if entries[digest]?.users.isEmpty == true { entries[digest] = nil }
        }
    }

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
