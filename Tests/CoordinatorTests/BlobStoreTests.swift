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
        guard case .bytes(let part, 1000) = store.read(key.digest, offset: 990, length: 100) else {
            Issue.record("not read")
            return
        }
        #expect(part == bytes.suffix(10))
        guard case .bytes(let none, 1000) = store.read(key.digest, offset: 5000, length: 1) else {
            Issue.record("not read")
            return
        }
        #expect(none.isEmpty)
        guard case .missing = store.read(BlobDigest(hashing: Data([1])), offset: 0, length: 1) else {
            Issue.record("found what is not there")
            return
        }
    }

    @Test(arguments: [S_IFIFO, S_IFDIR]) func valueThatCannotBeRead_isNamed(kind: mode_t) throws {
        var store = try BlobStore(path: path)
        let key = try store.store(Data(repeating: 3, count: 1_000))
        let file = key.digest.path(below: path)
        #expect(unlink(file) == 0)
        #expect((kind == S_IFDIR ? mkdir(file, 0o700) : mkfifo(file, 0o600)) == 0)
        guard case .unreadable(let error) = store.read(key.digest, offset: 0, length: 1_000) else {
            // A pipe has no size.
            guard kind == S_IFIFO, case .bytes(let bytes, 0) = store.read(key.digest, offset: 0, length: 1_000) else {
                Issue.record("read what cannot be read")
                return
            }
            return #expect(bytes.isEmpty)
        }
        #expect(error.path == file && error.action == "read")
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
        guard case .bytes(let bytes, 1_000) = store.read(values[2].key.digest, offset: 0, length: 1_000) else {
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
            #expect(store.contains(key) && !store.holds(key))
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

    /// Whatever else there is room for goes on.
    @Test func valuesForWhichThereIsNoRoom_wait_andOthersDoNot() async throws {
        let store = try BlobStore(path: path)
        let small = Data([1])
        let told = try await onThread {
            let events = Collector<BlobService.Event>()
            let service = try BlobService(store) { events.add($0) }
            service.post(.begin(PullID(rawValue: 1), BlobKey(digest: BlobDigest(hashing: Data([9])), size: 1 << 60), .value))
            var told = try events.wait { $0.count == 1 }
            service.post(.begin(PullID(rawValue: 2), BlobKey(digest: BlobDigest(hashing: small), size: 1), .value))
            service.post(.append(PullID(rawValue: 2), Buffer(small)))
            service.post(.finish(PullID(rawValue: 2)))
            told += try events.wait { $0.count == 3 }
            service.post(.retry)
            told += try events.wait { $0.count == 1 }
            service.post(.abandon(PullID(rawValue: 1)))
            service.post(.retry)
            defer { service.close() }
            return told + (try events.wait { $0.count == 1 })
        }
        guard case .noRoom(let first, let error) = told[0], case .ready = told[1], case .appended = told[2], case .kept = told[3],
            case .noRoom(let again, _) = told[4], case .room = told[5]
        else {
            Issue.record("\(told)")
            return
        }
        #expect(first == [PullID(rawValue: 1)] && again == first)
        #expect("\(error)".contains("a value of \(1 << 60) bytes"), "\(error)")
        #expect(try files().count == 1)
    }

    /// To wait for it would be to wait for ever, and to end would be to meet it again after the next start.
    @Test func valueLargerThanAFileMayBe_isRefusedBeforeItComes_andOthersAreNot() async throws {
        var limited = try BlobStore(path: path)
        limited.fileBytesMax = 1_000
        #expect {
            try limited.store(Data(count: 1_001))
        } throws: {
            ($0 as? BlobStoreError)?.obstacle == .fileSize
        }
        let store = limited
        let small = Data(repeating: 1, count: 1_000)
        let told = try await onThread {
            let events = Collector<BlobService.Event>()
            let service = try BlobService(store) { events.add($0) }
            service.post(.begin(PullID(rawValue: 1), BlobKey(digest: BlobDigest(hashing: Data([9])), size: 1_001), .value))
            service.post(.begin(PullID(rawValue: 2), BlobKey(digest: BlobDigest(hashing: small), size: 1_000), .value))
            service.post(.append(PullID(rawValue: 2), Buffer(small)))
            service.post(.finish(PullID(rawValue: 2)))
            service.close()
            return try events.wait { $0.count == 4 }
        }
        guard case .tooLarge(let pull, let error) = told[0], case .ready = told[1], case .appended = told[2], case .kept = told[3] else {
            Issue.record("\(told)")
            return
        }
        #expect(pull == PullID(rawValue: 1))
        #expect("\(error)".contains("cannot store a value of 1001 bytes: File too large; "), "\(error)")
        #expect(try files().count == 1)
    }

    private static let obstacles: [(code: Int32, mayBeTriedAgain: Bool, obstacle: BlobStoreError.Obstacle)] = [
        (ENOSPC, true, .room), (EDQUOT, true, .room), (EFBIG, true, .fileSize), (EIO, true, .disk), (ENOSPC, false, .disk),
        (EFBIG, false, .disk),
    ]

    @Test(arguments: obstacles)
    func whatIsInTheWay_followsFromTheError(code: Int32, mayBeTriedAgain: Bool, obstacle: BlobStoreError.Obstacle) {
        let error = BlobStoreError(path: "/d/blobs/incoming/1", action: "write", code: code, mayBeTriedAgain: mayBeTriedAgain)
        #expect(error.obstacle == obstacle)
        #expect("\(error)".hasSuffix("check free space, permissions and the health of the disk") == (obstacle != .fileSize), "\(error)")
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
    private func keep(_ byte: UInt8, in store: inout BlobStore) throws -> BlobKey {
        let bytes = Data(repeating: byte, count: 1_000)
        let file = try store.makeIncoming()
        try bytes.withUnsafeBytes { try file.append($0) }
        let key = BlobKey(digest: BlobDigest(hashing: bytes), size: 1_000)
        try store.keep([(file, key)])
        return key
    }

    /// A backup copies the values that its journal names: none of them goes before.
    @Test func whileSomebodyCopies_nothingIsRemoved() throws {
        var store = try BlobStore(path: path)
        let key = try keep(1, in: &store)
        let lock = BlobFolderLock(toCopyFrom: path)
        #expect(try store.remove([key.digest], handedOverSince: Date()) == nil)
        #expect(try store.sweep(keeping: [], unusedSince: .distantFuture, handedOverSince: .distantFuture) == nil)
        #expect(store.contains(key))
        lock.end()
        #expect(try store.remove([key.digest], handedOverSince: Date())?.count == 1)
        #expect(!store.contains(key))
    }

    /// No outcome names it, and who has it in its line asks for it later.
    @Test func whatWasHandedToAReceiver_staysForADay_alsoWhereItIsAValueAsWell() throws {
        var store = try BlobStore(path: path)
        let value = try keep(1, in: &store)
        let input = try store.store(Data(repeating: 2, count: 1_000))
        let both = try keep(3, in: &store)
        #expect(try store.store(Data(repeating: 3, count: 1_000)) == both)
        let yesterday = Date(timeIntervalSinceNow: -86_400)
        #expect(try store.sweep(keeping: [], unusedSince: .distantFuture, handedOverSince: yesterday)?.count == 1)
        #expect(!store.contains(value) && store.contains(input) && store.contains(both))
        #expect(try store.remove([both.digest], handedOverSince: yesterday)?.count == 0)
        #expect(try store.remove([both.digest], handedOverSince: .distantFuture)?.count == 1)
        #expect(try BlobStore(path: path).contains(input))
    }
}
