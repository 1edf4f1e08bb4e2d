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
        var fetches = InputFetches()
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
        var fetches = InputFetches()
        for number in 0..<100 { _ = begin(number, for: unit(number), &fetches) }
        #expect(digests(fetches.resume()) == digests(0..<InputFetches.activeMax))
        _ = give(3, &fetches)
        #expect(digests(fetches.resume()) == digests([0, 1, 2] + Array(4...InputFetches.activeMax)))
    }

    @Test func whatNobodyWaitsFor_makesRoom_alsoInTheQueue() {
        var fetches = InputFetches()
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
        var fetches = InputFetches()
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
        var shelf = BlobShelf()
        shelf.put(bytes(1), digest: digest(1), for: unit(1))
        expect(shelf.use(digest(1), for: unit(1)) && shelf.use(digest(1), for: unit(2)))
        shelf.put(bytes(1), digest: digest(1), for: unit(2))
        shelf.release(unit(1))
        #expect(shelf.bytes(digest(1)) == bytes(1))
        shelf.release(unit(2))
        #expect(shelf.bytes(digest(1)) == nil)
    }
}
