import Foundation
import Testing
import Wire

@Suite struct BlobTests {
    static func value(_ count: Int) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(count))
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    static func chunk(_ request: WireBlobRequest, of value: [UInt8]) throws -> (WireBlobChunk, Buffer) {
        let range = try #require(request.range(inValueOf: value.count))
        return (
            .with {
                $0.digest = request.digest; $0.offset = request.offset; $0.size = UInt64(value.count)
            },
            Buffer(Array(value[range]))
        )
    }

    static func reference(to value: [UInt8]) -> WireBlobReference {
        WireBlobReference(digest: BlobDigest(hashing: value), size: UInt64(value.count))
    }

    @Test func digest_isSHA256() throws {
        let digest = BlobDigest(hashing: Array("abc".utf8))
        #expect(digest.hexadecimal == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(BlobDigest(digest.bytes) == digest)
        #expect(BlobDigest(hexadecimal: digest.hexadecimal) == digest)
        #expect(BlobDigest(hashing: Buffer(Data("abc".utf8))) == digest)
        #expect(BlobDigest([1, 2, 3]) == nil)
        #expect(BlobDigest(hexadecimal: digest.hexadecimal.uppercased()) == nil)
        #expect(WireBlobReference(digest: digest, size: 3).blobDigest == digest)
        var hasher = BlobHasher()
        hasher.update(Array("a".utf8))
        hasher.update(Data("bc".utf8))
        #expect(hasher.finalize() == digest)
    }

    @Test(arguments: [0, 1, 65_536, Limits.blobChunkBytes, Limits.blobChunkBytes + 1, 3_000_000], [1, 4])
    func aValue_comesWholeInAnyOrderOfItsParts(
        count: Int, window: Int
    ) throws {
        let value = Self.value(count)
        var random = SeededGenerator(seed: UInt64(count + window))
        var fetch = BlobFetch(reference: Self.reference(to: value), window: window)
        var waiting = fetch.start()
        var received: [UInt8] = []
        var isFinished = false
        while !waiting.isEmpty {
            #expect(waiting.count <= window)
            let request = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random))
            let (chunk, bytes) = try Self.chunk(request, of: value)
            for step in fetch.receive(chunk, bytes) {
                #expect(!isFinished)
                switch step {
                case .requests(let more): waiting += more
                case .bytes(let offset, let part):
                    #expect(offset == UInt64(received.count))
                    received += part.withUnsafeBytes { Array($0) }
                case .finished: isFinished = true
                case .failed(let reason): Issue.record("\(reason)")
                }
            }
            // Twice is harmless.
            #expect(fetch.receive(chunk, bytes).isEmpty)
        }
        #expect(isFinished)
        #expect(received == value)
    }

    @Test func afterAReconnect_onlyWhatIsOnItsWayIsAskedForAgain() throws {
        let value = Self.value(5 * Limits.blobChunkBytes)
        var fetch = BlobFetch(reference: Self.reference(to: value), window: 3)
        let first = fetch.start()
        #expect(first.map(\.offset) == [0, 262_144, 524_288])
        let (chunk, bytes) = try Self.chunk(first[1], of: value)
        #expect(fetch.receive(chunk, bytes).isEmpty)
        #expect(fetch.resume().map(\.offset) == [0, 524_288])
    }

    @Test func whatIsWrong_isSaid() throws {
        let value = Self.value(100_000)
        let reference = Self.reference(to: value)
        func failure(_ change: (inout WireBlobChunk, inout Buffer?) -> Void) throws -> String? {
            var fetch = BlobFetch(reference: reference)
            let request = try #require(fetch.start().first)
            var (chunk, bytes): (WireBlobChunk, Buffer?) = try Self.chunk(request, of: value)
            change(&chunk, &bytes)
            for case .failed(let reason) in fetch.receive(chunk, bytes) {
                #expect(fetch.receive(chunk, bytes).isEmpty)
                #expect(fetch.resume().isEmpty)
                return reason
            }
            return nil
        }
        #expect(
            try failure { chunk, bytes in
                chunk.missing = true; bytes = nil
            }?.hasSuffix("is not held any more by the peer that offered it") == true)
        #expect(try failure { chunk, _ in chunk.size = 7 }?.hasSuffix("has 7 bytes, not 100000") == true)
        #expect(
            try failure { _, bytes in bytes = Buffer([1]) }?.hasSuffix("came with a part of 1 bytes at 0; 100000 were asked for") == true)
        #expect(
            try failure { _, bytes in bytes = Buffer([UInt8](repeating: 0, count: 100_000)) }?.hasSuffix(
                "came with other bytes than its digest says")
                == true)
        #expect(try failure { chunk, _ in chunk.digest = Data(count: 32) } == nil)
        #expect(try failure { chunk, _ in chunk.offset = 1 } == nil)
    }

    @Test func requests_areCutToTheValue() {
        func range(_ offset: UInt64, _ length: UInt32, _ size: Int) -> Range<Int>? {
            WireBlobRequest.with {
                $0.offset = offset; $0.length = length
            }.range(inValueOf: size)
        }
        #expect(range(0, 10, 100) == 0..<10)
        #expect(range(95, 10, 100) == 95..<100)
        #expect(range(100, 10, 100) == 100..<100)
        #expect(range(101, 10, 100) == nil)
        #expect(range(.max, .max, 100) == nil)
        #expect(range(0, .max, 10_000_000) == 0..<Limits.blobChunkBytes)
    }
}
