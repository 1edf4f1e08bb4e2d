import Foundation
import Scheduling
import Testing
import Wire

@testable import Coordinator

@Suite struct BlobStoreTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/blobs" }
    init() throws { temporary = try TemporaryDirectory() }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }
    }

    @Test func value_isStoredOnceUnderItsDigest() throws {
        var store = try BlobStore(path: path)
        let bytes = Data(repeating: 3, count: 100_000)
        let key = try store.store(bytes)
        #expect(try store.store(bytes) == key)
        let name = key.digest.hexadecimal
        #expect(try files() == ["\(name.prefix(2))/\(name.dropFirst(2))"])
        #expect(store.contains(key))
    }

    @Test func parts_areReadByOffset() throws {
        var store = try BlobStore(path: path)
        let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        let key = try store.store(bytes)
        guard case .bytes(let part, 1000) = try store.read(key.digest, offset: 990, length: 100) else {
            Issue.record("not read")
            return
        }
        #expect(part == bytes.suffix(10))
        guard case .bytes(let none, 1000) = try store.read(key.digest, offset: 5000, length: 1) else {
            Issue.record("not read")
            return
        }
        #expect(none.isEmpty)
        guard case .missing = try store.read(BlobDigest(hashing: Data([1])), offset: 0, length: 1) else {
            Issue.record("found what is not there")
            return
        }
    }

    @Test func severalValues_areKeptTogether_eachOnce() throws {
        var store = try BlobStore(path: path)
        let there = try store.store(Data(repeating: 0, count: 1_000))
        var values: [(file: IncomingBlob, key: BlobKey)] = []
        // One that is there already, one that comes twice, and more than one in a folder.
        for byte in [0, 1, 1] + Array(2...255) as [UInt8] {
            let bytes = Data(repeating: byte, count: 1_000)
            let file = try store.makeIncoming()
            try bytes.withUnsafeBytes { try file.append($0) }
            file.beginWriting()
            values.append((file, BlobKey(digest: BlobDigest(hashing: bytes), size: 1_000)))
        }
        try store.keep(values)
        #expect(try files().count == 256)
        #expect(values.allSatisfy { store.contains($0.key) } && values[0].key == there)
        guard case .bytes(let bytes, 1_000) = try store.read(values[2].key.digest, offset: 0, length: 1_000) else {
            Issue.record("not read")
            return
        }
        #expect(bytes == Data(repeating: 1, count: 1_000))
    }

    /// Or each later result of the same content would be lost with it.
    @Test func damagedValue_isReplaced_whenItIsOfferedAnew() throws {
        var store = try BlobStore(path: path)
        let bytes = Data(repeating: 5, count: 600_000)
        let key = try store.store(bytes)
        let file = try #require(try files().first)
        for isOneOfMany in [false, true] {
            var damaged = bytes
            damaged[599_999] ^= 1
            try damaged.write(to: URL(fileURLWithPath: "\(path)/\(file)"))
            #expect(try store.contains(key) && !store.holds(key))
            if isOneOfMany {
                let incoming = try store.makeIncoming()
                try bytes.withUnsafeBytes { try incoming.append($0) }
                try store.keep([(incoming, key)])
            } else {
                #expect(try store.store(bytes) == key)
            }
            #expect(try store.holds(key) && files() == [file])
        }
    }

    @Test func otherBytesThanNamed_areNotKept() throws {
        var store = try BlobStore(path: path)
        let blob = try store.makeIncoming()
        try [UInt8](repeating: 1, count: 10).withUnsafeBytes { try blob.append($0) }
        let named = BlobKey(digest: BlobDigest(hashing: Data([2])), size: 10)
        #expect(store.mismatch(of: blob, with: named)?.contains("was named") == true)
        #expect(
            store.mismatch(of: blob, with: BlobKey(digest: named.digest, size: 11))
                == "it has 10 bytes where 11 were named")
    }

    @Test func halfWrittenFiles_areRemovedAtTheNextStart() throws {
        var store = try BlobStore(path: path)
        let blob = try store.makeIncoming()
        try [UInt8](repeating: 1, count: 10).withUnsafeBytes { try blob.append($0) }
        #expect(try files() == ["incoming/1"])
        _ = try BlobStore(path: path)
        #expect(try files().isEmpty)
        withExtendedLifetime(blob) {}
    }

    @Test func storeOpenedAgain_holdsWhatItHeld() throws {
        var store = try BlobStore(path: path)
        let key = try store.store(Data(repeating: 3, count: 1000))
        // Not ours, and no reason not to start.
        try Data().write(to: URL(fileURLWithPath: path + "/lost+found"))
        #expect(try BlobStore(path: path).contains(key))
    }

    @Test func abandonedValue_leavesNothing() async throws {
        let store = try BlobStore(path: path)
        try await onThread {
            let events = Collector<String>()
            let service = try BlobService(store) { events.add("\($0)") }
            let key = BlobKey(digest: BlobDigest(hashing: Data([1])), size: 1)
            service.post(.begin(PullID(rawValue: 1), key, .value))
            service.post(.append(PullID(rawValue: 1), Buffer([1])))
            service.post(.abandon(PullID(rawValue: 1)))
            service.close()
            _ = try events.wait { $0.count == 2 }
        }
        #expect(try files().isEmpty)
    }

    @Test func wrongBytes_areRejectedByTheService() async throws {
        let store = try BlobStore(path: path)
        let last = try await onThread {
            let events = Collector<BlobService.Event>()
            let service = try BlobService(store) { events.add($0) }
            service.post(.begin(PullID(rawValue: 1), BlobKey(digest: BlobDigest(hashing: Data([1])), size: 1), .value))
            service.post(.append(PullID(rawValue: 1), Buffer([2])))
            service.post(.finish(PullID(rawValue: 1)))
            service.close()
            return try events.wait { $0.count == 3 }[2]
        }
        guard case .rejected = last else {
            Issue.record("\(last)")
            return
        }
        #expect(try files().isEmpty)
    }
}
