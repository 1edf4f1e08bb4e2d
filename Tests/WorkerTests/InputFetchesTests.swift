import Executing
import Foundation
import Testing
import Wire

@testable import Worker

@Suite struct InputFetchesTests {
    private func bytes(_ number: Int) -> Data { Data("value \(number)".utf8) }
    private func digest(_ number: Int) -> BlobDigest { BlobDigest(hashing: bytes(number)) }
    private func unit(_ number: Int) -> UnitKey { UnitKey(unit: UInt64(number), attempt: 1) }

    private func begin(_ number: Int, for unit: UnitKey, _ fetches: inout InputFetches) -> [WireBlobRequest] {
        let reference = WireBlobReference(digest: digest(number), size: UInt64(bytes(number).count))
        return fetches.begin(reference, digest: digest(number), for: unit)
    }

    private func give(_ number: Int, _ fetches: inout InputFetches) -> [InputFetches.Step] {
        let chunk = WireBlobChunk.with {
            $0.digest = Data(digest(number).bytes)
            $0.size = UInt64(bytes(number).count)
        }
        return fetches.receive(chunk, Buffer(bytes(number)))
    }

    private func digests(_ requests: [WireBlobRequest]) -> Set<Data> { Set(requests.map(\.digest)) }
    private func digests(_ numbers: some Sequence<Int>) -> Set<Data> { Set(numbers.map { Data(digest($0).bytes) }) }

    /// `#expect` cannot call what mutates; this takes its result.
    private func expect(_ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(holds, sourceLocation: sourceLocation)
    }

    @Test func fewAreOnTheirWay_theOthersFollowInOrder() {
        var fetches = InputFetches(directory: FileManager.default.temporaryDirectory.path)
        let all = 0..<(InputFetches.activeMax * 3)
        let asked = all.map { begin($0, for: unit($0), &fetches) }
        #expect(asked.map(\.count) == all.map { $0 < InputFetches.activeMax ? 1 : 0 })
        var next = InputFetches.activeMax
        for number in all {
            let steps = give(number, &fetches)
            if next < all.count {
                guard case .ask(let requests)? = steps.first else {
                    Issue.record("nothing was asked for after \(number)")
                    return
                }
                #expect(digests(requests) == digests([next]))
                next += 1
            }
            guard case .arrived(digest(number), bytes(number), [unit(number)])? = steps.last else {
                Issue.record("\(number) did not arrive")
                return
            }
        }
        #expect(fetches.resume().isEmpty)
    }

    @Test func newConnection_asksOnlyForWhatWasOnItsWay() {
        var fetches = InputFetches(directory: FileManager.default.temporaryDirectory.path)
        for number in 0..<100 { _ = begin(number, for: unit(number), &fetches) }
        #expect(digests(fetches.resume()) == digests(0..<InputFetches.activeMax))
        _ = give(3, &fetches)
        #expect(digests(fetches.resume()) == digests([0, 1, 2] + Array(4...InputFetches.activeMax)))
    }

    @Test func whatNobodyWaitsFor_makesRoom_alsoInTheQueue() {
        var fetches = InputFetches(directory: FileManager.default.temporaryDirectory.path)
        let max = InputFetches.activeMax
        for number in 0..<(max + 3) { _ = begin(number, for: unit(number), &fetches) }
        // Another unit wants the second one too.
        expect(begin(1, for: unit(1000), &fetches).isEmpty)
        var requests = fetches.cancel(unit(max))
        #expect(requests.isEmpty)
        requests = fetches.cancel(unit(1))
        #expect(requests.isEmpty)
        requests = fetches.cancel(unit(0))
        #expect(digests(requests) == digests([max + 1]))
        requests = fetches.cancel(unit(1000))
        #expect(digests(requests) == digests([max + 2]))
        #expect(!fetches.isAwaited(by: unit(1)) && fetches.isAwaited(by: unit(2)))
    }

    @Test func unit_waitsUntilItsLastValueIsThere() {
        var fetches = InputFetches(directory: FileManager.default.temporaryDirectory.path)
        for number in 0..<3 { _ = begin(number, for: unit(7), &fetches) }
        // Once more: it waits already.
        expect(begin(0, for: unit(7), &fetches).isEmpty)
        for number in 0..<3 {
            #expect(fetches.isAwaited(by: unit(7)))
            _ = give(number, &fetches)
        }
        #expect(!fetches.isAwaited(by: unit(7)))
    }

    @Test func valueUsedTwiceByAUnit_isReleasedAtOnce() {
        var shelf = BlobShelf(idleBytesMax: 0)
        shelf.put(bytes(1), digest: digest(1), for: unit(1))
        expect(shelf.use(digest(1), for: unit(1)) && shelf.use(digest(1), for: unit(2)))
        shelf.put(bytes(1), digest: digest(1), for: unit(2))
        shelf.release(unit(1))
        #expect(shelf.bytes(digest(1)) == bytes(1))
        shelf.release(unit(2))
        #expect(shelf.bytes(digest(1)) == nil)
    }

    /// Whoever receives a value is mostly begun a moment after it was made, where it was made.
    @Test func valuesThatNobodyNeeds_areKeptForAWhile_theFirstGoesFirst() {
        let size = 1_000
        var shelf = BlobShelf(idleBytesMax: 3 * size)
        let values = (0..<5).map { Data(repeating: UInt8($0), count: size) }
        for (number, value) in values.enumerated() {
            shelf.put(value, digest: BlobDigest(hashing: value), for: unit(number))
            shelf.release(unit(number))
            // The first one is needed again and again.
            let isThere = shelf.use(BlobDigest(hashing: values[0]), for: unit(100))
            #expect(isThere)
            if number < 3 { shelf.release(unit(100)) }
        }
        #expect(values.map { shelf.bytes(BlobDigest(hashing: $0)) != nil } == [true, false, true, true, true])
        shelf.release(unit(100))
        #expect(values.map { shelf.bytes(BlobDigest(hashing: $0)) != nil } == [true, false, false, true, true])
        // Places that mean nothing any more do not pile up, and change nothing.
        for round in 0..<1_000 {
            let isThere = shelf.use(BlobDigest(hashing: values[3]), for: unit(round))
            #expect(isThere)
            shelf.release(unit(round))
        }
        #expect(values.map { shelf.bytes(BlobDigest(hashing: $0)) != nil } == [true, false, false, true, true])
    }

    @Test func largeValue_goesWithItsLastUser() {
        var shelf = BlobShelf()
        let value = Data(count: BlobShelf.idleValueBytesMax + 1)
        shelf.put(value, digest: BlobDigest(hashing: value), for: unit(1))
        shelf.release(unit(1))
        #expect(shelf.bytes(BlobDigest(hashing: value)) == nil)
    }

    // MARK: Too large for memory

    private static let large = Data((0..<(Limits.outputMemoryBytes * 2 + 777)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private static let largeDigest = BlobDigest(hashing: large)
    private static let largeReference = WireBlobReference(digest: largeDigest, size: UInt64(large.count))

    /// Answers all that is asked for, as the coordinator and the desk do.
    /// - Returns: where the value is to be when all of it came.
    private func giveLarge(_ requests: [WireBlobRequest], _ fetches: inout InputFetches) -> SpilledValue? {
        var open = requests
        while !open.isEmpty {
            let request = open.removeFirst()
            guard let range = request.range(inValueOf: Self.large.count) else { return nil }
            let chunk = WireBlobChunk.with {
                $0.digest = request.digest
                $0.offset = request.offset
                $0.size = UInt64(Self.large.count)
            }
            for step in fetches.receive(chunk, Buffer(Self.large.subdata(in: range))) {
                switch step {
                case .write(let file, let bytes): file.append(bytes.data)
                case .askWhenWritten(_, let requests): open += requests
                case .store(Self.largeDigest, let file): return file
                case .ask, .store, .arrived, .failed: return nil
                }
            }
        }
        return nil
    }

    @Test func largeValue_goesToAFile_andIsThereWhenItIsWritten() async throws {
        var fetches = InputFetches(directory: FileManager.default.temporaryDirectory.path)
        let requests = fetches.begin(Self.largeReference, digest: Self.largeDigest, for: unit(1))
        let given = giveLarge(requests, &fetches)
        let file = try #require(given)
        // Another unit comes while it is written, and the connection is made anew: nothing is asked for again.
        expect(fetches.begin(Self.largeReference, digest: Self.largeDigest, for: unit(2)).isEmpty)
        #expect(fetches.resume().isEmpty)
        #expect(fetches.isAwaited(by: unit(1)))
        let bytes = try await file.read { $0 }
        let steps = fetches.stored(Self.largeDigest, .success(bytes))
        guard case .arrived(Self.largeDigest, let arrived, [unit(1), unit(2)])? = steps.first else {
            Issue.record("it did not arrive")
            return
        }
        #expect(arrived == Self.large)
        #expect(!fetches.isAwaited(by: unit(1)) && !fetches.isAwaited(by: unit(2)))
    }

    @Test func largeValueThatTheDiskDoesNotTake_failsWhoWaitsForIt() throws {
        var fetches = InputFetches(directory: FileManager.default.temporaryDirectory.path)
        let requests = fetches.begin(Self.largeReference, digest: Self.largeDigest, for: unit(1))
        let given = giveLarge(requests, &fetches)
        expect(given != nil)
        let steps = fetches.stored(Self.largeDigest, .failure(SystemCallError(operation: "write", errno: ENOSPC)))
        guard case .failed(let reason, [unit(1)])? = steps.first else {
            Issue.record("it did not fail")
            return
        }
        #expect(reason == "a received value cannot be kept: write failed: No space left on device")
        #expect(!fetches.isAwaited(by: unit(1)))
    }

    @Test func largeValueThatNobodyWaitsForAnyMore_isDropped() throws {
        var fetches = InputFetches(directory: FileManager.default.temporaryDirectory.path)
        let requests = fetches.begin(Self.largeReference, digest: Self.largeDigest, for: unit(1))
        let given = giveLarge(requests, &fetches)
        expect(given != nil)
        expect(fetches.cancel(unit(1)).isEmpty)
        let steps = fetches.stored(Self.largeDigest, .success(Self.large))
        #expect(steps.isEmpty)
    }
}
